"""AWS Signature Version 4, of headers and of presigned queries: read, and compared with what it should be.

`read` is what the request claims, before anyone knows whether it is true; `matches` is whether it is.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from headwater.auth.signatures.errors import (
    AuthorizationHeaderMalformed,
    AuthorizationQueryParametersError,
    HeadersNotSigned,
    InvalidRequest,
    InvalidToken,
    NotSigned,
    RequestExpired,
    SignatureError,
)
from headwater.auth.signatures.limits import MAX_AUTHORIZATION, MAX_EXPIRES, MAX_SIGNED_HEADERS, SKEW
from headwater.auth.signatures.payload import UNSIGNED, Payload, payload_of
from headwater.auth.signatures.request import SignedRequest, escaped_path, parameters, plain
from headwater.auth.signatures.signing_keys import Scope
from headwater.auth.signatures.times import basic, check_skew, parse_any, parse_basic

ALGORITHM: Final = "AWS4-HMAC-SHA256"

_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_EXPIRES = re.compile(r"[0-9]{1,9}", re.ASCII)
_SPACES = re.compile(r" +")
_QUERY: Final = ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders")

Malformed = Callable[[str], SignatureError]


class Claim(msgspec.Struct, frozen=True):
    """What a request says of its signature."""

    access_key_id: str
    scope: Scope
    time: str
    signed_at: int
    signed_headers: tuple[str, ...]
    signature: str
    payload: Payload
    presigned: bool = False
    expires: int | None = None
    """Of a presigned one: seconds from its time."""

    def check_time(self, now: float) -> None:
        """Raise unless it may be answered at *now*, in seconds since 1970."""
        if self.expires is None:
            check_skew(self.signed_at, now)
        elif now > self.signed_at + self.expires:
            raise RequestExpired(f"Request has expired: it was good until {basic(self.signed_at + self.expires)}")
        elif self.signed_at - now > SKEW:
            raise RequestExpired(f"Request is not valid yet: it is from {self.time}")


def read(request: SignedRequest) -> Claim:
    """What a request that is signed so claims, in its header or else its query. Raises if it cannot be read."""
    return _read_header(request) if "authorization" in request.headers else _read_query(request)


def matches(claim: Claim, request: SignedRequest, key: bytes) -> bool:
    """Whether the signature is by the signing key *key*, over this request. In the same time wherever they differ.

    Clients do not agree on how a path is escaped. Besides the one rule, the path as it was sent will do: whichever was
    signed, it says the same.
    """
    paths = dict.fromkeys((escaped_path(request.path), request.path))
    return any(
        hmac.compare_digest(sign(key, string_to_sign(claim, canonical(claim, request, path))), claim.signature)
        for path in paths
    )


def sign(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode("latin-1", "replace"), "sha256").hex()


def canonical(claim: Claim, request: SignedRequest, path: str) -> str:
    """All of the request that is signed, in the one way of writing it down."""
    query = [pair for pair in parameters(request.query) if not (claim.presigned and pair[0] == "X-Amz-Signature")]
    headers = [f"{name}:{_trimmed(request.headers.get(name, ''))}\n" for name in claim.signed_headers]
    return "\n".join(
        [
            request.method,
            path or "/",
            "&".join(f"{name}={value}" for name, value in sorted(query)),
            "".join(headers),
            ";".join(claim.signed_headers),
            claim.payload.text,
        ]
    )


def string_to_sign(claim: Claim, canonical: str) -> str:
    digest = hashlib.sha256(canonical.encode("latin-1", "replace")).hexdigest()
    return f"{ALGORITHM}\n{claim.time}\n{claim.scope}\n{digest}"


def _trimmed(value: str) -> str:
    return _SPACES.sub(" ", value.strip(" \t"))


def _read_header(request: SignedRequest) -> Claim:
    authorization = request.headers["authorization"]
    if len(authorization) > MAX_AUTHORIZATION:
        raise AuthorizationHeaderMalformed(f"the Authorization header has more than {MAX_AUTHORIZATION} characters")
    parts = [part.strip().partition("=") for part in authorization.removeprefix(ALGORITHM).split(",")]
    fields = {name: value for name, _, value in parts}
    if len(parts) != 3 or fields.keys() != {"Credential", "SignedHeaders", "Signature"}:
        raise AuthorizationHeaderMalformed(
            f"the Authorization header must read {ALGORITHM} Credential=…, SignedHeaders=…, Signature=…"
        )
    if "x-amz-security-token" in request.headers:
        raise InvalidToken("the request has a session token: use a key without one")
    access_key_id, scope = _read_credential(fields["Credential"], AuthorizationHeaderMalformed)
    signed_at = _read_time(request.headers)
    time = basic(signed_at)
    _check_scope(scope, time, AuthorizationHeaderMalformed)
    signed = _read_signed_headers(fields["SignedHeaders"], request.headers, AuthorizationHeaderMalformed)
    signature = _read_signature(fields["Signature"], AuthorizationHeaderMalformed)
    content = request.headers.get("x-amz-content-sha256")
    if content is None:
        raise InvalidRequest("the request lacks the header x-amz-content-sha256")
    return Claim(access_key_id, scope, time, signed_at, signed, signature, payload_of(content, request.headers))


def _read_query(request: SignedRequest) -> Claim:
    found: dict[str, str] = {}
    for name, value in parameters(request.query):
        if name in found and name.startswith("X-Amz-"):
            raise AuthorizationQueryParametersError(f"{name} is given twice")
        found[name] = plain(value)
    missing = [name for name in (*_QUERY, "X-Amz-Signature") if name not in found]
    if missing:
        raise AuthorizationQueryParametersError(f"a presigned request needs {', '.join(missing)} as well")
    if found["X-Amz-Algorithm"] != ALGORITHM:
        raise AuthorizationQueryParametersError(f"X-Amz-Algorithm must be {ALGORITHM}")
    if "X-Amz-Security-Token" in found or "x-amz-security-token" in request.headers:
        raise InvalidToken("the request has a session token: use a key without one")
    access_key_id, scope = _read_credential(found["X-Amz-Credential"], AuthorizationQueryParametersError)
    time = found["X-Amz-Date"]
    signed_at = parse_basic(time)
    if signed_at is None:
        raise AuthorizationQueryParametersError(f"X-Amz-Date is {time[:40]!r}: it must read like 20130524T000000Z")
    _check_scope(scope, time, AuthorizationQueryParametersError)
    signed = _read_signed_headers(found["X-Amz-SignedHeaders"], request.headers, AuthorizationQueryParametersError)
    signature = _read_signature(found["X-Amz-Signature"], AuthorizationQueryParametersError)
    content = found.get("X-Amz-Content-Sha256") or request.headers.get("x-amz-content-sha256") or UNSIGNED
    payload = payload_of(content, request.headers)
    expires = _read_expires(found["X-Amz-Expires"])
    return Claim(access_key_id, scope, time, signed_at, signed, signature, payload, presigned=True, expires=expires)


def _read_credential(text: str, malformed: Malformed) -> tuple[str, Scope]:
    """The access key id, which may hold anything but a `/`, and the scope."""
    parts = text.split("/")
    if len(parts) != 5 or not all(parts):
        raise malformed("the credential must read <access key id>/<date>/<region>/s3/aws4_request")
    access_key_id, date, region, service, end = parts
    if service != "s3" or end != "aws4_request":
        raise malformed(
            f"the credential is for {service[:40]!r} and ends with {end[:40]!r}: it must be s3/aws4_request"
        )
    return access_key_id, Scope(date, region, service)


def _check_scope(scope: Scope, time: str, malformed: Malformed) -> None:
    if scope.date != time[:8]:
        raise malformed(f"the credential is for the day {scope.date[:40]!r}, and the request is from {time}")


def _read_time(headers: Mapping[str, str]) -> int:
    text = headers.get("x-amz-date") or headers.get("date")
    seconds = None if text is None else parse_any(text)
    if seconds is None:
        raise NotSigned("a signed request needs a valid Date or x-amz-date header")
    return seconds


def _read_signed_headers(text: str, headers: Mapping[str, str], malformed: Malformed) -> tuple[str, ...]:
    """The names, among which must be the host and all that S3 gives a meaning to.

    The hash of the body is covered in its own place, signed as a header or not.
    """
    signed = tuple(text.split(";"))
    if len(signed) > MAX_SIGNED_HEADERS or list(signed) != sorted(set(signed)) or text != text.lower():
        raise malformed(f"the signed headers must be up to {MAX_SIGNED_HEADERS} lower-case names, sorted, each once")
    if "host" not in signed:
        raise malformed("the host must be among the signed headers")
    covered = {*signed, "x-amz-content-sha256"}
    unsigned = [name for name in headers if name.startswith("x-amz-") and name not in covered]
    if unsigned:
        raise HeadersNotSigned(
            f"There were headers present in the request which were not signed: {', '.join(unsigned)}"
        )
    return signed


def _read_signature(text: str, malformed: Malformed) -> str:
    if _SIGNATURE.fullmatch(text) is None:
        raise malformed("the signature must have 64 lower-case hex digits")
    return text


def _read_expires(text: str) -> int:
    if _EXPIRES.fullmatch(text) is None or not 1 <= int(text) <= MAX_EXPIRES:
        raise AuthorizationQueryParametersError(
            f"X-Amz-Expires is {text[:40]!r}: it must be a number of seconds from 1 to {MAX_EXPIRES}, which is a week"
        )
    return int(text)
