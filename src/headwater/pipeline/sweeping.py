"""Sweeping on executors: the driver looks, tasks delete, for as long as a look is good; then the driver looks again.

What is deleted, spared, noted and taken up again is what the sweep of one process would: `headwater.garbage.sweeping`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from headwater.blob import BlobStore
from headwater.garbage import Plan, Swept, read_plan
from headwater.garbage.limits import BATCH, LOOK_EVERY
from headwater.garbage.plans import read_part
from headwater.garbage.references import forget_copies
from headwater.garbage.sweeping import Looks, Progress, Spare, note_done, waiting_parts
from headwater.garbage.workspaces import close_abandoned
from headwater.outside import real_outside
from headwater.pipeline.executing import Stores, on_executors
from headwater.pipeline.limits import PACE
from headwater.pipeline.place import Driver, Place, opened
from headwater.pipeline.remote import served


class _Part(msgspec.Struct, frozen=True):
    """A file of the plan on its way: what came of its rows up to *reached*, of how many."""

    name: str
    reached: int = 0
    rows: int | None = None
    deleted: int = 0
    bytes: int = 0
    spared: int = 0


_TOLD = "name string, reached long, rows long, deleted long, bytes long, spared long"


class _Orders(msgspec.Struct, frozen=True):
    """What the tasks of one round do: each the parts in its place, for *seconds*, at *rate* objects a second."""

    parts: tuple[tuple[_Part, ...], ...]
    spare: Spare
    seconds: float
    rate: float | None
    dry_run: bool


def sweep_garbage(
    spark: SparkSession,
    place: Place,
    run: str,
    *,
    rate: float | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Swept:
    """Delete on executors what the plan *run* says, at most *rate* objects a second, all of them together.

    Before each round there is a look: what came to be referred to since the plan is spared. A round is as long as a
    look is good, and has as many tasks as run at once. A part of the plan that was swept is not swept again, so this
    may be called until it returns. With *dry_run* it looks and counts, and deletes nothing. A server sweeps itself.
    """
    if place.endpoint is not None:
        with served(place) as remote:
            return remote.run(remote.repository.garbage.sweep(run, rate=rate, dry_run=dry_run))
    with opened(place) as driver:
        repository = driver.repository
        repository.check_writable()
        plan = driver.run(read_plan(repository, run))
        if not dry_run:
            driver.run(close_abandoned(repository, plan.cutoff))
        looks = Looks(repository, plan, dry_run=dry_run)
        waiting = [_Part(name) for name in driver.run(waiting_parts(repository, plan))]
        swept = Swept(plan.run, dry_run)
        while waiting:
            told = _round(spark, driver, waiting, driver.run(looks.now()), rate=rate, dry_run=dry_run)
            swept = _sum(swept, waiting, told)
            waiting = [part for part in told if part.rows is None or part.reached < part.rows]
            if not dry_run:
                _note(driver, plan, [part for part in told if part not in waiting])
            if progress is not None:
                progress(swept)
        if not dry_run:
            driver.run(forget_copies(repository, plan.cutoff))
        return swept


def _round(
    spark: SparkSession, driver: Driver, waiting: Sequence[_Part], spare: Spare, *, rate: float | None, dry_run: bool
) -> list[_Part]:
    """How far the tasks of a round came with each of the parts that are *waiting*."""
    tasks = min(len(waiting), spark.sparkContext.defaultParallelism)
    shares = tuple(tuple(waiting[number::tasks]) for number in range(tasks))
    orders = _Orders(shares, spare, LOOK_EVERY, None if rate is None else rate / tasks, dry_run)
    numbers = spark.range(0, tasks, 1, tasks)  # a row a task
    told = numbers.mapInArrow(on_executors(partial(_follow, orders), driver.objects), _TOLD).collect()
    return sorted((_Part(**row.asDict()) for row in told), key=lambda part: part.name)


def _sum(swept: Swept, before: Sequence[_Part], after: Sequence[_Part]) -> Swept:
    gone = {
        name: getattr(swept, name) + sum(getattr(part, name) for part in after) - sum(getattr(p, name) for p in before)
        for name in ("deleted", "bytes", "spared")
    }
    return msgspec.structs.replace(swept, **gone, parts=swept.parts + sum(part.reached == part.rows for part in after))


def _note(driver: Driver, plan: Plan, done: Sequence[_Part]) -> None:
    for part in done:
        of_part = Swept(plan.run, False, part.deleted, part.bytes, part.spared)  # noqa: FBT003  (it did delete)
        driver.run(note_done(driver.repository, plan, part.name, of_part))


async def _follow(orders: _Orders, stores: Stores, batch: pa.RecordBatch) -> pa.RecordBatch:
    """What runs in a task: its parts, one after the other, until the look that they rely on is no longer good."""
    outside = real_outside()
    until = outside.elapsed() + orders.seconds
    [number] = batch.column("id").to_pylist()
    told: list[_Part] = []
    for part in orders.parts[number]:
        over = outside.elapsed() >= until
        told.append(part if over else await _sweep_part(orders, stores.named[0], part, until))
    return pa.RecordBatch.from_pylist([msgspec.structs.asdict(part) for part in told], schema=_TOLD_ARROW)


async def _sweep_part(orders: _Orders, blobs: BlobStore, part: _Part, until: float) -> _Part:
    outside = real_outside()
    rows = await read_part(blobs, part.name)
    part = msgspec.structs.replace(part, rows=len(rows))
    size = BATCH if orders.rate is None else max(1, min(BATCH, int(orders.rate * PACE)))
    while part.reached < len(rows) and outside.elapsed() < until:
        began = outside.elapsed()
        batch = rows.slice(part.reached, size)
        going = orders.spare.going(batch)
        if not orders.dry_run:
            await blobs.delete_many(going["address"].to_list())
        part = msgspec.structs.replace(
            part,
            reached=part.reached + len(batch),
            deleted=part.deleted + len(going),
            bytes=part.bytes + int(going["size"].sum()),
            spared=part.spared + len(batch) - len(going),
        )
        if orders.rate is not None and not orders.dry_run:
            await asyncio.sleep(max(0.0, len(going) / orders.rate - (outside.elapsed() - began)))
    return part


_TOLD_ARROW = pa.schema(
    [("name", pa.string()), *((name, pa.int64()) for name in ("reached", "rows", "deleted", "bytes", "spared"))]
)
