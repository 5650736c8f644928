"""One request as the operations see it: who makes it, and what it is about."""

from __future__ import annotations

from headwater.auth import resources
from headwater.auth.signatures import Signed
from headwater.engine.repository import Repository
from headwater.server.access import Caller
from headwater.server.http import Request
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import Target, locate
from headwater.server.s3.limits import MAX_DOCUMENT
from headwater.server.s3.places import Place, place_of
from headwater.server.s3.xml import Node, parse
from headwater.server.services import Services


class Call:
    """A verified request."""

    __slots__ = ("caller", "request", "services", "signed", "target")

    def __init__(self, services: Services, request: Request, target: Target, signed: Signed, caller: Caller) -> None:
        self.services = services
        self.request = request
        self.target = target
        self.signed = signed
        self.caller = caller

    def header(self, name: str) -> str | None:
        return self.request.header(name)

    def query(self, name: str) -> str | None:
        """The parameter *name*, decoded. What is no text is refused, rather than looked for where only text can be."""
        found = self.request.query.get(name)
        if found is not None and not found.isascii() and not is_text(found):
            raise S3Error("InvalidURI", f"{name}: it is no text in UTF-8")
        return found

    async def repository(self) -> Repository:
        """The repository that the bucket is, or `RepositoryNotFound`."""
        return await self.services.repositories.get(self.target.bucket)

    def place(self, repository: Repository) -> tuple[Place, str]:
        """Where the key leads, and the path there; `NoSuchKey` for a key that has none."""
        return self.place_of(repository, self.target.key)

    def place_of(self, repository: Repository, key: str) -> tuple[Place, str]:
        located = locate(key)
        if not located.path:
            raise S3Error(
                "NoSuchKey", f"{key[:300]!r} names no object: a key is a reference, a slash and a path", Key=key
            )
        return place_of(self.services, repository, located.first), located.path

    def require(self, action: str, *, key: str | None = None) -> None:
        """Raise unless the caller may do *action* on the object *key*, or, without one, on the repository."""
        bucket = self.target.bucket
        self.require_of(bucket, action, key)

    def require_of(self, bucket: str, action: str, key: str | None) -> None:
        if key is None:
            self.caller.require(action, resources.repository(bucket))
        else:
            self.caller.require(action, resources.object_in(bucket, locate(key).path or ""))

    async def content(self, limit: int) -> bytes:
        """All of a body that is short, with its signature checked."""
        body = self.signed.body()
        pieces: list[bytes] = []
        size = 0
        async for piece in self.request.stream():
            for content in body.feed(piece):
                size += len(content)
                if size > limit:
                    raise S3Error("MaxMessageLengthExceeded", f"the body has more than {limit} bytes")
                pieces.append(content)
        body.finish()
        return b"".join(pieces)

    async def document(self, root: str) -> Node:
        """The body as an XML document."""
        return parse(await self.content(MAX_DOCUMENT), root)


def number(text: str | None, name: str, *, default: int, most: int) -> int:
    """A number in the query. What is none, or is negative, is refused as S3 does."""
    if not text:
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) > 2147483647:
        raise S3Error(
            "InvalidArgument", f"{name}: it must be a number from 0 on", ArgumentName=name, ArgumentValue=text[:100]
        )
    return min(int(text), most)


def is_text(value: str) -> bool:
    """Whether *value* is text, and not bytes that were no UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
