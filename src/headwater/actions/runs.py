"""Runs of hooks, as they are kept: what was run when and with what outcome in the store, what hooks said as objects.

An id begins with the time, backwards: the newest run is the first of every listing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headwater.actions.errors import RunNotFound
from headwater.actions.limits import FORGET_EVERY, RETENTION
from headwater.blob import BlobStore, NotFound
from headwater.blob.namespace import run_output_name
from headwater.engine.repository import Repository
from headwater.kv import Set, Store
from headwater.outside import Outside

_RUN = b"run/"
_LAST = (1 << 44) - 1
"""The last millisecond that an id can begin with, in the year 2527."""


class HookRun(msgspec.Struct, frozen=True, array_like=True):
    """How one hook fared. *id* tells its place: that of its action among the others, and its own within it."""

    id: str
    action: str
    hook: str
    started: int
    ended: int
    passed: bool


class Run(msgspec.Struct, frozen=True):
    """All hooks of one event. *problem* is why there were none, although it did not go well."""

    id: str
    event: str
    branch: str
    tag: str
    commit: str
    by: str
    started: int
    ended: int
    passed: bool
    hooks: tuple[HookRun, ...] = ()
    problem: str = ""


class Runs:
    """The runs of all repositories. Each repository has a partition."""

    def __init__(self, store: Store, outside: Outside) -> None:
        self._store = store
        self._outside = outside
        self._until_forgetting = FORGET_EVERY

    def new_id(self, moment: int) -> str:
        """An id for a run that begins at *moment*."""
        return _beginning(moment) + self._outside.random(8).hex()

    async def keep(self, repository: Repository, run: Run, outputs: Sequence[tuple[str, str]]) -> None:
        """Keep *run*, and what its hooks said, by their ids. One trip, and a request for each that said something."""
        for hook, text in outputs:
            await repository.blobs.put(run_output_name(run.id, hook), text.encode(errors="replace"))
        partition, identity = _partition(repository), run.id.encode()
        kept = [Set(partition, _RUN + identity, msgspec.msgpack.encode(run))]
        if run.branch:
            kept.append(Set(partition, _of_branch(run.branch) + identity, b"1"))
        if run.commit:
            kept.append(Set(partition, _of_commit(run.commit) + identity, b"1"))
        await self._store.pipeline(kept)
        await self._forget_some(repository)

    async def get(self, repository: Repository, identity: str) -> Run:
        """The run, or `RunNotFound`."""
        key = _RUN + identity.encode(errors="replace")[:100]
        found = await self._store.get(_partition(repository), key)
        if found is None:
            raise RunNotFound(f"there is no run {identity[:100]!r}; runs are kept for {RETENTION // 86_400_000} days")
        return msgspec.msgpack.decode(found.value, type=Run)

    async def output(self, repository: Repository, identity: str, hook: str) -> bytes:
        """What a hook said in a run, or `RunNotFound`."""
        run = await self.get(repository, identity)
        if all(each.id != hook for each in run.hooks):
            raise RunNotFound(f"run {identity} has no hook {hook[:100]!r}")
        try:
            return await repository.blobs.read(run_output_name(run.id, hook))
        except NotFound:
            return b""

    async def page(
        self, repository: Repository, *, branch: str = "", commit: str = "", after: str = "", amount: int
    ) -> list[Run]:
        """A page of runs, the newest first: all, or those of a branch, or of a commit."""
        if branch or commit:
            found = await self._through(repository, _of_commit(commit) if commit else _of_branch(branch), after, amount)
            return [run for run in found if not branch or run.branch == branch][:amount]
        runs: list[Run] = []
        start = _RUN + after.encode(errors="replace")[:100] + (b"\0" if after else b"")
        async for page in self._store.scan(_partition(repository), start, page=amount):
            for entry in page:
                if not entry.key.startswith(_RUN) or len(runs) == amount:
                    return runs
                runs.append(msgspec.msgpack.decode(entry.value, type=Run))
        return runs

    async def forget(self, repository: Repository) -> None:
        """Delete all runs of a repository that is gone."""
        partition = _partition(repository)
        async for page in self._store.scan(partition):
            await self._store.delete_many(partition, [entry.key for entry in page])

    async def _through(self, repository: Repository, index: bytes, after: str, amount: int) -> list[Run]:
        """The runs that the entries of an index name."""
        partition = _partition(repository)
        keys: list[bytes] = []
        start = index + after.encode(errors="replace")[:100] + (b"\0" if after else b"")
        async for page in self._store.scan(partition, start, page=amount):
            keys += [_RUN + entry.key.removeprefix(index) for entry in page if entry.key.startswith(index)]
            if len(keys) >= amount or not page[-1].key.startswith(index):
                break
        values = await self._store.get_many(partition, keys[:amount]) if keys else []
        return [msgspec.msgpack.decode(value.value, type=Run) for value in values if value is not None]

    async def _forget_some(self, repository: Repository) -> None:
        """Now and then, delete a page of runs that are too old, and what belongs to them."""
        self._until_forgetting -= 1
        if self._until_forgetting > 0:
            return
        self._until_forgetting = FORGET_EVERY
        partition = _partition(repository)
        start = _RUN + _beginning(self._outside.now() - RETENTION).encode()
        async for page in self._store.scan(partition, start):
            old = [msgspec.msgpack.decode(entry.value, type=Run) for entry in page if entry.key.startswith(_RUN)]
            await _delete_outputs(repository.blobs, old)
            await self._store.delete_many(partition, [key for run in old for key in _keys(run)])
            return


async def _delete_outputs(blobs: BlobStore, runs: Sequence[Run]) -> None:
    names = [run_output_name(run.id, hook.id) for run in runs for hook in run.hooks]
    if names:
        await blobs.delete_many(names)


def _keys(run: Run) -> list[bytes]:
    identity = run.id.encode()
    indexes = [_of_commit(run.commit)] if run.commit else []
    indexes += [_of_branch(run.branch)] if run.branch else []
    return [*(index + identity for index in indexes), _RUN + identity]


def _beginning(moment: int) -> str:
    return f"{_LAST - moment:011x}"


def _partition(repository: Repository) -> bytes:
    return b"actions/" + repository.record.id.encode()


def _of_branch(branch: str) -> bytes:
    return b"branch/" + branch.encode(errors="replace")[:800] + b"\0"


def _of_commit(commit: str) -> bytes:
    return b"commit/" + commit.encode(errors="replace")[:100] + b"\0"
