"""Sweeping: what a plan says is deleted, after a second look, in batches, at a bounded rate; killed, it can go on."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import polars as pl

from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.garbage.limits import BATCH, LOOK_EVERY, SETTLE, SKEW
from headwater.garbage.marking import Marker
from headwater.garbage.plan import Plan, Swept
from headwater.garbage.plans import done_name, parts_of, read_commits, read_part, read_plan
from headwater.garbage.references import forget_copies
from headwater.garbage.workspaces import close_abandoned, live_workspaces

Progress = Callable[[Swept], None]


class Spare(msgspec.Struct, frozen=True):
    """What a look found that is not to be deleted: addresses, and whatever begins with one of *prefixes*."""

    addresses: pl.DataFrame
    prefixes: tuple[str, ...]

    def going(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Those of *rows* of a plan that may be deleted."""
        going = rows.join(self.addresses, on="address", how="anti")
        for prefix in self.prefixes:
            going = going.filter(~pl.col("address").str.starts_with(prefix))
        return going


class Looks:
    """Looks at what is referred to since a plan was marked: before anything is deleted, and time and again."""

    def __init__(self, repository: Repository, plan: Plan, *, dry_run: bool) -> None:
        self._repository = repository
        self._plan = plan
        self._dry_run = dry_run
        self._marker: Marker | None = None
        self._spare = Spare(pl.DataFrame(schema={"address": pl.String}), ())
        self._looked = 0.0

    async def lately(self) -> Spare:
        """What the last look found, which was not longer ago than `LOOK_EVERY`."""
        if self._marker is not None and self._repository.outside.elapsed() - self._looked < LOOK_EVERY:
            return self._spare
        return await self.now()

    async def now(self) -> Spare:
        """What a look finds, together with what those before it found. The first settles, if the plan is fresh."""
        outside = self._repository.outside
        if self._marker is None:
            self._marker = await self._marker_of_plan()
            if outside.now() - self._plan.marked < SKEW and not self._dry_run:
                await outside.sleep(SETTLE)
        found = [pl.Series("address", addresses, dtype=pl.String).to_frame() async for addresses in self._marker.look()]
        live = await live_workspaces(self._repository, self._plan.cutoff)
        self._spare = Spare(pl.concat([self._spare.addresses, *found]).unique(), live.prefixes)
        self._looked = outside.elapsed()
        return self._spare

    async def _marker_of_plan(self) -> Marker:
        known = [each async for each in read_commits(self._repository.blobs, self._plan)]
        return Marker(self._repository, self._plan.rules, now=self._plan.now, since=self._plan.cutoff, known=known)


async def waiting_parts(repository: Repository, plan: Plan) -> list[str]:
    """The files of *plan* that no sweep has done yet, in order."""
    parts = await parts_of(repository.blobs, plan)
    return [part for part in parts if await repository.blobs.stat(done_name(plan, part)) is None]


async def note_done(repository: Repository, plan: Plan, part: str, of_part: Swept) -> None:
    """Write down that *part* was swept, and what came of it."""
    told = {name: getattr(of_part, name) for name in ("deleted", "bytes", "spared")}
    await repository.blobs.put(done_name(plan, part), msgspec.json.encode(told))


async def sweep(
    lake: Lake,
    name: str,
    run: str,
    *,
    rate: float | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Swept:
    """Delete what the plan *run* of the repository *name* says, at most *rate* objects a second.

    A part of the plan that was swept is not swept again, so it may be called until it returns. With *dry_run* it looks
    and counts, and deletes nothing.
    """
    repository = await lake.open(name)
    repository.check_writable()
    plan = await read_plan(repository, run)
    sweeping = _Sweeping(repository, plan, rate, dry_run=dry_run, progress=progress)
    return await sweeping.run()


class _Sweeping:
    """One sweep under way."""

    def __init__(
        self, repository: Repository, plan: Plan, rate: float | None, *, dry_run: bool, progress: Progress | None
    ) -> None:
        self._repository = repository
        self._plan = plan
        self._rate = rate
        self._progress = progress
        self._swept = Swept(plan.run, dry_run)
        self._looks = Looks(repository, plan, dry_run=dry_run)
        self._began = repository.outside.elapsed()

    async def run(self) -> Swept:
        if not self._swept.dry_run:
            await close_abandoned(self._repository, self._plan.cutoff)
        for part in await waiting_parts(self._repository, self._plan):
            await self._sweep_part(part)
        if not self._swept.dry_run:
            await forget_copies(self._repository, self._plan.cutoff)
        return self._swept

    async def _sweep_part(self, part: str) -> None:
        rows = await read_part(self._repository.blobs, part)
        before = self._swept
        for start in range(0, len(rows), BATCH):
            batch = rows.slice(start, BATCH)
            going = (await self._looks.lately()).going(batch)
            if not self._swept.dry_run:
                await self._repository.blobs.delete_many(going["address"].to_list())
            self._swept = msgspec.structs.replace(
                self._swept,
                deleted=self._swept.deleted + len(going),
                bytes=self._swept.bytes + int(going["size"].sum()),
                spared=self._swept.spared + len(batch) - len(going),
            )
            if self._progress is not None:
                self._progress(self._swept)
            await self._pace()
        self._swept = msgspec.structs.replace(self._swept, parts=self._swept.parts + 1)
        if not self._swept.dry_run:
            gone = {name: getattr(self._swept, name) - getattr(before, name) for name in ("deleted", "bytes", "spared")}
            await note_done(self._repository, self._plan, part, msgspec.structs.replace(before, **gone))

    async def _pace(self) -> None:
        """Wait until what was deleted so far is within the rate."""
        if self._rate is None:
            return
        ahead = (self._swept.deleted / self._rate) - (self._repository.outside.elapsed() - self._began)
        if ahead > 0:
            await self._repository.outside.sleep(ahead)
