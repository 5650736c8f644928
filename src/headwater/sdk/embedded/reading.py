"""What can be read at any reference, over the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pyarrow as pa

from headwater import index
from headwater.engine import bulk, read
from headwater.engine.diff import Differences, diff, uncommitted
from headwater.engine.log import log
from headwater.engine.looking import commit_of as find_commit
from headwater.engine.repository import Repository
from headwater.history import between, is_first_parent_ancestor
from headwater.sdk.arrow import COLUMNS, listing
from headwater.sdk.limits import LOG_PAGE, PAGE
from headwater.sdk.ports import Found
from headwater.sdk.results import Change, Commit, CommonPrefix, Entry, change_of, commit_of, entry_of, listed_of


class Content:
    """A file as it was when it was opened."""

    def __init__(self, repository: Repository, found: index.Entry) -> None:
        self.entry = entry_of(found)
        self._repository = repository
        self._found = found

    async def read(self, start: int, end: int) -> bytes:
        return await _joined(read.content(self._repository, self._found, start=start, end=end))


class Reading:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    async def stat(self, ref: str, path: str) -> Entry:
        return entry_of(await read.stat(self._repository, ref, path))

    async def get(self, ref: str, path: str, start: int, end: int | None) -> bytes:
        return await _joined(await read.get(self._repository, ref, path, start=start, end=end))

    async def open(self, ref: str, path: str) -> Content:
        return Content(self._repository, await read.stat(self._repository, ref, path))

    async def list(self, ref: str, prefix: str, delimiter: str, after: str) -> Found[Entry | CommonPrefix]:
        page = await read.list_entries(
            self._repository, ref, prefix=prefix, delimiter=delimiter, after=after, amount=PAGE
        )
        found = [listed_of(item) for item in page]
        return found, found[-1].path if len(found) == PAGE else None

    async def as_arrow(self, ref: str, prefix: str) -> pa.Table:
        rows = [listing(batch) async for batch in bulk.batches(self._repository, ref, prefix=prefix)]
        return pa.Table.from_batches(rows, COLUMNS)

    async def commit(self, ref: str) -> Commit:
        return commit_of(await find_commit(self._repository, ref))

    async def log(
        self,
        ref: str,
        after: str,
        *,
        paths: Sequence[str],
        first_parents: bool,
        since: int | None,
        until: int | None,
        stop_at: str | None,
    ) -> Found[Commit]:
        page = await log(
            self._repository,
            ref,
            after=after,
            amount=LOG_PAGE,
            paths=paths,
            first_parents=first_parents,
            since=since,
            until=until,
            stop_at=stop_at,
        )
        return [commit_of(commit) for commit in page.commits], page.after

    async def is_ancestor(self, older: str, newer: str) -> bool:
        one = await find_commit(self._repository, older)
        other = await find_commit(self._repository, newer)
        return await is_first_parent_ancestor(self._repository.commits, one, other)

    async def between(self, older: str, newer: str) -> AsyncIterator[Commit]:
        one = await find_commit(self._repository, older)
        other = await find_commit(self._repository, newer)
        async for batch in between(self._repository.commits, one, other):
            for commit in batch:
                yield commit_of(commit)

    async def diff(
        self, left: str, right: str, prefix: str, delimiter: str, after: str, *, three_dot: bool
    ) -> Found[Change | CommonPrefix]:
        found = await diff(
            self._repository,
            left,
            right,
            three_dot=three_dot,
            prefix=prefix,
            delimiter=delimiter,
            after=after,
            amount=PAGE,
        )
        return _changes(found)

    async def uncommitted(self, branch: str, prefix: str, delimiter: str, after: str) -> Found[Change | CommonPrefix]:
        found = await uncommitted(
            self._repository, branch, prefix=prefix, delimiter=delimiter, after=after, amount=PAGE
        )
        return _changes(found)


def _changes(page: Differences) -> Found[Change | CommonPrefix]:
    found = [change_of(change) for change in page]
    return found, found[-1].path if len(found) == PAGE else None


async def _joined(reading: read.Reading) -> bytes:
    chunks = [chunk async for chunk in reading.chunks]
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
