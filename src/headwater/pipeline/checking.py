"""Checking that what a reference promises is there: every object, with its size, and its content if asked for."""

from __future__ import annotations

import hashlib
import re

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from headwater.blob import BlobError, NotFound
from headwater.engine.errors import BadRequest
from headwater.pipeline.executing import Stores, columns, on_executors, side_by_side
from headwater.pipeline.limits import SAMPLE
from headwater.pipeline.place import Place
from headwater.pipeline.reading import entries
from headwater.pipeline.remote import objects_at

MD5 = re.compile(r"[0-9a-f]{32}")

PROBLEMS = T.StructType([T.StructField(name, T.StringType()) for name in ("path", "address", "problem")])


class Problem(msgspec.Struct, frozen=True):
    """An object that is not as its entry says."""

    path: str
    address: str
    problem: str


class Checked(msgspec.Struct, frozen=True):
    """What a check looked at, and what it found. Of very many problems some are listed, and all counted."""

    entries: int
    bytes: int
    problems: int
    some: tuple[Problem, ...]

    @property
    def sound(self) -> bool:
        return self.problems == 0


def check_objects(
    spark: SparkSession,
    place: Place,
    ref: str,
    *,
    prefix: str = "",
    sample: float = 1.0,
    content: bool = False,
) -> Checked:
    """Ask for every object of *ref*, or for a *sample* of them, a fraction: is it there, and as long as it must be?

    With *content* bytes are read, and compared with checksums that are an MD5; others are of the store's making, or of
    the parts of a growing file, and tell nothing about bytes.
    """
    if not 0 < sample <= 1:
        raise BadRequest(f"sample={sample}: a fraction above 0, up to 1")
    chosen = entries(spark, place, ref, prefix=prefix)
    if sample < 1:
        chosen = chosen.sample(sample, seed=0)
    chosen = chosen.select("path", "size", "checksum", "address", "blocks").persist()
    try:
        counted = chosen.agg(F.count("*"), F.sum("size")).collect()[0]
        problems = _problems(place, chosen, content=content).persist()
        listed = problems.orderBy("path").limit(SAMPLE).collect()
        return Checked(
            int(counted[0]),
            int(counted[1] or 0),
            problems.count(),
            tuple(Problem(row.path, row.address, row.problem) for row in listed),
        )
    finally:
        chosen.unpersist()


def _problems(place: Place, chosen: DataFrame, *, content: bool) -> DataFrame:
    objects = objects_at(place)

    async def look(stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
        async def one(row: tuple[str, int, str | None, str | None, list[dict[str, object]] | None]) -> list[Problem]:
            path, size, checksum, address, blocks = row
            if address is None:
                return [found for each in blocks or () if (found := await _block(stores, path, each)) is not None]
            problem = await _whole(stores, address, size, checksum if content else None)
            return [] if problem is None else [Problem(path, address, problem)]

        rows = columns(batch, "path", "size", "checksum", "address", "blocks")
        found = [problem for some in await side_by_side(rows, one) for problem in some]
        told = {name: pa.array([getattr(each, name) for each in found], pa.string()) for name in PROBLEMS.names}
        return pa.RecordBatch.from_pydict(told)

    return chosen.mapInArrow(on_executors(look, objects), PROBLEMS)


async def _whole(stores: Stores, address: str, size: int, checksum: str | None) -> str | None:
    """What is wrong with the object at *address*, if anything."""
    try:
        blobs, name = await stores.located(address)
        found = await blobs.stat(name)
        if found is None:
            return "it is not there"
        if found.size != size:
            return f"it has {found.size} bytes, and its entry says {size}"
        if checksum is None or not MD5.fullmatch(checksum):
            return None
        digest = hashlib.md5(usedforsecurity=False)
        async with await blobs.get(name) as body:
            async for chunk in body:
                digest.update(chunk)
    except NotFound:
        return "it is not there"
    except BlobError as error:
        return f"it cannot be read: {error}"
    return None if digest.hexdigest() == checksum else f"its bytes have the MD5 {digest.hexdigest()}, not {checksum}"


async def _block(stores: Stores, path: str, block: dict[str, object]) -> Problem | None:
    """What is wrong with a piece of a file: the object must reach as far."""
    address, end = str(block["address"]), int(str(block["offset"])) + int(str(block["length"]))
    blobs, name = await stores.located(address)
    found = await blobs.stat(name)
    if found is None:
        return Problem(path, address, "it is not there")
    if not address.startswith("meta/") and found.size < end:
        return Problem(path, address, f"it has {found.size} bytes, and a block ends at {end}")
    return None
