"""Dumping all references of a repository, with every commit they lead to, and restoring them elsewhere.

A dump lies in the storage namespace, beside the trees and segments that its commits name:

    meta/dumps/<id>            the manifest: branches, tags, and the names of the parts; <id> is the SHA-256 of it
    meta/dumps/parts/<hash>    commits with their inherited deltas; <hash> is the SHA-256 of the part

So the id of a dump vouches for every byte of it. A key-value store that was lost is made again of a dump and the
namespace, with the same ids throughout. What was staged is not in it. The bytes are in `docs/engine.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeVar

import msgspec

from headwater.blob import NotFound
from headwater.engine.branches import list_branches, list_tags, new_branch
from headwater.engine.errors import BadRequest, CorruptDump
from headwater.engine.limits import DUMP_BATCH, DUMP_PART, MAX_PAGE
from headwater.engine.repository import Repository
from headwater.engine.touches import touches_of
from headwater.history import Commit, Tag, all_parents
from headwater.history import commit as commit_codec
from headwater.history import tag as tag_codec
from headwater.history.frontier import Frontier
from headwater.kv import ABSENT, PredicateFailed, UnknownOutcome
from headwater.refs import branch as branch_codec
from headwater.refs import branches, tags

FORMAT = 1
DUMPS = "meta/dumps/"
PARTS = DUMPS + "parts/"

Document = TypeVar("Document")


class DumpedBranch(msgspec.Struct, frozen=True, array_like=True):
    """A branch: its head and its incarnation, so that the next commit on it has the clock that it would have had."""

    name: str
    commit: bytes
    incarnation: bytes


class DumpedTag(msgspec.Struct, frozen=True, array_like=True):
    """A tag, as it is stored."""

    name: str
    id: bytes
    value: bytes


class DumpedCommit(msgspec.Struct, frozen=True, array_like=True):
    """A commit, as it is stored, and what it inherits since its tree."""

    id: bytes
    value: bytes
    inherited: bytes | None


class Manifest(msgspec.Struct, frozen=True, array_like=True):
    """What a dump holds."""

    format: int
    repository: str
    default_branch: str
    time: int
    """When it was made: milliseconds since 1970."""

    commits: int
    branches: tuple[DumpedBranch, ...]
    tags: tuple[DumpedTag, ...]
    parts: tuple[bytes, ...]


_manifests = msgspec.msgpack.Decoder(Manifest)
_parts = msgspec.msgpack.Decoder(list[DumpedCommit])


async def dump(repository: Repository, *, gathered: Callable[[int], None] = lambda _: None) -> str:
    """Write a dump of all branches, tags, and commits that they lead to. Returns its id.

    *gathered* is called with a number of commits whenever so many more are at hand.

    Each reference is as it was at some moment of the call, not all at the same one. A scan of each kind of reference,
    about three trips for every 1,000 commits, and one object for every 8 MiB of them.
    """
    found = [each async for each in _all_branches(repository)]
    tagged = [each async for each in _all_tags(repository)]
    parts: list[bytes] = []
    part: list[DumpedCommit] = []
    size = count = 0
    targets = [branch.commit for _, branch in found] + [tag.target for tag in tagged]
    async for batch in _reachable(repository, targets):
        part += batch
        size += sum(len(each.value) + len(each.inherited or b"") for each in batch)
        count += len(batch)
        gathered(len(batch))
        if size >= DUMP_PART:
            parts.append(await _put(repository, PARTS, msgspec.msgpack.encode(part)))
            part, size = [], 0
    if part:
        parts.append(await _put(repository, PARTS, msgspec.msgpack.encode(part)))
    manifest = Manifest(
        FORMAT,
        repository.name,
        repository.record.default_branch,
        repository.outside.now(),
        count,
        tuple(DumpedBranch(name, bytes.fromhex(branch.commit), branch.incarnation) for name, branch in found),
        tuple(DumpedTag(tag.name, bytes.fromhex(tag.id), tag_codec.encode(tag)) for tag in tagged),
        tuple(parts),
    )
    return (await _put(repository, DUMPS, msgspec.msgpack.encode(manifest))).hex()


async def restore(repository: Repository, identity: str) -> Manifest:
    """Make the branches, tags and commits of the dump *identity* those of *repository*, which must have none.

    All is checked before any reference is made: every hash, and that no commit is missing. A call that failed may be
    repeated: what it made already is as it should be.
    """
    repository.check_writable()
    manifest = await _read_manifest(repository, identity)
    await _check_empty(repository, manifest)
    restored: set[str] = set()
    wanted = {branch.commit.hex() for branch in manifest.branches}
    dumped_tags = [tag_codec.decode(tag.id.hex(), tag.value) for tag in manifest.tags]
    wanted |= {tag.target for tag in dumped_tags}
    for hashed in manifest.parts:
        part = await _read(repository, PARTS, hashed.hex(), _parts.decode)
        for start in range(0, len(part), DUMP_BATCH):
            commits = await _restore_commits(repository, part[start : start + DUMP_BATCH])
            restored.update(commit.id for commit in commits)
            wanted.update(parent for commit in commits for parent in commit.parents)
    if missing := wanted - restored:
        raise CorruptDump(f"dump {identity} lacks {len(missing)} commit(s) that it leads to, as {min(missing)}")
    for tag in dumped_tags:
        value = tags.encode_record(tags.record_of(tag, repository.outside.random(8)))
        await _place(repository, tags.key_of(tag.name), value)
    for branch in manifest.branches:
        fresh = new_branch(repository, branch.commit.hex())
        record = msgspec.structs.replace(fresh, incarnation=branch.incarnation)
        await _place(repository, branches.key_of(branch.name), branch_codec.encode(record))
    return manifest


async def _all_branches(repository: Repository) -> AsyncIterator[tuple[str, branch_codec.Branch]]:
    after = ""
    while page := await list_branches(repository, after=after, amount=MAX_PAGE):
        for each in page:
            yield each
        after = page[-1][0]


async def _all_tags(repository: Repository) -> AsyncIterator[Tag]:
    after = ""
    while page := await list_tags(repository, after=after, amount=MAX_PAGE):
        for each in page:
            yield each
        after = page[-1].name


async def _reachable(repository: Repository, targets: Sequence[str]) -> AsyncIterator[list[DumpedCommit]]:
    """The commits *targets* and all their ancestors, each once, in batches."""
    frontier = Frontier(repository.commits, all_parents, DUMP_BATCH)
    for start in range(0, len(targets), DUMP_BATCH):
        for commit in await repository.commits.get_many(targets[start : start + DUMP_BATCH]):
            frontier.add(commit)
    batch: list[Commit] = []
    while frontier:
        commit = frontier.pop()
        await frontier.add_parents(commit)
        batch.append(commit)
        if len(batch) == DUMP_BATCH or not frontier:
            yield await _dumped(repository, batch)
            batch = []


async def _dumped(repository: Repository, commits: Sequence[Commit]) -> list[DumpedCommit]:
    deltas = zip(commits, await repository.commits.deltas(commits), strict=True)
    return [DumpedCommit(bytes.fromhex(each.id), commit_codec.encode(each), inherited) for each, inherited in deltas]


async def _restore_commits(repository: Repository, dumped: Sequence[DumpedCommit]) -> list[Commit]:
    values: dict[bytes, bytes] = {}
    commits = [commit_codec.decode(each.id.hex(), each.value) for each in dumped]
    for commit, each in zip(commits, dumped, strict=True):
        values.update(repository.commits.landed(commit, each.inherited))
        values.update({touch.key: touch.value for touch in touches_of(repository, commit)})
    keys = sorted(values)
    for start in range(0, len(keys), DUMP_BATCH):
        await repository.store.set_many(
            repository.partition, {key: values[key] for key in keys[start : start + DUMP_BATCH]}
        )
    return commits


async def _check_empty(repository: Repository, manifest: Manifest) -> None:
    """Raise unless the repository has no references, or only those that a restoring of *manifest* made."""
    known = {branch.name: branch.commit.hex() for branch in manifest.branches}
    known_tags = {tag.name: tag.id.hex() for tag in manifest.tags}
    async for name, branch in _all_branches(repository):
        if known.get(name) != branch.commit:
            raise BadRequest(
                f"repository {repository.name!r} has a branch {name!r}: restore into one made with bare=True"
            )
    async for tag in _all_tags(repository):
        if known_tags.get(tag.name) != tag.id:
            raise BadRequest(
                f"repository {repository.name!r} has a tag {tag.name!r}: restore into one made with bare=True"
            )


async def _place(repository: Repository, key: bytes, value: bytes) -> None:
    """Write a reference unless it is there already: `_check_empty` saw to it that then it is the same."""
    try:
        await repository.store.set_if(repository.partition, key, value, ABSENT)
    except PredicateFailed:
        return
    except UnknownOutcome:
        if await repository.store.get(repository.partition, key) is None:
            raise


async def _put(repository: Repository, directory: str, content: bytes) -> bytes:
    hashed = hashlib.sha256(content).digest()
    await repository.blobs.put(directory + hashed.hex(), content)
    return hashed


async def _read_manifest(repository: Repository, identity: str) -> Manifest:
    if len(identity) != 64 or not set(identity) <= set("0123456789abcdef"):
        raise BadRequest(f"{identity[:80]!r}: the id of a dump has 64 lower-case hex digits")
    manifest = await _read(repository, DUMPS, identity, _manifests.decode)
    if manifest.format != FORMAT:
        raise CorruptDump(f"dump {identity} is of format {manifest.format}, which this version does not know")
    return manifest


async def _read(repository: Repository, directory: str, name: str, decode: Callable[[bytes], Document]) -> Document:
    try:
        content = await repository.blobs.read(directory + name)
    except NotFound:
        raise CorruptDump(f"{directory}{name} is not in the namespace of repository {repository.name!r}") from None
    if hashlib.sha256(content).hexdigest() != name:
        raise CorruptDump(f"{directory}{name} is damaged: its content does not hash to its name")
    try:
        return decode(content)
    except msgspec.MsgspecError as error:
        raise CorruptDump(f"{directory}{name} cannot be read: {error}") from error
