"""Branches and tags: made, listed and deleted."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.engine.limits import MAX_PAGE
from headwater.engine.looking import commit_of
from headwater.engine.ref_changes import Planned, change_reference
from headwater.engine.repository import Repository
from headwater.engine.slots import BranchSlot, TagSlot
from headwater.history import Tag, check_name
from headwater.refs import tags
from headwater.refs.branch import Branch, decode, is_hidden
from headwater.refs.branches import PREFIX
from headwater.refs.errors import RefExists, RefNotFound
from headwater.refs.tags import TagRecord
from headwater.staging.tokens import new_token


async def create_branch(repository: Repository, name: str, source: str, *, by: str = "") -> Branch:
    """A branch *name* at the commit *source*. It takes the commit, not what is staged on a branch of that name.

    *by* is who the reference log says did it, here and wherever a reference is made, moved or deleted.
    """
    repository.check_writable()
    check_name(name)
    commit = await commit_of(repository, source)
    branch = new_branch(repository, commit.id)

    def plan(record: Branch | None, mark: bytes) -> Planned[Branch]:
        if record is not None and not record.dropped:
            raise RefExists(f"there is a branch {name!r} already")
        heads = record.moved(commit.id, repository.outside.now()) if record is not None and record.commit else ()
        return Planned("create", "", commit.id, reborn(msgspec.structs.replace(branch, heads=heads), mark))

    return (await change_reference(repository, BranchSlot(repository, name), by, plan)).after


def new_branch(repository: Repository, commit: str) -> Branch:
    """A branch that never was before, with nothing staged."""
    outside = repository.outside
    return Branch(commit, token=new_token(outside), incarnation=outside.random(8), dirty=False)


def reborn(branch: Branch, mark: bytes) -> Branch:
    """*branch* as a new incarnation, which its next commit's clock begins with.

    Whoever gives a branch another head in any way but by a commit does this in the same swap: on the old incarnation
    two commits could have one clock.
    """
    return msgspec.structs.replace(branch, incarnation=mark)


async def delete_branch(repository: Repository, name: str, *, by: str = "") -> Branch:
    """Drop the branch *name* and what is staged on it. Returns what it was; its head can be brought back."""
    repository.check_writable()

    def plan(record: Branch | None, mark: bytes) -> Planned[Branch]:
        branch = existing_record(name, record)
        dropped = msgspec.structs.replace(
            branch,
            token=new_token(repository.outside),
            sealed=(),
            dirty=False,
            base="",
            dropped=True,
        )
        return Planned("delete", branch.commit, "", reborn(dropped, mark), tokens=(*branch.sealed, branch.token))

    changed = await change_reference(repository, BranchSlot(repository, name), by, plan)
    return existing_record(name, changed.before)


async def list_branches(
    repository: Repository, *, prefix: str = "", after: str = "", amount: int = MAX_PAGE
) -> list[tuple[str, Branch]]:
    """A page of the branches whose names begin with *prefix* and come after *after*, in order."""
    found: list[tuple[str, Branch]] = []
    for_names = PREFIX + prefix.encode()
    start = max(for_names, PREFIX + after.encode() + b"\0") if after else for_names
    async for page in repository.store.scan(repository.partition, start, page=amount):
        for entry in page:
            if not entry.key.startswith(for_names) or len(found) == amount:
                return found
            name = entry.key.removeprefix(PREFIX).decode()
            branch = decode(name, entry.value)
            if not branch.dropped and not is_hidden(name):
                found.append((name, branch))
    return found


async def create_tag(
    repository: Repository,
    name: str,
    source: str,
    *,
    message: str = "",
    tagger: str = "",
    metadata: Mapping[str, str] | None = None,
    signing_key: bytes | None = None,
) -> Tag:
    """A tag *name* for the commit *source*, signed with an Ed25519 private key if there is one."""
    repository.check_writable()
    commit = await commit_of(repository, source)
    tag = Tag.create(name, commit.id, message=message, tagger=tagger, time=repository.outside.now(), metadata=metadata)
    return await put_tag(repository, tag if signing_key is None else tag.signed(signing_key), by=tagger)


async def put_tag(repository: Repository, tag: Tag, *, by: str = "") -> Tag:
    """Put *tag* under its name, or `RefExists`: a tag is never moved."""
    repository.check_writable()

    def plan(record: TagRecord | None, mark: bytes) -> Planned[TagRecord]:
        if record is not None and not record.dropped:
            raise RefExists(f"there is a tag {tag.name!r} already: delete it first, or choose another name")
        return Planned("create", "", tag.target, tags.record_of(tag, mark))

    await change_reference(repository, TagSlot(repository, tag.name), by, plan)
    return tag


async def delete_tag(repository: Repository, name: str, *, by: str = "") -> Tag:
    """Delete the tag *name*. Returns what it was; it can be brought back as it was."""
    repository.check_writable()

    def plan(record: TagRecord | None, mark: bytes) -> Planned[TagRecord]:
        tag = _existing_tag(name, record)
        return Planned("delete", tag.target, "", msgspec.structs.replace(tags.record_of(tag, mark), dropped=True))

    changed = await change_reference(repository, TagSlot(repository, name), by, plan)
    return _existing_tag(name, changed.before)


def existing_record(name: str, record: Branch | None) -> Branch:
    """*record*, or `RefNotFound`."""
    if record is None or record.dropped:
        raise RefNotFound(f"there is no branch {name!r}")
    return record


def _existing_tag(name: str, record: TagRecord | None) -> Tag:
    tag = None if record is None or record.dropped else record.tag(name)
    if tag is None:
        raise RefNotFound(f"there is no tag {name!r}")
    return tag


async def list_tags(repository: Repository, *, prefix: str = "", after: str = "", amount: int = MAX_PAGE) -> list[Tag]:
    """A page of the tags whose names begin with *prefix* and come after *after*, in order."""
    found: list[Tag] = []
    for_names = tags.PREFIX + prefix.encode()
    start = max(for_names, tags.PREFIX + after.encode() + b"\0") if after else for_names
    async for page in repository.store.scan(repository.partition, start, page=amount):
        for entry in page:
            if not entry.key.startswith(for_names) or len(found) == amount:
                return found
            tag = tags.decode_tag(entry.key.removeprefix(tags.PREFIX).decode(), entry.value)
            if tag is not None:
                found.append(tag)
    return found
