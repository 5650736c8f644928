"""An object store that counts its requests, for budgets: the twin of `CountingStore`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from headwater.blob.limits import PAGE
from headwater.blob.store import BlobStore, Listed
from headwater.blob.surrounded import Request, Surrounded


class Requests(msgspec.Struct, kw_only=True, repr_omit_defaults=True):
    """How many requests of each kind. It shows only what is not zero, so a failed budget reads as it is written.

    Each page of a listing is one, and so is a bulk delete; a streamed put is one, whatever its parts.
    """

    put: int = 0
    get: int = 0
    stat: int = 0
    list: int = 0
    delete: int = 0
    copy: int = 0


class CountingBlobs(Surrounded):
    """Hands every call on to *inner* as it is, and counts it. A presigned URL is not a request."""

    def __init__(self, inner: BlobStore) -> None:
        super().__init__(inner)
        self._open: list[Requests] = []

    @contextmanager
    def counted(self) -> Iterator[Requests]:
        """Count while the block runs. Blocks may overlap."""
        counting = Requests()
        self._open.append(counting)
        try:
            yield counting
        finally:
            self._open = [other for other in self._open if other is not counting]

    @contextmanager
    def around(self, request: Request) -> Iterator[None]:
        self._count(request)
        yield

    async def list(
        self, prefix: str = "", *, start_after: str = "", delimiter: bool = False, page: int = PAGE
    ) -> AsyncIterator[Sequence[Listed]]:
        """The look that finds no further page is no request: the last page tells that it is."""
        self._count("list")
        first = True
        async for listed in self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page=page):
            if not first:
                self._count("list")
            first = False
            yield listed

    def _count(self, request: Request) -> None:
        for requests in self._open:
            setattr(requests, request, getattr(requests, request) + 1)
