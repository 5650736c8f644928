"""Files that grow, directories, and commits in progress, over the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from headwater.blob import Body
from headwater.engine.commit import Description
from headwater.engine.repository import Repository
from headwater.files import directories, globbing, in_progress, ranges
from headwater.files.append import Receipt, append
from headwater.files.directories import Directory
from headwater.files.history import path_history
from headwater.files.in_progress import InProgress
from headwater.files.packing import pack
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.limits import LOG_PAGE, PAGE
from headwater.sdk.ports import Found
from headwater.sdk.results import Child, Commit, Entry, Walked, child_of, commit_of, entry_of, walked_of


class Files:
    def __init__(self, repository: Repository, committer: str) -> None:
        self._repository = repository
        self._committer = committer

    def new_append_id(self) -> str:
        return self._repository.stamps.take()

    async def append(
        self,
        branch: str,
        path: str,
        body: Body,
        *,
        id: str | None,  # noqa: A002  (it is one)
        again: bool,
        content_type: str | None,
        metadata: Mapping[str, str],
    ) -> Receipt:
        return await append(
            self._repository, branch, path, body, id=id, again=again, content_type=content_type, metadata=metadata
        )

    async def pack(self, branch: str, path: str, message: str) -> Commit:
        return commit_of(await pack(self._repository, branch, path, self._described(message, NO_METADATA)))

    async def read_file(self, path: str, since: str | None, until: str) -> AsyncIterator[bytes]:
        reading = await ranges.read_file(self._repository, path, since=since, until=until)
        async for chunk in reading.chunks:
            yield chunk

    async def list_dir(self, ref: str, path: str, after: str, *, totals: bool) -> Found[Child]:
        page = await directories.list_dir(self._repository, ref, path, totals=totals, after=after, amount=PAGE)
        found = [child_of(child) for child in page]
        if len(found) < PAGE:
            return found, None
        last = found[-1]
        return found, f"{last.path}/" if isinstance(last, Directory) else last.path

    async def walk(self, ref: str, path: str) -> AsyncIterator[Walked]:
        async for each in directories.walk(self._repository, ref, path):
            yield walked_of(each)

    async def glob(self, ref: str, pattern: str) -> AsyncIterator[Entry]:
        async for entry in globbing.glob(self._repository, ref, pattern):
            yield entry_of(entry)

    async def history(self, ref: str, path: str, after: str) -> Found[Commit]:
        page = await path_history(self._repository, ref, path, after=after, amount=LOG_PAGE)
        return [commit_of(commit) for commit in page.commits], page.after

    async def start(self, branch: str, parent: str | None) -> InProgress:
        return await in_progress.start(self._repository, branch, parent=parent, by=self._committer)

    async def find(self, id: str) -> InProgress:  # noqa: A002  (it is one)
        return await in_progress.find(self._repository, id)

    async def list_open(self) -> Sequence[InProgress]:
        return await in_progress.list_open(self._repository)

    async def finish(self, id: str, message: str, *, metadata: Mapping[str, str]) -> Commit:  # noqa: A002
        return commit_of(await in_progress.finish(self._repository, id, self._described(message, metadata)))

    async def drop(self, id: str) -> None:  # noqa: A002  (it is one)
        await in_progress.drop(self._repository, id)

    def _described(self, message: str, metadata: Mapping[str, str]) -> Description:
        return Description(message, self._committer, self._repository.outside.now(), metadata)
