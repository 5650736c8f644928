"""What can be read of a branch, a tag, a commit or an expression, with `await`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Literal, overload

import pyarrow as pa

from headwater.engine.errors import BadRequest, PathNotFound
from headwater.engine.merge import Appends
from headwater.sdk.aio.files import ReadFile
from headwater.sdk.describing import NO_METADATA, NO_PREFIXES, Behaviour, Strategy
from headwater.sdk.paging import Pages, gathered
from headwater.sdk.ports import Found, RepositoryPort
from headwater.sdk.results import (
    Child,
    Commit,
    Committish,
    CommonPrefix,
    Entry,
    Walked,
    expression_of,
    milliseconds_of,
)


class Ref:
    """What can be read of a branch, a tag, a commit or an expression."""

    def __init__(self, repository: RepositoryPort, expression: str) -> None:
        self.expression = expression
        self._repository = repository

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.expression} of {self._repository.name}>"

    async def head(self) -> Commit:
        """The commit that it means; of a branch, the last one."""
        return await self._repository.reading.commit(self.expression)

    async def get(self, path: str, *, start: int = 0, end: int | None = None) -> bytes:
        """The bytes at *path*, or those from *start* up to *end*; `PathNotFound` if there is nothing."""
        return await self._repository.reading.get(self.expression, path, start, end)

    async def stat(self, path: str) -> Entry:
        """What is at *path*, or `PathNotFound`."""
        return await self._repository.reading.stat(self.expression, path)

    async def exists(self, path: str) -> bool:
        try:
            await self.stat(path)
        except PathNotFound:
            return False
        return True

    async def reading(self, path: str) -> ReadFile:
        """The file at *path*, to be read piece by piece."""
        return ReadFile(await self._repository.reading.open(self.expression, path))

    def open(self, path: str, mode: Literal["rb"] = "rb") -> AbstractAsyncContextManager[ReadFile]:
        """`async with` a file to read. Files of this face are bytes."""
        if mode != "rb":
            raise BadRequest(f"mode {mode!r}: here, a file is opened with 'rb'; branches also take 'wb'")
        return self._opened(path)

    @overload
    def list(self, prefix: str = ..., *, after: str = ...) -> Pages[Entry]: ...
    @overload
    def list(self, prefix: str = ..., *, delimiter: str, after: str = ...) -> Pages[Entry | CommonPrefix]: ...
    def list(
        self, prefix: str = "", *, delimiter: str = "", after: str = ""
    ) -> Pages[Entry] | Pages[Entry | CommonPrefix]:
        """What is under *prefix*, in the order of paths; from behind *after*, if that is given.

        With *delimiter*, what has it after the prefix is rolled up into one `CommonPrefix`, at no cost by its size.
        """

        async def fetch(cursor: str) -> Found[Entry | CommonPrefix]:
            return await self._repository.reading.list(self.expression, prefix, delimiter, cursor or after)

        return Pages(fetch)

    def list_dir(self, path: str = "", *, totals: bool = False) -> Pages[Child]:
        """What is in the directory *path*, files and directories, in order; `PathNotFound` if there is none.

        With *totals*, a directory comes with the bytes and number of all files below it: that looks at all of them.
        """
        return Pages(partial(self._repository.files.list_dir, self.expression, path, totals=totals))

    def walk(self, path: str = "") -> Pages[Walked]:
        """The directory *path* and all below it, each before those in it, as `os.walk` does."""
        return gathered(self._repository.files.walk(self.expression, path), 1)

    def glob(self, pattern: str) -> Pages[Entry]:
        """The files whose paths match *pattern*: `*`, `?` and `[…]` within a name, `**` for any directories."""
        return gathered(self._repository.files.glob(self.expression, pattern))

    def history(self, path: str) -> Pages[Commit]:
        """The commits that changed *path*, newest first, along first parents.

        In an append repository it costs as many as there are; in one of objects it is a log that is filtered.
        """
        return Pages(partial(self._repository.files.history, self.expression, path))

    def log(
        self,
        *,
        paths: Sequence[str] = (),
        first_parents: bool = True,
        since: datetime | None = None,
        until: datetime | None = None,
        stop_at: Committish | None = None,
    ) -> Pages[Commit]:
        """The commits that led here, newest first.

        With *paths*, only those that changed something there; a path that ends in a slash means all below it. Merged
        histories are left out unless *first_parents* is false. It ends behind *stop_at*.
        """
        ask = partial(
            self._repository.reading.log,
            self.expression,
            paths=paths,
            first_parents=first_parents,
            since=None if since is None else milliseconds_of(since),
            until=None if until is None else milliseconds_of(until),
            stop_at=None if stop_at is None else expression_of(stop_at),
        )
        return Pages(ask)

    async def as_arrow(self, prefix: str = "") -> pa.Table:
        """The listing of all that is under *prefix* as an Arrow table: for what asks about very many entries."""
        return await self._repository.reading.as_arrow(self.expression, prefix)

    async def merge_into(
        self,
        destination: Committish,
        message: str | None = None,
        *,
        strategy: Strategy = "report",
        squash: bool = False,
        prefixes: Mapping[str, Behaviour] = NO_PREFIXES,
        merge_appends: Appends = "conflict",
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Commit:
        """Bring what was committed here to the branch *destination*, in one commit there.

        `MergeConflict` if both changed a path to different content, unless *strategy* says who wins. *prefixes* say for
        paths below them to take this side's changes whatever the other did (`force`), or none of them (`drop`). A file
        that both appended to is with *merge_appends* `ours-then-theirs` what the destination has, then what this adds.
        """
        return await self._repository.committing.merge(
            self.expression,
            expression_of(destination),
            message or f"Merge {self.expression!r}",
            strategy=strategy,
            squash=squash,
            prefixes=prefixes,
            appends=merge_appends,
            metadata=metadata,
        )

    @asynccontextmanager
    async def _opened(self, path: str) -> AsyncIterator[ReadFile]:
        async with await self.reading(path) as file:
            yield file
