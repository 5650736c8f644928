"""Uploads in parts on S3 and its kin.

The client for everything else signs no URL of a part, so these are signed here, with its vendor's own library. Every
request is such a URL: where it leads, and in which region, is read from one that the client signs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape, unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
import obstore
from obstore.store import S3Store

from headwater.blob.errors import (
    BlobError,
    BlobUnavailable,
    NotFound,
    NotSupported,
    OutcomeUnknown,
    PermissionDenied,
    RejectedParts,
    SlowDown,
)
from headwater.blob.multipart import Part

if TYPE_CHECKING:
    import httpx

_UPLOAD = re.compile(r"<UploadId>([^<]{1,1024})</UploadId>")
_ETAG = re.compile(r"<ETag>([^<]{1,256})</ETag>")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_SHORT = 300
"""Seconds for which the URLs of our own requests are good."""

_PATIENCE = 60.0
_CONNECT = 5.0
"""Seconds that a store has for an answer, and to be connected to."""

_MEANINGS: Mapping[str, type[BlobError]] = {
    "NoSuchUpload": NotFound,
    "NoSuchKey": NotFound,
    "InvalidPart": RejectedParts,
    "InvalidPartOrder": RejectedParts,
    "InvalidRange": RejectedParts,
    "EntityTooSmall": RejectedParts,
    "EntityTooLarge": RejectedParts,
    "MalformedXML": RejectedParts,
    "SlowDown": SlowDown,
}


class _Place(msgspec.Struct, frozen=True):
    """Where an object is: the server, the path with its escapes, and the region that requests are signed for."""

    server: str
    host: str
    path: str
    region: str


class S3Multipart:
    """The uploads in parts of a bucket, whose names all begin with *prefix*.

    *login* is what the client was given; without it, credentials come from the provider's standard chain, as the
    client's own do.
    """

    def __init__(self, store: S3Store, prefix: str, login: Mapping[str, str]) -> None:
        self._store = store
        self._prefix = prefix
        self._login = login
        self._credentials: Any = None

    async def create(self, name: str, content_type: str | None = None) -> str:
        """See `Multipart`."""
        headers = {"content-type": content_type} if content_type else {}
        answer = await self._request("POST", name, "uploads=", headers=headers)
        found = _UPLOAD.search(answer.text)
        if found is None:
            raise BlobError(f"{name!r}: the store began an upload and did not say which")
        return unescape(found[1])

    async def part_urls(self, name: str, upload: str, numbers: Sequence[int], seconds: int) -> list[str]:
        """See `Multipart`."""
        place = await self._place(name)
        return [await self._signed(place, "PUT", _of_part(upload, number), seconds, {}) for number in numbers]

    async def copy_part(self, name: str, upload: str, number: int, source: str, *, start: int, end: int) -> str:
        """See `Multipart`."""
        bucket = self._store.config["bucket"]
        signed = {
            "x-amz-copy-source": quote(f"/{bucket}/{self._prefix}{source}"),
            "x-amz-copy-source-range": f"bytes={start}-{end - 1}",
        }
        answer = await self._request("PUT", name, _of_part(upload, number), signed=signed)
        found = _ETAG.search(answer.text)
        if found is None:
            raise BlobError(f"{name!r}: the store copied a part and did not say its etag")
        return unescape(found[1])

    async def complete(self, name: str, upload: str, parts: Sequence[Part]) -> None:
        """See `Multipart`."""
        told = "".join(
            f"<Part><PartNumber>{part.number}</PartNumber><ETag>{escape(part.etag)}</ETag></Part>" for part in parts
        )
        body = f"<CompleteMultipartUpload>{told}</CompleteMultipartUpload>".encode()
        await self._request("POST", name, f"uploadId={quote(upload, safe='')}", body=body)

    async def abort(self, name: str, upload: str) -> None:
        """See `Multipart`."""
        await self._request("DELETE", name, f"uploadId={quote(upload, safe='')}")

    async def _request(
        self,
        method: str,
        name: str,
        query: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        signed: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        import httpx  # noqa: PLC0415  (whoever opens a lake elsewhere should not wait for it)

        url = await self._signed(await self._place(name), method, query, _SHORT, signed or {})
        try:
            async with httpx.AsyncClient(timeout=httpx.Timeout(_PATIENCE, connect=_CONNECT)) as client:
                answer = await client.request(method, url, content=body, headers={**(headers or {}), **(signed or {})})
        except httpx.ConnectError as error:
            raise BlobUnavailable(f"{method} {name!r}: {type(error).__name__}") from None
        except httpx.HTTPError as error:  # its text has the URL, which is a secret
            raise OutcomeUnknown(f"{method} {name!r}: {type(error).__name__}: it may have been applied") from None
        _check(method, name, answer)
        return answer

    async def _signed(self, place: _Place, method: str, query: str, seconds: int, headers: Mapping[str, str]) -> str:
        auth, http = _vendor()
        if self._credentials is None:
            self._credentials = _credentials(auth, self._login)
        request = http.HttpRequest(method, f"{place.path}?{query}", http.HttpHeaders([("host", place.host)]))
        for header, value in headers.items():
            request.headers.add(header, value)
        configuration = auth.AwsSigningConfig(
            signature_type=auth.AwsSignatureType.HTTP_REQUEST_QUERY_PARAMS,
            credentials_provider=self._credentials,
            region=place.region,
            service="s3",
            date=datetime.now(UTC),
            use_double_uri_encode=False,
            should_normalize_uri_path=False,
            signed_body_value=auth.AwsSignedBodyValue.UNSIGNED_PAYLOAD,
            expiration_in_seconds=seconds,
        )
        try:
            signed = await asyncio.wrap_future(auth.aws_sign_request(request, configuration))
        except Exception as error:  # noqa: BLE001  (the library has no root of its own; what it says is no secret)
            raise PermissionDenied(f"{place.path!r}: no URL can be signed: {type(error).__name__}: {error}") from None
        return f"{place.server}{signed.path}"

    async def _place(self, name: str) -> _Place:
        """Where *name* is, of a URL that the client signs."""
        path = self._prefix + name
        url = await asyncio.to_thread(obstore.sign, self._store, "PUT", path, timedelta(seconds=_SHORT))
        parts = urlsplit(url)
        scope = parse_qs(parts.query)["X-Amz-Credential"][0].split("/")
        return _Place(f"{parts.scheme}://{parts.netloc}", parts.netloc, parts.path, scope[-3])


def _of_part(upload: str, number: int) -> str:
    return f"partNumber={number}&uploadId={quote(upload, safe='')}"


def _check(method: str, name: str, answer: httpx.Response) -> None:
    """Raise unless *answer* says that it was done. To complete an upload S3 may answer 200 and an error."""
    failed = answer.status_code >= 300 or (method == "POST" and "<Error>" in answer.text[:1000])
    if not failed:
        return
    code = found[1] if (found := _CODE.search(answer.text[:4000])) else ""
    told = f"{method} {name!r}: {answer.status_code} {code}".rstrip()
    meaning = _MEANINGS.get(code)
    if meaning is None:
        meaning = {403: PermissionDenied, 404: NotFound, 501: NotSupported, 429: SlowDown}.get(answer.status_code)
    if meaning is None:
        meaning = BlobUnavailable if answer.status_code >= 500 else RejectedParts
    raise meaning(told)


def _vendor() -> tuple[Any, Any]:
    try:
        from awscrt import auth, http  # noqa: PLC0415  (only who has parts sent by others needs it)
    except ImportError:
        raise NotSupported("uploads in parts that clients send take the package awscrt: install it") from None
    return auth, http


def _credentials(auth: Any, login: Mapping[str, str]) -> Any:
    if not login:
        return auth.AwsCredentialsProvider.new_default_chain()
    return auth.AwsCredentialsProvider.new_static(
        login["access_key_id"], login["secret_access_key"], login.get("session_token")
    )
