"""Tags: created, listed, deleted."""

from __future__ import annotations

import msgspec

from headwater.actions import Occasion
from headwater.engine import branches
from headwater.engine.looking import commit_of
from headwater.history import Tag, check_name
from headwater.refs.errors import RefNotFound
from headwater.refs.tags import find_tag
from headwater.sdk.wire.signatures import ToldSignature, signature_of, signature_told
from headwater.server.api.answers import Page, PageQuery, page_of
from headwater.server.api.branches import ForceQuery
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, TAG, Group, Needs, needs

group = Group("tags")

_NEW = "arn:lakefs:fs:::repository/{repository}/tag/{body.id}"


class TagCreation(msgspec.Struct, frozen=True):
    """A tag to be, at the commit *ref*."""

    id: str
    ref: str
    force: bool = False
    message: str = ""
    metadata: dict[str, str] = {}
    creation_time_ms: int | None = None
    signature: ToldSignature | None = None
    """By whoever asks, over the tag with exactly these fields."""


class TagRef(msgspec.Struct, frozen=True):
    """A tag, the commit it stands for, and who said so, when and why."""

    id: str
    commit_id: str
    message: str
    tagger: str
    creation_time_ms: int
    metadata: dict[str, str]
    signature: ToldSignature | None = None


def tag_answer(tag: Tag) -> TagRef:
    return TagRef(tag.name, tag.target, tag.message, tag.tagger, tag.time, dict(tag.metadata), signature_told(tag))


def _tag(call: Call, body: TagCreation, target: str) -> Tag:
    now = call.services.outside.now() if body.creation_time_ms is None else body.creation_time_ms
    tag = Tag.create(
        body.id, target, message=body.message, tagger=call.caller.name, time=now, metadata=dict(body.metadata)
    )
    return tag if body.signature is None else msgspec.structs.replace(tag, signature=signature_of(body.signature))


@group.operation("GET", "/repositories/{repository}/tags", "listTags", needs("fs:ListTags", REPOSITORY))
async def list_tags(call: Call, query: PageQuery) -> Page[TagRef]:
    """List tags"""
    repository = await call.repository()
    found = await branches.list_tags(repository, prefix=query.prefix, after=query.after, amount=query.size + 1)
    return page_of(found, query.size, tag_answer, lambda tag: tag.name)


@group.operation("POST", "/repositories/{repository}/tags", "createTag", (Needs("fs:CreateTag", _NEW),), status=201)
async def create_tag(call: Call, body: TagCreation) -> TagRef:
    """Create a tag"""
    repository = await call.repository()
    check_name(body.id)
    source = await commit_of(repository, body.ref)
    async with call.around(repository, Occasion("create-tag", tag=body.id, commit=source.id)):
        created = await branches.put_tag(repository, _tag(call, body, source.id), by=call.caller.name)
    return tag_answer(created)


@group.operation("GET", "/repositories/{repository}/tags/{tag}", "getTag", needs("fs:ReadTag", TAG))
async def get_tag(call: Call) -> TagRef:
    """A tag and its commit"""
    repository = await call.repository()
    tag = await find_tag(repository.store, repository.partition, call["tag"])
    if tag is None:
        raise RefNotFound(f"there is no tag {call['tag'][:300]!r}")
    return tag_answer(tag)


@group.operation("DELETE", "/repositories/{repository}/tags/{tag}", "deleteTag", needs("fs:DeleteTag", TAG), status=204)
async def delete_tag(call: Call, query: ForceQuery) -> None:  # noqa: ARG001  (clients may say it)
    """Delete a tag"""
    repository = await call.repository()
    async with call.around(repository, Occasion("delete-tag", tag=call["tag"])):
        await branches.delete_tag(repository, call["tag"], by=call.caller.name)
