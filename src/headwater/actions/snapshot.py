"""What hooks may look at: the commit that an event is about, and whatever else of the repository its doer may read."""

from __future__ import annotations

from typing import Any

from headwater.actions.errors import HookFailed
from headwater.actions.limits import MAX_READ, MAX_SCRIPT_PAGE
from headwater.actions.occasion import Doer
from headwater.auth import resources
from headwater.auth.permissions import LIST_OBJECTS, READ_COMMIT, READ_OBJECT
from headwater.engine.looking import commit_of
from headwater.engine.paths import after_of, key_of, path_of, prefix_of
from headwater.engine.read import content
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.index import Change, CommonPrefix, Entry, Index, diff


class Snapshot:
    """A commit, which may not have landed yet, in its repository. An empty reference means this commit."""

    def __init__(self, repository: Repository, commit: Commit, index: Index, by: Doer) -> None:
        self.repository = repository
        self.commit = commit
        self.index = index
        self._by = by

    async def read(self, path: str, ref: str = "") -> bytes:
        """The bytes of a small object."""
        self._require(READ_OBJECT, resources.object_in(self.repository.name, path))
        entry = await self._entry(path, ref)
        if entry is None:
            raise HookFailed(f"there is nothing at {path!r}")
        if entry.size > MAX_READ:
            raise HookFailed(f"{path!r} has {entry.size} bytes; a hook reads {MAX_READ} at most")
        return b"".join([chunk async for chunk in content(self.repository, entry).chunks])

    async def stat(self, path: str, ref: str = "") -> dict[str, Any] | None:
        """What is known of an object; None if there is none."""
        self._require(READ_OBJECT, resources.object_in(self.repository.name, path))
        entry = await self._entry(path, ref)
        return None if entry is None else _described(entry)

    async def listing(
        self, prefix: str = "", ref: str = "", after: str = "", delimiter: str = "", amount: int = MAX_SCRIPT_PAGE
    ) -> list[dict[str, Any]]:
        """A page of what there is."""
        self._require(LIST_OBJECTS, resources.repository(self.repository.name))
        index = (await self._at(ref))[1]
        found = await index.list(
            prefix=prefix_of(prefix), after=after_of(after), delimiter=delimiter, amount=_amount(amount)
        )
        return [_prefix(each) if isinstance(each, CommonPrefix) else _described(each) for each in found]

    async def diff(
        self, left: str = "", right: str = "", prefix: str = "", after: str = "", amount: int = MAX_SCRIPT_PAGE
    ) -> list[dict[str, Any]]:
        """A page of what is different from *left* to *right*; without *left*, from the first parent of *right*."""
        self._require(LIST_OBJECTS, resources.repository(self.repository.name))
        commit, index = await self._at(right)
        before = await self._before(commit) if not left else (await self._at(left))[1]
        found = await diff(before, index, prefix=prefix_of(prefix), after=after_of(after), amount=_amount(amount))
        return [{"path": path_of(each.key), "type": each.type} for each in found if isinstance(each, Change)]

    async def metadata(self, ref: str = "") -> dict[str, Any]:
        """What a commit says of itself."""
        self._require(READ_COMMIT, resources.repository(self.repository.name))
        commit, _ = await self._at(ref)
        return {
            "id": commit.id,
            "message": commit.message,
            "committer": commit.committer,
            "time": commit.time // 1000,
            "parents": list(commit.parents),
            "metadata": dict(commit.metadata),
        }

    def _require(self, action: str, resource: str) -> None:
        if not self._by.may(action, resource):
            raise HookFailed(f"{self._by.name or 'nobody'} may not {action} on {resource}, so no hook may for them")

    async def _entry(self, path: str, ref: str) -> Entry | None:
        key = key_of(path)
        return await (await self._at(ref))[1].get(key)

    async def _at(self, ref: str) -> tuple[Commit, Index]:
        if ref in ("", self.commit.id):
            return self.commit, self.index
        commit = await commit_of(self.repository, ref)
        return commit, await self.repository.index_of(commit.id)

    async def _before(self, commit: Commit) -> Index:
        return await self.repository.index_of(commit.parents[0]) if commit.parents else self.repository.empty_index()


def _described(entry: Entry) -> dict[str, Any]:
    return {
        "path": path_of(entry.key),
        "size": entry.size,
        "checksum": entry.checksum or "",
        "mtime": entry.modified // 1000,
        "content_type": entry.content_type or "",
        "metadata": dict(entry.metadata),
    }


def _prefix(prefix: CommonPrefix) -> dict[str, Any]:
    return {"path": path_of(prefix.key), "prefix": True}


def _amount(amount: int) -> int:
    if not 1 <= amount <= MAX_SCRIPT_PAGE:
        raise HookFailed(f"amount={amount}: a page has 1 to {MAX_SCRIPT_PAGE}")
    return amount
