"""The action files of a commit: found under `_lakefs_actions/`, read, and understood once for each content."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.actions.action import Action, parse_action
from headwater.actions.errors import BadAction
from headwater.actions.limits import MAX_COMMITS, MAX_FILE, MAX_FILES, MAX_PARSED
from headwater.engine.paths import path_of, prefix_of
from headwater.engine.read import content
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.history.cache import Cache
from headwater.index import Entry, Index

PREFIX = "_lakefs_actions/"
SUFFIXES = (".yaml", ".yml")


_KEYS = prefix_of(PREFIX)


class ActionFiles:
    """Reads action files. What was understood is kept by where its bytes are, and which files a commit has by its id:
    neither ever changes."""

    def __init__(self) -> None:
        self._known: Cache[tuple[str, str], Action] = Cache(MAX_PARSED)
        self._of_commits: Cache[str, Sequence[Entry]] = Cache(MAX_COMMITS)

    async def entries(self, commit: Commit, index: Index) -> Sequence[Entry]:
        """The files that *commit* has, whose index is *index*. Those of its parent, unless it changed one itself."""
        known = self._of_commits.get(commit.id)
        if known is None:
            of_parent = self._of_commits.get(commit.parents[0]) if commit.parents else None
            known = of_parent if of_parent is not None and not _touches(index) else await _listed(index)
            self._of_commits.put(commit.id, known, 1)
        return known

    async def actions(self, repository: Repository, entries: Sequence[Entry]) -> list[Action]:
        """What the files say, or `BadAction` if one of them makes no sense."""
        if len(entries) > MAX_FILES:
            raise BadAction(f"there are more than {MAX_FILES} files under {PREFIX}")
        return [await self._action(repository, entry) for entry in entries]

    async def _action(self, repository: Repository, entry: Entry) -> Action:
        path = path_of(entry.key)
        known_as = f"{repository.record.id}/{entry.blocks!r}", path
        known = self._known.get(known_as)
        if known is not None:
            return known
        if entry.size > MAX_FILE:
            raise BadAction(f"{path}: it has {entry.size} bytes; an action file has {MAX_FILE} at most")
        action = parse_action(path, b"".join([chunk async for chunk in content(repository, entry).chunks]))
        self._known.put(known_as, action, 1)
        return action


def _touches(index: Index) -> bool:
    """Whether the commit of *index* changed something under the prefix itself, or may have."""
    if index.own is None:
        return True
    return any(key.startswith(_KEYS) for key, _ in index.own.slice(_KEYS, 1))


async def _listed(index: Index) -> Sequence[Entry]:
    found = await index.entries(prefix=_KEYS, amount=MAX_FILES + 1)
    return [entry for entry in found if entry.key.endswith(SUFFIXES)]
