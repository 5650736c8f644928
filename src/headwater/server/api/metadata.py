"""Where the index of a commit is: its tree and segments, as files of the storage namespace that anything can read.

Clients of lakeFS call a tree a metarange and a segment a range.
"""

from __future__ import annotations

import msgspec

from headwater.blob.namespace import segment_name, tree_name
from headwater.engine.errors import BadRequest, PathNotFound
from headwater.engine.repository import Repository
from headwater.server.addresses import namespace_to_client
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, Needs
from headwater.server.http import Response
from headwater.server.sending import OCTETS, presigned_name

group = Group("metadata")
internal = Group("internal")

NAMES = {"meta_range": tree_name, "range": segment_name}

_READ = (Needs("fs:ReadRepository", REPOSITORY), Needs("fs:ListObjects", REPOSITORY))


class StorageURI(msgspec.Struct, frozen=True):
    """Where an object of the storage is."""

    location: str


class PresignQuery(msgspec.Struct, frozen=True):
    """Whether a URL of the storage is wanted in place of the bytes."""

    presign: bool = False


@group.operation("GET", "/repositories/{repository}/metadata/meta_range/{meta_range}", "getMetaRange", _READ)
async def get_meta_range(call: Call) -> StorageURI:
    """Where a tree is: the list of segments that a commit names as its metarange"""
    return await _located(call, tree_name(call["meta_range"]))


@group.operation("GET", "/repositories/{repository}/metadata/range/{range}", "getRange", _READ)
async def get_range(call: Call) -> StorageURI:
    """Where a segment is: a Parquet file of entries, in the order of their paths"""
    return await _located(call, segment_name(call["range"]))


@internal.operation("GET", "/repositories/{repository}/metadata/object/{type}/{object_id}", "getMetadataObject", _READ)
async def get_metadata_object(call: Call, query: PresignQuery) -> Response:
    """The bytes of a tree or segment"""
    if call["type"] not in NAMES:
        raise BadRequest(f"type {call['type'][:80]!r}: it is {' or '.join(NAMES)}")
    repository = await call.repository()
    name = NAMES[call["type"]](call["object_id"])
    await _check_there(repository, name)
    if query.presign and (url := await presigned_name(repository.blobs, name)) is not None:
        return Response(302, ((b"location", url.encode()),))
    return Response(200, ((b"content-type", OCTETS.encode()),), await repository.blobs.read(name))


async def _located(call: Call, name: str) -> StorageURI:
    repository = await call.repository()
    await _check_there(repository, name)
    return StorageURI(f"{namespace_to_client(call.services.storage, repository.record.namespace)}/{name}")


async def _check_there(repository: Repository, name: str) -> None:
    if await repository.blobs.stat(name) is None:
        raise PathNotFound(f"repository {repository.name!r} has no {name}")
