"""Objects that clients write to the storage by themselves, and link afterwards; and objects that were there before."""

from __future__ import annotations

import msgspec

from headwater.blob import BlobStore, NotFound, NotSupported
from headwater.engine import write
from headwater.engine.addresses import located
from headwater.engine.copies import note
from headwater.engine.errors import BadRequest
from headwater.engine.paths import key_of
from headwater.engine.repository import Repository
from headwater.index import Block, Entry
from headwater.server.addresses import name_from_client, namespace_to_client, source_from_client
from headwater.server.api.answers import moment_of
from headwater.server.api.calling import Call
from headwater.server.api.objects import ObjectStats, condition_of, stats_answer
from headwater.server.api.operation import OBJECT, Group, needs
from headwater.server.limits import PRESIGNED

group = Group("staging")
internal = Group("internal")


class StagingQuery(msgspec.Struct, frozen=True):
    """Which object is to be, and whether a URL to write it to is wanted."""

    path: str
    presign: bool = False


class PathQuery(msgspec.Struct, frozen=True):
    """Which object is to be."""

    path: str


class StagingLocation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where to write an object, and, if asked for, a URL that takes it until *presigned_url_expiry*."""

    physical_address: str = ""
    presigned_url: str | None = None
    presigned_url_expiry: int | None = None


class StagingMetadata(msgspec.Struct, frozen=True):
    """What was written, and where. *mtime* is passed over: it is the server's."""

    staging: StagingLocation
    checksum: str
    size_bytes: int
    user_metadata: dict[str, str] | None = None
    content_type: str | None = None
    mtime: int | None = None
    force: bool = False


class ObjectStageCreation(msgspec.Struct, frozen=True):
    """An object that is somewhere already: what is told of it is believed."""

    physical_address: str
    checksum: str
    size_bytes: int
    mtime: int | None = None
    metadata: dict[str, str] | None = None
    content_type: str | None = None
    force: bool = False


@group.operation(
    "GET",
    "/repositories/{repository}/branches/{branch}/staging/backing",
    "getPhysicalAddress",
    needs("fs:WriteObject", OBJECT),
)
async def get_physical_address(call: Call, query: StagingQuery) -> StagingLocation:
    """An address to write an object to, to be linked within six hours"""
    repository = await call.repository()
    branch = call["branch"]
    key_of(query.path)  # raises unless there can be an object
    await call.services.rules.check_stageable(repository, branch)
    await repository.branches.recent(branch)
    name = call.services.issued.issue(repository, branch, query.path)
    address = address_of(call, repository, name)
    if not query.presign:
        return StagingLocation(address)
    try:
        url = await repository.blobs.presign(name, "PUT", PRESIGNED)
    except NotSupported:
        raise BadRequest("presign: this storage has no URLs that could be written to; upload through the API") from None
    return StagingLocation(address, url, call.services.outside.now() // 1000 + PRESIGNED)


@group.operation(
    "PUT",
    "/repositories/{repository}/branches/{branch}/staging/backing",
    "linkPhysicalAddress",
    needs("fs:WriteObject", OBJECT),
)
async def link_physical_address(call: Call, query: PathQuery, body: StagingMetadata) -> ObjectStats:
    """Make what was written to an address the object at a path"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    name = issued_name(call, repository, query.path, body.staging.physical_address)
    await note(repository, [name])  # it may have been written hours ago, and be about to be taken for garbage
    await _check_size(repository.blobs, name, body.staging.physical_address, body.size_bytes)
    entry = await write.link(
        repository,
        call["branch"],
        query.path,
        name,
        size=body.size_bytes,
        checksum=body.checksum.strip('"'),
        content_type=body.content_type,
        metadata=body.user_metadata or {},
        condition=condition_of(call.request),
    )
    return stats_answer(call, repository, entry)


@internal.operation(
    "PUT",
    "/repositories/{repository}/branches/{branch}/objects",
    "stageObject",
    needs("fs:WriteObject", OBJECT),
    status=201,
    checks_inside=True,
)
async def stage_object(call: Call, query: PathQuery, body: ObjectStageCreation) -> ObjectStats:
    """Make what is anywhere in the storage the object at a path, without copying a byte"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])
    if name_from_client(call.services.storage, repository, body.physical_address) is not None:
        address = issued_name(call, repository, query.path, body.physical_address)
    else:
        call.require("fs:ImportFromStorage", f"arn:lakefs:fs:::namespace/{body.physical_address}")
        address = source_from_client(call.services.settings, body.physical_address)
    await note(repository, [address])
    store, name = await located(repository, address)
    await _check_size(store, name, body.physical_address, body.size_bytes)
    entry = Entry(
        key_of(query.path),
        blocks=(Block(address, 0, body.size_bytes),),
        size=body.size_bytes,
        checksum=body.checksum.strip('"'),
        modified=call.services.outside.now() if body.mtime is None else moment_of(body.mtime, "mtime"),
        content_type=body.content_type,
        metadata=body.metadata or {},
    )
    await write.stage(repository, call["branch"], entry)
    return stats_answer(call, repository, entry)


@internal.operation(
    "GET",
    "/repositories/{repository}/branches/{branch}/objects/stage_allowed",
    "uploadObjectPreflight",
    needs("fs:WriteObject", OBJECT),
    status=204,
)
async def upload_object_preflight(call: Call, query: PathQuery) -> None:  # noqa: ARG001  (it is what is checked)
    """Whether the caller may write an object"""
    repository = await call.repository()
    await call.services.rules.check_stageable(repository, call["branch"])


def address_of(call: Call, repository: Repository, name: str) -> str:
    """What clients call the object *name* of *repository*."""
    return f"{namespace_to_client(call.services.storage, repository.record.namespace)}/{name}"


def issued_name(call: Call, repository: Repository, path: str, told: str) -> str:
    """The name of what was given out as *told* for *path* on the branch of *call*; else `BadRequest`."""
    name = name_from_client(call.services.storage, repository, told) or ""
    call.services.issued.check(repository, call["branch"], path, name)
    return name


async def _check_size(store: BlobStore, name: str, told: str, size: int) -> None:
    """Raise unless there is an object of *size* bytes: else everybody who reads it would fail."""
    found = await store.stat(name)
    if found is None:
        raise NotFound(f"there is nothing at {told[:300]!r}: write it there first")
    if found.size != size:
        raise BadRequest(f"size_bytes={size}: the object at {told[:300]!r} has {found.size} bytes")
