"""Making a plan: candidates are listed, what is referred to is struck off, and what is left is written down."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec
import polars as pl
import pyarrow as pa

from headwater.engine.errors import BadRequest
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.garbage.errors import SharedNamespace
from headwater.garbage.limits import MIN_AGE, SAFETY_AGE, SECOND, STRIKE
from headwater.garbage.listing import candidates
from headwater.garbage.marking import Marker
from headwater.garbage.plan import Plan
from headwater.garbage.plans import write_commits, write_objects, write_plan
from headwater.garbage.rules import read_rules
from headwater.staging.cleaning import clean


async def make_plan(lake: Lake, name: str, *, age: float = SAFETY_AGE) -> Plan:
    """What may be deleted from the repository *name*, by its rules. Nothing is deleted.

    *age* is how many seconds an object is kept in any case. `SharedNamespace` if another repository is in the way.
    """
    repository, plan = await begin_run(lake, name, age)
    found = await candidates(repository, plan.cutoff)
    marker = Marker(repository, plan.rules, now=plan.now, since=plan.cutoff)
    rest = await strike(found, marker.look()) if len(found) else found
    return await finish_run(repository, plan, marker, found=len(found), rest=rest)


async def begin_run(lake: Lake, name: str, age: float) -> tuple[Repository, Plan]:
    """The repository, and a plan that has nothing in it yet. `SharedNamespace`, or `BadRequest` if *age* is too low."""
    if age < MIN_AGE:
        raise BadRequest(f"a safety age of {age} seconds: {MIN_AGE} at least, or running writers would lose objects")
    repository = await lake.open(name)
    repository.check_writable()
    await _check_alone(lake, repository)
    await clean(repository.store, repository.partition, repository.outside)
    now = repository.outside.now()
    plan = Plan(
        run=f"{datetime.fromtimestamp(now / SECOND, UTC):%Y%m%dT%H%M%SZ}-{repository.outside.random(4).hex()}",
        repository=name,
        repository_id=repository.record.id,
        marked=now,
        now=now,
        cutoff=now - int(age * SECOND),
        rules=await read_rules(repository),
        candidates=0,
        commits=0,
        segments=0,
        objects=0,
        bytes=0,
    )
    return repository, plan


async def finish_run(repository: Repository, plan: Plan, marker: Marker, *, found: int, rest: pl.DataFrame) -> Plan:
    """Write the plan that deletes *rest*."""
    await write_objects(repository.blobs, plan.run, rest)
    await write_commits(repository.blobs, plan.run, marker.retained.values())
    return await seal_run(
        repository,
        plan,
        commits=len(marker.retained),
        segments=marker.segments,
        found=found,
        objects=len(rest),
        size=int(rest["size"].sum()),
    )


async def seal_run(
    repository: Repository, plan: Plan, *, commits: int, segments: int, found: int, objects: int, size: int
) -> Plan:
    """Write `plan.json`: all else of the plan is there."""
    done = msgspec.structs.replace(
        plan,
        marked=repository.outside.now(),
        candidates=found,
        commits=commits,
        segments=segments,
        objects=objects,
        bytes=size,
    )
    await write_plan(repository.blobs, done)
    return done


async def strike(rows: pl.DataFrame, found: AsyncIterator[pa.Array]) -> pl.DataFrame:
    """Those of *rows* whose addresses are not among what is *found*."""
    gathered: list[pa.Array] = []
    count = 0
    async for addresses in found:
        gathered.append(addresses)
        count += len(addresses)
        if count >= STRIKE:
            rows, gathered, count = _without(rows, gathered), [], 0
    return _without(rows, gathered)


def _without(rows: pl.DataFrame, addresses: list[pa.Array]) -> pl.DataFrame:
    if not addresses:
        return rows
    found = pl.Series("address", pa.chunked_array(addresses, pa.string()), dtype=pl.String)
    return rows.join(found.unique().to_frame(), on="address", how="anti", maintain_order="left")


async def _check_alone(lake: Lake, repository: Repository) -> None:
    """Raise `SharedNamespace` if another repository of the lake has objects where this one's are looked for."""
    own = _place(repository.record.namespace)
    after = ""
    while page := await lake.list(after=after):
        for other in page:
            place = _place(other.namespace)
            inside = place == own or place.startswith((f"{own}/data/", f"{own}/workspaces/"))
            if other.id != repository.record.id and inside:
                raise SharedNamespace(
                    f"repositories {repository.name!r} and {other.name!r} are both in {own}: "
                    "garbage collection cannot tell their objects apart; delete one of the repositories"
                )
        after = page[-1].name


def _place(namespace: str) -> str:
    return namespace.partition("?")[0].rstrip("/")
