"""Requests as the AWS SDK signs them, and bodies in chunks as AWS describes them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from botocore.auth import BaseSigner, HmacV1Auth, HmacV1QueryAuth, S3SigV4Auth, S3SigV4QueryAuth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]

from headwater.auth import CredentialWithSecret
from headwater.auth.signatures import SignedRequest, headers_of

HOST = "lake.example.com:8000"


def signer(kind: str, credential: CredentialWithSecret, *, expires: int = 3600) -> BaseSigner:
    known = Credentials(credential.access_key_id, credential.secret_access_key)
    match kind:
        case "header":
            return S3SigV4Auth(known, "s3", "us-east-1")
        case "query":
            return S3SigV4QueryAuth(known, "s3", "us-east-1", expires=expires)
        case "header of version 2":
            return HmacV1Auth(known)
        case _:
            return HmacV1QueryAuth(known, expires=expires)


KINDS = ["header", "query", "header of version 2", "query of version 2"]


def signed(
    kind: str,
    credential: CredentialWithSecret,
    method: str = "GET",
    path: str = "/sales/main/a.csv",
    query: str = "",
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    expires: int = 3600,
) -> SignedRequest:
    """A request as it comes over the wire, signed by botocore."""
    url = f"http://{HOST}{path}{'?' + query if query else ''}"
    request = AWSRequest(method=method, url=url, headers=dict(headers or {}), data=body)
    request.context["client_config"] = None
    made: Any = signer(kind, credential, expires=expires)
    made.add_auth(request)
    prepared = request.prepare()
    parts = urlsplit(prepared.url)
    raw = [(_bytes(name).lower(), _bytes(value)) for name, value in prepared.headers.items()]
    return SignedRequest(method, parts.path, parts.query, headers_of([(b"host", HOST.encode()), *raw]))


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def but(request: SignedRequest, **changes: Any) -> SignedRequest:
    return msgspec.structs.replace(request, **changes)


def but_header(request: SignedRequest, name: str, value: str | None) -> SignedRequest:
    headers = {other: text for other, text in request.headers.items() if other != name}
    return but(request, headers=headers if value is None else {**headers, name: value})


class ChunkSigner:
    """What a client does to sign chunks one after the other, from the signature of its request on."""

    def __init__(self, secret: str, time: str, region: str, seed: str) -> None:
        key = b"AWS4" + secret.encode()
        for part in (time[:8], region, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        self._key = key
        self._head = f"{time}\n{time[:8]}/{region}/s3/aws4_request\n"
        self._previous = seed

    def chunk(self, content: bytes) -> bytes:
        nothing, something = hashlib.sha256().hexdigest(), hashlib.sha256(content).hexdigest()
        self._sign("AWS4-HMAC-SHA256-PAYLOAD", f"{nothing}\n{something}")
        line = f"{len(content):x};chunk-signature={self._previous}\r\n".encode()
        return line + (content + b"\r\n" if content else b"")

    def trailers(self, pairs: Sequence[tuple[str, str]]) -> bytes:
        text = "".join(f"{name}:{value}\n" for name, value in pairs)
        self._sign("AWS4-HMAC-SHA256-TRAILER", hashlib.sha256(text.encode()).hexdigest())
        return text.replace("\n", "\r\n").encode() + f"x-amz-trailer-signature:{self._previous}\r\n".encode()

    def _sign(self, kind: str, rest: str) -> None:
        text = f"{kind}\n{self._head}{self._previous}\n{rest}"
        self._previous = hmac.digest(self._key, text.encode(), "sha256").hex()


def pieces(body: bytes, sizes: Iterable[int]) -> Iterable[bytes]:
    """*body* cut into pieces of these sizes, and what is left."""
    start = 0
    for size in sizes:
        yield body[start : start + size]
        start += size
    yield body[start:]
