"""Uploads in parts on S3 and its kin, whose client signs no URL of a part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING
from urllib.parse import quote

from obstore.store import S3Store

from headwater.blob.errors import BlobError, NotFound, RejectedParts, SlowDown
from headwater.blob.multipart import Part
from headwater.blob.s3_requests import NOTHING, S3Requests, escaped

if TYPE_CHECKING:
    import httpx

_UPLOAD = re.compile(r"<UploadId>([^<]{1,1024})</UploadId>")
_ETAG = re.compile(r"<ETag>([^<]{1,256})</ETag>")

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


class S3Multipart:
    """The uploads in parts of a bucket, whose names all begin with *prefix*."""

    def __init__(self, store: S3Store, prefix: str, login: Mapping[str, str]) -> None:
        self._requests = S3Requests(store, login, _MEANINGS)
        self._prefix = prefix

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
        place = await self._requests.place_of(self._prefix + name)
        return [await self._requests.signed(place, "PUT", _of_part(upload, number), seconds) for number in numbers]

    async def copy_part(self, name: str, upload: str, number: int, source: str, *, start: int, end: int) -> str:
        """See `Multipart`."""
        signed = {
            "x-amz-copy-source": quote(f"/{self._requests.bucket}/{self._prefix}{source}"),
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
        await self._request("POST", name, f"uploadId={escaped(upload)}", body=body)

    async def abort(self, name: str, upload: str) -> None:
        """See `Multipart`."""
        await self._request("DELETE", name, f"uploadId={escaped(upload)}")

    async def _request(
        self,
        method: str,
        name: str,
        query: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] = NOTHING,
        signed: Mapping[str, str] = NOTHING,
    ) -> httpx.Response:
        place = await self._requests.place_of(self._prefix + name)
        return await self._requests.send(
            method, place, query, body=body, headers=headers, signed=signed, what=repr(name)
        )


def _of_part(upload: str, number: int) -> str:
    return f"partNumber={number}&uploadId={escaped(upload)}"
