"""The bytes of an upload, as they arrive: signature, length and checksums checked on the way, little held in memory."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import AsyncIterator

from headwater.blob import Body
from headwater.engine.write import StoredBytes
from headwater.server.s3.call import Call
from headwater.server.s3.checksums import Algorithm, Checksum, Expected, digest_of, expected
from headwater.server.s3.errors import S3Error
from headwater.server.s3.limits import GATHERED, MAX_DOCUMENT
from headwater.server.s3.xml import Node, parse


class Upload:
    """The body of *call* on its way into the store. *computed* is a checksum that is wanted if the client has none."""

    def __init__(self, call: Call, *, computed: Algorithm | None = None) -> None:
        self._call = call
        self._content_md5 = _content_md5(call.header("content-md5"))
        found = expected(call.request)
        if found is None and computed is not None:
            found = Expected(computed, None)
        self._expected = found
        self._digest = None if found is None else digest_of(found.algorithm)
        self._length = _length(call)
        self.algorithm = None if found is None else found.algorithm
        self.checksum: Checksum | None = None
        """The checksum, once all bytes have passed."""

    async def body(self) -> Body:
        """The bytes: all of them, if they are few, else as a stream."""
        if self._length <= GATHERED:
            return b"".join([content async for content in self._content()])
        return self._content()

    def check(self, stored: StoredBytes) -> None:
        """Raise unless what was *stored* is what was announced."""
        if self._content_md5 is not None and self._content_md5 != stored.md5:
            raise S3Error("BadDigest", f"the MD5 of the body is {stored.md5}, and Content-MD5 says {self._content_md5}")

    async def _content(self) -> AsyncIterator[bytes]:
        body = self._call.signed.body()
        digest = self._digest
        size = 0
        async for piece in self._call.request.stream():
            for content in body.feed(piece):
                size += len(content)
                if digest is not None:
                    digest.update(content)
                yield content
        trailers = body.finish()
        if size != self._length:
            raise S3Error("IncompleteBody", f"the body has {size} bytes, and {self._length} were announced")
        if self._expected is not None and digest is not None:
            self.checksum = self._expected.check(digest, trailers)


def _length(call: Call) -> int:
    """How many bytes of content are to come."""
    chunks = call.signed.payload.chunks
    length = call.request.content_length if chunks is None else chunks.length
    if length is None:
        raise S3Error("MissingContentLength", "say in Content-Length how long the body is")
    most = call.services.settings.max_upload
    if length > most:
        raise S3Error(
            "EntityTooLarge",
            f"the object has {length} bytes; {most} at most",
            ProposedSize=str(length),
            MaxSizeAllowed=str(most),
        )
    return length


def _content_md5(header: str | None) -> str | None:
    if header is None:
        return None
    try:
        found = base64.b64decode(header, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != 16:
        raise S3Error("InvalidDigest", f"Content-MD5 is {header[:100]!r}: it must be an MD5 in base64")
    return found.hex()


async def checked_document(call: Call, root: str) -> Node:
    """The body as an XML document, compared with the checksums that the request has of it."""
    content = await call.content(MAX_DOCUMENT)
    told, wanted = _content_md5(call.header("content-md5")), expected(call.request)
    if told is not None and told != (found := hashlib.md5(content, usedforsecurity=False).hexdigest()):
        raise S3Error("BadDigest", f"the MD5 of the body is {found}, and Content-MD5 says {told}")
    if wanted is not None:
        digest = digest_of(wanted.algorithm)
        digest.update(content)
        wanted.check(digest, {})
    return parse(content, root)
