"""Exporting a reference to a plain prefix of an object store: files under their paths, a manifest, and `_SUCCESS`.

Only what changed since the last export is copied. Whoever was interrupted goes on: what lies at the target already,
with the size and checksum that it must have, is not copied again.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from headwater.blob import BlobStore, NotFound
from headwater.engine.block_lists import BlockLists
from headwater.engine.errors import BadRequest
from headwater.index import Block
from headwater.pipeline.errors import PipelineError
from headwater.pipeline.executing import Stores, columns, on_executors, side_by_side
from headwater.pipeline.place import Objects, Place, on_driver, tell_hadoop
from headwater.pipeline.reading import diff, entries
from headwater.pipeline.remote import source_of

Answer = TypeVar("Answer")

STATE, SUCCESS, MANIFESTS = "_headwater.json", "_SUCCESS", "_manifests"
MD5 = re.compile(r"[0-9a-f]{32}")

NO_CREDENTIALS: Final[Mapping[str, str]] = {}

COPIED = T.StructType(
    [
        T.StructField("path", T.StringType()),
        T.StructField("size", T.LongType()),
        T.StructField("checksum", T.StringType()),
        T.StructField("etag", T.StringType()),
        T.StructField("copied", T.BooleanType()),
    ]
)
"""The columns of a manifest."""


class Exported(msgspec.Struct, frozen=True):
    """What an export came to. *since* is the commit that the target had before."""

    commit: str
    since: str | None
    files: int
    copied: int
    bytes: int
    deleted: int


class _State(msgspec.Struct, frozen=True):
    repository: str
    commit: str


def export(
    spark: SparkSession,
    place: Place,
    ref: str,
    target: str,
    *,
    prefix: str = "",
    full: bool = False,
    delete: bool = False,
    credentials: Mapping[str, str] = NO_CREDENTIALS,
) -> Exported:
    """Copy what is at *ref* below *prefix* to the URI *target*: all, or what changed since the last export there.

    With *delete*, what vanished from the repository since then vanishes at the target. Each copy is checked: its size,
    and its MD5 where the entry has one. `_SUCCESS` is gone while files change, and comes last.
    """
    source = source_of(spark, place, ref)
    commit, objects = source.commit, source.objects
    there = Objects(target.rstrip("/"), dict(credentials) or _same_place(objects, target))
    tell_hadoop(spark, there)
    before = None if full else on_driver(_state(there))
    if before is not None and before.repository != source.repository:
        raise BadRequest(f"{target} holds an export of another repository: choose another target, or full=True")
    since = None if before is None else before.commit
    if since == commit:
        done = Exported(commit, since, 0, 0, 0, 0)
        on_driver(_finish(there, _State(source.repository, commit), done))
        return done
    on_driver(_open_and(there, lambda blobs: blobs.delete(SUCCESS)))
    if since is None:
        wanted, gone = entries(spark, place, commit, prefix=prefix), None
    else:
        changes = diff(spark, place, since, commit, prefix=prefix)
        wanted = changes.where("right IS NOT NULL").select("path", "right.*")
        gone = changes.where("right IS NULL").select("path")
    copied = _copied(wanted, objects, there)
    manifest = f"{there.root}/{MANIFESTS}/{commit}"
    copied.write.mode("overwrite").parquet(manifest)
    told = spark.read.schema(COPIED).parquet(manifest)
    counted = told.agg(
        F.count("*"),
        F.sum(F.col("copied").cast("long")),
        F.sum(F.when(F.col("copied"), F.col("size")).otherwise(0)),
    ).collect()[0]
    if delete and gone is None:
        gone = _strangers(entries(spark, place, commit, prefix=prefix), there, prefix)
    deleted = 0 if gone is None or not delete else _deleted(gone, objects, there)
    done = Exported(commit, since, int(counted[0]), int(counted[1] or 0), int(counted[2] or 0), deleted)
    on_driver(_finish(there, _State(source.repository, commit), done))
    return done


def _same_place(ours: Objects, target: str) -> dict[str, str]:
    """The credentials of the lake, if *target* is of the same kind and reached with the same options."""
    same = target.partition(":")[0] == ours.uri.partition(":")[0]
    return dict(ours.credentials) if same and target.partition("?")[2] == ours.uri.partition("?")[2] else {}


def _copied(wanted: DataFrame, objects: Objects, there: Objects) -> DataFrame:
    async def copy(stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
        lists = BlockLists(stores.named[0])

        async def one(row: tuple[str, int, str | None, str | None, list[dict[str, Any]] | None]) -> tuple[str, bool]:
            return await _copy(stores, lists, *row)

        rows = columns(batch, "path", "size", "checksum", "address", "blocks")
        done = await side_by_side(rows, one)
        return pa.RecordBatch.from_pydict(
            {
                "path": batch.column("path"),
                "size": batch.column("size"),
                "checksum": batch.column("checksum"),
                "etag": pa.array([etag for etag, _ in done], pa.string()),
                "copied": pa.array([made for _, made in done], pa.bool_()),
            }
        )

    chosen = wanted.select("path", "size", "checksum", "address", "blocks")
    return chosen.mapInArrow(on_executors(copy, objects, there), COPIED)


async def _copy(  # noqa: PLR0917  (a row)
    stores: Stores,
    lists: BlockLists,
    path: str,
    size: int,
    checksum: str | None,
    address: str | None,
    blocks: list[dict[str, Any]] | None,
) -> tuple[str, bool]:
    """Copy one file, unless it is there. The etag that it has at the target, and whether it was copied."""
    target = stores.named[1]
    mark = checksum or f"at {address}"
    found = await target.stat(path)
    if found is not None and found.size == size and found.metadata.get("headwater") == mark:
        return found.etag, False
    whole = [Block(address, 0, size)] if address is not None else [Block(**each) for each in blocks or ()]
    stored = await target.put(path, _bytes(stores, lists, whole), metadata={"headwater": mark})
    if stored.size != size or (checksum is not None and MD5.fullmatch(checksum) and stored.md5 != checksum):
        await target.delete(path)
        raise PipelineError(
            f"{path!r} came out with {stored.size} bytes and the MD5 {stored.md5}; "
            f"its entry says {size} bytes and {checksum}: check the repository"
        )
    return stored.etag, True


async def _bytes(stores: Stores, lists: BlockLists, blocks: list[Block]) -> AsyncIterator[bytes]:
    async for block in lists.expand(blocks):
        if block.length:
            blobs, name = await stores.located(block.address)
            async with await blobs.get(name, start=block.offset, end=block.offset + block.length) as body:
                async for chunk in body:
                    yield chunk


def _strangers(files: DataFrame, there: Objects, prefix: str) -> DataFrame:
    """What lies at the target and is not among *files*."""
    names = on_driver(_open_and(there, lambda blobs: _names(blobs, prefix)))
    lying = files.sparkSession.createDataFrame([(name,) for name in names], "path string")
    return lying.join(files.select("path"), "path", "left_anti")


def _deleted(gone: DataFrame, objects: Objects, there: Objects) -> int:
    """Delete what vanished. How many files that were."""

    async def remove(stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
        await stores.named[1].delete_many(batch.column("path").to_pylist())
        return batch

    return gone.mapInArrow(on_executors(remove, objects, there), "path string").count()


async def _names(blobs: BlobStore, prefix: str) -> list[str]:
    return [
        each.name
        async for page in blobs.list(prefix)
        for each in page
        if not each.name.startswith((STATE, SUCCESS, MANIFESTS))
    ]


async def _open_and(there: Objects, call: Callable[[BlobStore], Awaitable[Answer]]) -> Answer:
    async with await there.open() as blobs:
        return await call(blobs)


async def _state(there: Objects) -> _State | None:
    """What the last export that came to its end has left there."""

    async def read(blobs: BlobStore) -> _State | None:
        try:
            return msgspec.json.decode(await blobs.read(STATE), type=_State)
        except NotFound:
            return None

    return await _open_and(there, read)


async def _finish(there: Objects, state: _State, done: Exported) -> None:
    async with await there.open() as blobs:
        await blobs.put(STATE, msgspec.json.encode(state))
        await blobs.put(SUCCESS, msgspec.json.encode(done))
