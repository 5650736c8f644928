"""Plans as they are kept: Parquet that anything can read, in the namespace that they are about."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterable, Sequence

import msgspec
import polars as pl

from headwater.blob import BlobStore, NotFound, Prefix, Stat
from headwater.blob.limits import MAX_PAGE
from headwater.engine.repository import Repository
from headwater.garbage.errors import NoSuchPlan
from headwater.garbage.limits import PART
from headwater.garbage.marking import Retained
from headwater.garbage.plan import PLANS, Plan


async def write_objects(blobs: BlobStore, run: str, rows: pl.DataFrame) -> None:
    """Write *rows*, which are in the order of addresses, in parts."""
    for number, start in enumerate(range(0, len(rows), PART)):
        await blobs.put(f"{PLANS}{run}/objects/part-{number:05d}.parquet", _parquet(rows.slice(start, PART)))


async def write_commits(blobs: BlobStore, run: str, retained: Iterable[Retained]) -> None:
    rows = [msgspec.structs.astuple(each) for each in retained]
    frame = pl.DataFrame(rows, schema={"commit": pl.String, "tree": pl.String, "cutoff": pl.Int64}, orient="row")
    await blobs.put(f"{PLANS}{run}/commits/part-00000.parquet", _parquet(frame))


async def write_staged(blobs: BlobStore, run: str, addresses: Sequence[str]) -> str:
    """Write the *addresses* of what is staged, for whoever plans by other means. Returns what the file is called."""
    name = f"{PLANS}{run}/uncommitted/part-00000.parquet"
    await blobs.put(name, _parquet(pl.DataFrame({"address": addresses}, schema={"address": pl.String})))
    return name


async def write_plan(blobs: BlobStore, plan: Plan) -> None:
    """Write the plan itself: from now on there is one."""
    await blobs.put(_plan_name(plan.run), msgspec.json.encode(plan))


async def write_begun(blobs: BlobStore, plan: Plan) -> None:
    """Write down a run that has begun and is to be gone on with elsewhere."""
    await blobs.put(_begun_name(plan.run), msgspec.json.encode(plan))


async def read_begun(repository: Repository, run: str) -> Plan:
    """The run of *repository* that was begun, and has nothing in it; or `NoSuchPlan`."""
    try:
        plan = msgspec.json.decode(await repository.blobs.read(_begun_name(run)), type=Plan)
    except NotFound:
        raise NoSuchPlan(f"no run {run[:80]!r} of repository {repository.name!r} has begun: begin one") from None
    if plan.repository_id != repository.record.id:
        raise NoSuchPlan(f"run {run!r} was begun for another repository, of the name {plan.repository!r}")
    return plan


async def read_plan(repository: Repository, run: str) -> Plan:
    """The plan *run* of *repository*, or `NoSuchPlan`."""
    try:
        plan = msgspec.json.decode(await repository.blobs.read(_plan_name(run)), type=Plan)
    except NotFound:
        raise NoSuchPlan(
            f"there is no plan {run[:80]!r} for repository {repository.name!r}, or it was never finished: make one"
        ) from None
    if plan.repository_id != repository.record.id:
        raise NoSuchPlan(f"plan {run!r} was made for another repository, of the name {plan.repository!r}")
    return plan


async def list_plans(repository: Repository) -> list[Plan]:
    """The finished plans for *repository*, oldest first."""
    found: list[Plan] = []
    async for page in repository.blobs.list(PLANS, delimiter=True):
        for each in page:
            if isinstance(each, Prefix):
                try:
                    found.append(await read_plan(repository, each.name.removeprefix(PLANS).rstrip("/")))
                except NoSuchPlan:
                    continue
    return found


async def parts_of(blobs: BlobStore, plan: Plan) -> list[str]:
    """The names of the files that hold the rows of *plan*, in order."""
    return await _files(blobs, plan.objects_prefix)


async def read_part(blobs: BlobStore, name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(await blobs.read(name)), columns=["address", "size", "modified"])


async def read_commits(blobs: BlobStore, plan: Plan) -> AsyncIterator[Retained]:
    for name in await _files(blobs, plan.commits_prefix):
        frame = pl.read_parquet(io.BytesIO(await blobs.read(name)), columns=["commit", "tree", "cutoff"])
        for row in frame.iter_rows():
            yield Retained(*row)


def done_name(plan: Plan, part: str) -> str:
    """The name of what says that *part*, the name of a file, was swept."""
    return f"{PLANS}{plan.run}/swept/{part.rpartition('/')[2].removesuffix('.parquet')}.json"


async def _files(blobs: BlobStore, prefix: str) -> list[str]:
    found: list[str] = []
    async for page in blobs.list(prefix, page=MAX_PAGE):
        found += [each.name for each in page if isinstance(each, Stat) and each.name.endswith(".parquet")]
    return found


def _plan_name(run: str) -> str:
    return f"{PLANS}{run}/plan.json"


def _begun_name(run: str) -> str:
    return f"{PLANS}{run}/begun.json"


def _parquet(frame: pl.DataFrame) -> bytes:
    sink = io.BytesIO()
    frame.write_parquet(sink, compression="zstd")
    return sink.getvalue()
