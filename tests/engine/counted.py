"""A repository over stores that count, of any size: what the budgets are measured on."""

from __future__ import annotations

import hashlib

import msgspec
import pyarrow as pa

from headwater import blob, kv
from headwater.engine.advance import Made, advance
from headwater.engine.commit import Description
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.index import apply
from headwater.index.schema import EDITS
from headwater.outside import real_outside
from headwater.refs.branch import Branch
from headwater.testing.counting import CountingStore
from headwater.testing.counting_blobs import CountingBlobs


class Counted(msgspec.Struct, frozen=True):
    """A repository, and what its stores count."""

    repository: Repository
    keys: CountingStore
    blobs: CountingBlobs


def description(message: str = "a change") -> Description:
    return Description(message, "tests", 1_700_000_000_000)


async def repository_of(entries: int) -> Counted:
    """A repository with so many committed entries, in directories of a thousand."""
    keys = CountingStore(await kv.open("mem://"))
    blobs = CountingBlobs(await blob.open("mem://"))
    repository = await _lake(keys, blobs).create("budgets", "mem://")
    edits = synthetic(entries)

    async def make(branch: Branch) -> Made:
        return [branch.commit], await apply(await repository.index_of(branch.commit), edits)

    await advance(repository, "main", description("the listing"), make)
    return Counted(repository, keys, blobs)


async def opened_anew(counted: Counted) -> Counted:
    """The same repository with nothing cached."""
    repository = await _lake(counted.keys, counted.blobs).open("budgets")
    return Counted(repository, counted.keys, counted.blobs)


def _lake(keys: CountingStore, blobs: CountingBlobs) -> Lake:
    async def open_blobs(_: str) -> blob.BlobStore:
        return blobs

    return Lake(keys, open_blobs, real_outside())


def synthetic(entries: int) -> pa.RecordBatch:
    """A listing, as edits: keys of some 90 bytes, and what else an object has."""
    numbers = range(entries)
    columns = {
        "key": [path_of(number, files=True) for number in numbers],
        "kind": ["object"] * entries,
        "size": [1000 + number % 977 for number in numbers],
        "modified": [1_700_000_000_000 + number for number in numbers],
        "checksum": [hashlib.md5(b"%d" % number, usedforsecurity=False).hexdigest() for number in numbers],
        "address": [f"data/f86441/{number * 2654435761 % 2**64:032x}" for number in numbers],
        "removed": [False] * entries,
    }
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(entries, field.type)
        for field in EDITS
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=EDITS)


def path_of(number: int, *, files: bool = False) -> str:
    path = f"warehouse/sales/region=europe/year=2026/month=11/directory-{number // 1000:05d}/part-{number:09d}.parquet"
    return f"f/{path}" if files else path
