"""From a signed request to who signed it, and to what checks its body."""

from __future__ import annotations

import msgspec

from headwater.auth.login.attempts import Attempts
from headwater.auth.login.identity import Identity
from headwater.auth.login.keyring import Key, Keyring
from headwater.auth.signatures import v2, v4
from headwater.auth.signatures.bodies import Body, HashedBody, UncheckedBody
from headwater.auth.signatures.chunked import Chain, ChunkedBody
from headwater.auth.signatures.errors import (
    InvalidAccessKeyId,
    InvalidArgument,
    InvalidRequest,
    NotSigned,
    SignatureDoesNotMatch,
)
from headwater.auth.signatures.payload import Payload
from headwater.auth.signatures.request import SignedRequest
from headwater.auth.signatures.signing_keys import SigningKeys
from headwater.outside import Outside


class Signed(msgspec.Struct, frozen=True):
    """Who signed a request, and what the signature says of the body, which is still to come."""

    identity: Identity
    payload: Payload
    chain: Chain | None = None

    def body(self) -> Body:
        """What the body is to be fed to, once."""
        if self.payload.chunks is not None:
            return ChunkedBody(self.payload.chunks, self.chain)
        return HashedBody(self.payload.sha256) if self.payload.sha256 is not None else UncheckedBody()


class Signatures:
    """Verifies signatures of version 4 and 2, in headers and queries."""

    def __init__(self, keyring: Keyring, attempts: Attempts, outside: Outside) -> None:
        self._keyring = keyring
        self._attempts = attempts
        self._outside = outside
        self._signing_keys = SigningKeys()

    async def verify(self, request: SignedRequest, client: str) -> Signed:
        """Who signed *request*; else a `SignatureError`. No trip as a rule, one now and then.

        After too many wrong ones for an access key, `TooManyAttempts`. An unknown one is told from a wrong signature,
        because S3 does.
        """
        claim = read(request)
        claim.check_time(self._outside.now() / 1000)
        self._attempts.check_key(claim.access_key_id, client)
        key = await self._keyring.find(claim.access_key_id)
        if key is None:
            raise InvalidAccessKeyId(f"there is no access key {claim.access_key_id[:130]!r}")
        chain = self._check(claim, request, key, client)
        return Signed(key.identity, claim.payload, chain)

    def _check(self, claim: v4.Claim | v2.Claim, request: SignedRequest, key: Key, client: str) -> Chain | None:
        chain = None
        if isinstance(claim, v4.Claim):
            signing_key = self._signing_keys.of(key, claim.scope)
            right = v4.matches(claim, request, signing_key)
            if claim.payload.chunks is not None and claim.payload.chunks.signed:
                chain = Chain(signing_key, claim.time, str(claim.scope), claim.signature)
        else:
            right = v2.matches(claim, request, key.secret)
        if not right:
            self._attempts.wrong_key(claim.access_key_id, client)
            raise SignatureDoesNotMatch(
                "the signature is not that of this request by the secret of this access key: check both, and that "
                "nothing on the way changes the request"
            )
        self._attempts.right(claim.access_key_id, client)
        return chain


def is_signed(request: SignedRequest) -> bool:
    """Whether a request is signed as requests to S3 are, rightly or wrongly."""
    authorization = request.headers.get("authorization", "")
    return authorization.startswith(("AWS4-", "AWS ")) or _in_query(request)


def read(request: SignedRequest) -> v4.Claim | v2.Claim:
    """What the signature claims, whatever its version. Raises what S3 answers to one that cannot be read."""
    authorization = request.headers.get("authorization")
    if authorization is None:
        if not _in_query(request):
            raise NotSigned("the request is not signed: anonymous requests are not answered here")
        return v4.read(request) if _is_v4_query(request) else v2.read(request)
    if _in_query(request):
        raise InvalidArgument("Only one auth mechanism allowed: the request is signed in a header and in its query")
    if authorization.startswith(f"{v4.ALGORITHM} "):
        return v4.read(request)
    if authorization.startswith("AWS "):
        return v2.read(request)
    raise InvalidRequest(f"the request must be signed with {v4.ALGORITHM}")


def _in_query(request: SignedRequest) -> bool:
    return _is_v4_query(request) or any(piece.startswith("AWSAccessKeyId=") for piece in request.query.split("&"))


def _is_v4_query(request: SignedRequest) -> bool:
    return "X-Amz-" in request.query and any(
        piece.startswith(("X-Amz-Signature=", "X-Amz-Algorithm=", "X-Amz-Credential="))
        for piece in request.query.split("&")
    )
