"""AWS Signature Version 2, which old clients send: HMAC-SHA-1 over less of the request, and not over its body."""

from __future__ import annotations

import base64
import hmac
import re
from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec

from headwater.auth.signatures.errors import (
    AuthorizationHeaderMalformed,
    AuthorizationQueryParametersError,
    InvalidToken,
    NotSigned,
    RequestExpired,
)
from headwater.auth.signatures.limits import MAX_AUTHORIZATION, MAX_EXPIRES
from headwater.auth.signatures.payload import UNSIGNED, Payload
from headwater.auth.signatures.request import SignedRequest, parameters, plain
from headwater.auth.signatures.times import basic, check_skew, parse_any

COVERED: Final = frozenset(
    {
        "accelerate",
        "acl",
        "analytics",
        "cors",
        "defaultObjectAcl",
        "delete",
        "encryption",
        "intelligent-tiering",
        "inventory",
        "legal-hold",
        "lifecycle",
        "location",
        "logging",
        "metrics",
        "notification",
        "object-lock",
        "ownershipControls",
        "partNumber",
        "policy",
        "policyStatus",
        "publicAccessBlock",
        "replication",
        "requestPayment",
        "response-cache-control",
        "response-content-disposition",
        "response-content-encoding",
        "response-content-language",
        "response-content-type",
        "response-expires",
        "restore",
        "retention",
        "select",
        "select-type",
        "storageClass",
        "tagging",
        "torrent",
        "uploadId",
        "uploads",
        "versionId",
        "versioning",
        "versions",
        "website",
    }
)
"""Parameters that the signature covers. Others say what is listed, and never what is written."""

_EXPIRES = re.compile(r"[0-9]{1,12}", re.ASCII)


class Claim(msgspec.Struct, frozen=True):
    """What a request says of its signature. *date* is what stands in its place when it is signed."""

    access_key_id: str
    signature: str
    date: str
    signed_at: int | None = None
    expires: int | None = None
    """Of a presigned one: seconds since 1970."""

    @property
    def payload(self) -> Payload:
        return Payload(UNSIGNED)

    def check_time(self, now: float) -> None:
        """Raise unless it may be answered at *now*, in seconds since 1970."""
        if self.signed_at is not None:
            check_skew(self.signed_at, now)
        if self.expires is None:
            return
        if now > self.expires:
            raise RequestExpired(f"Request has expired: it was good until {basic(self.expires)}")
        if self.expires - now > MAX_EXPIRES:
            raise AuthorizationQueryParametersError(f"Expires is more than {MAX_EXPIRES} seconds, a week, from now")


def read(request: SignedRequest) -> Claim:
    """What a request that is signed so claims, in its header or else its query. Raises if it cannot be read."""
    if "x-amz-security-token" in request.headers:
        raise InvalidToken("the request has a session token: use a key without one")
    return _read_header(request) if "authorization" in request.headers else _read_query(request)


def matches(claim: Claim, request: SignedRequest, secret: str) -> bool:
    """Whether the signature is by *secret*, over this request. In the same time wherever they differ."""
    expected = hmac.digest(secret.encode(), string_to_sign(claim, request).encode("latin-1", "replace"), "sha1")
    return hmac.compare_digest(base64.b64encode(expected), claim.signature.encode(errors="replace"))


def string_to_sign(claim: Claim, request: SignedRequest) -> str:
    headers = request.headers
    amz = sorted((name, value) for name, value in headers.items() if name.startswith("x-amz-"))
    return "\n".join(
        [
            request.method,
            headers.get("content-md5", "").strip(),
            headers.get("content-type", "").strip(),
            claim.date,
            *(f"{name}:{value.strip()}" for name, value in amz),
            _resource(request),
        ]
    )


def _resource(request: SignedRequest) -> str:
    path = (f"/{request.bucket}" if request.bucket else "") + (request.path or "/")
    found = [_parameter(piece) for piece in request.query.split("&")]
    covered = sorted(each for each in found if each[0] in COVERED)
    return path + ("?" + "&".join(text for _, text in covered) if covered else "")


def _parameter(piece: str) -> tuple[str, str]:
    """The name of a parameter, and what is signed of it: its value is decoded."""
    name, equals, value = piece.partition("=")
    return plain(name), plain(name) + equals + unquote_to_bytes(value.replace("+", " ")).decode("latin-1")


def _read_header(request: SignedRequest) -> Claim:
    authorization = request.headers["authorization"]
    access_key_id, colon, signature = authorization.removeprefix("AWS ").strip().rpartition(":")
    if not colon or not access_key_id or not signature or len(authorization) > MAX_AUTHORIZATION:
        raise AuthorizationHeaderMalformed("the Authorization header must read AWS <access key id>:<signature>")
    date = request.headers.get("x-amz-date") or request.headers.get("date")
    signed_at = None if date is None else parse_any(date)
    if signed_at is None:
        raise NotSigned("a signed request needs a valid Date or x-amz-date header")
    stands = "" if "x-amz-date" in request.headers else request.headers.get("date", "")
    return Claim(access_key_id, signature, stands, signed_at=signed_at)


def _read_query(request: SignedRequest) -> Claim:
    found: dict[str, str] = {}
    for name, value in parameters(request.query):
        if name in found and name in ("AWSAccessKeyId", "Signature", "Expires"):
            raise AuthorizationQueryParametersError(f"{name} is given twice")
        found[name] = plain(value)
    missing = [name for name in ("AWSAccessKeyId", "Signature", "Expires") if not found.get(name)]
    if missing:
        raise AuthorizationQueryParametersError(f"a presigned request needs {', '.join(missing)} as well")
    if _EXPIRES.fullmatch(found["Expires"]) is None:
        raise AuthorizationQueryParametersError(
            f"Expires is {found['Expires'][:40]!r}: it must be in seconds since 1970"
        )
    return Claim(found["AWSAccessKeyId"], found["Signature"], found["Expires"], expires=int(found["Expires"]))
