"""Garbage collection that is shared out: executors list and read the storage, and the server tells what only it knows.

A run begins, which tells what to list; references are looked at, and after the segments of retained commits were read,
notes of copies; then what executors wrote down becomes a plan. Plans are swept by the server, which looks again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import msgspec
import pyarrow as pa

from headwater.garbage.limits import SAFETY_AGE
from headwater.garbage.plan import Plan, Swept
from headwater.sdk.wire.replies import Begun
from headwater.server.api.answers import encode
from headwater.server.api.arrow import ARROW, arrow_stream
from headwater.server.api.background import TaskCreation, TaskStatus, status_answer
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, needs
from headwater.server.http import Response
from headwater.server.tasks import Progress

group = Group("sweeping")

KIND = "sweep"

_RUNS = "/repositories/{repository}/gc/runs"
_RUN = f"{_RUNS}/{{run}}"
_MAY_PLAN = needs("retention:PrepareGarbageCollectionCommits", REPOSITORY)
_MAY_SWEEP = needs("retention:SweepGarbage", REPOSITORY)

_ADDRESSES = pa.schema([pa.field("address", pa.string())])


class RunCreation(msgspec.Struct, frozen=True):
    """A run that keeps whatever was written or copied within *age* seconds."""

    age: float = SAFETY_AGE


class RunResult(msgspec.Struct, frozen=True):
    """What was found: candidates, segments that were read, and the objects, with their bytes, that are to go."""

    candidates: int
    segments: int
    objects: int
    bytes: int


class SweepCreation(msgspec.Struct, frozen=True):
    """How to sweep: at most *rate* objects a second, or without deleting any."""

    rate: float | None = None
    dry_run: bool = False


class SweepQuery(msgspec.Struct, frozen=True):
    """Which task."""

    id: str


@group.operation("POST", _RUNS, "beginGarbageCollection", _MAY_PLAN, status=201)
async def begin(call: Call, body: RunCreation) -> Begun:
    """Begin a run: from when on things are kept, and which prefixes of the storage are to be listed"""
    from headwater.garbage.listing import old_parts  # noqa: PLC0415  (it takes Polars, which takes long to import)
    from headwater.garbage.planning import begin_run  # noqa: PLC0415
    from headwater.garbage.plans import write_begun  # noqa: PLC0415

    repository, plan = await begin_run(call.services.lake, (await call.repository()).name, body.age)
    await write_begun(repository.blobs, plan)
    return Begun(plan, await old_parts(repository, plan.cutoff))


@group.operation("POST", f"{_RUN}/references", "lookAtReferences", _MAY_PLAN)
async def look_at_references(call: Call) -> Response:
    """The names that staging and the changes of retained commits refer to, as a stream of Arrow. The commits are
    written down beside the run, with the trees that are left to be read"""
    plan = await _begun(call)
    return Response(200, (ARROW,), arrow_stream(_ADDRESSES, _references(call, plan)))


@group.operation("POST", f"{_RUN}/notes", "lookAtNotes", _MAY_PLAN)
async def look_at_notes(call: Call) -> Response:
    """The names that were copied lately, as a stream of Arrow: to be asked for after all else was read"""
    plan = await _begun(call)
    return Response(200, (ARROW,), arrow_stream(_ADDRESSES, _notes(call, plan)))


@group.operation("POST", f"{_RUN}/plan", "finishGarbageCollection", _MAY_PLAN, status=201)
async def finish(call: Call, body: RunResult) -> Plan:
    """Make a plan of what executors have written down"""
    from headwater.garbage.planning import seal_run  # noqa: PLC0415
    from headwater.garbage.plans import read_commits  # noqa: PLC0415

    plan = await _begun(call)
    repository = await call.repository()
    commits = [each async for each in read_commits(repository.blobs, plan)]
    return await seal_run(
        repository,
        plan,
        commits=len(commits),
        segments=body.segments,
        found=body.candidates,
        objects=body.objects,
        size=body.bytes,
    )


@group.operation("POST", f"{_RUN}/sweep", "sweepGarbage", _MAY_SWEEP, status=202)
async def sweep_plan(call: Call, body: SweepCreation) -> TaskCreation:
    """Begin to delete what a plan says, after another look. Begun again, it goes on where it was"""
    from headwater.garbage.plans import read_plan  # noqa: PLC0415

    repository = await call.repository()
    repository.check_writable()
    plan = await read_plan(repository, call["run"])
    work = partial(_sweep, call, repository.name, body)
    return TaskCreation(await call.services.tasks.start(KIND, repository.record.id, work, subject=plan.run))


@group.operation("GET", f"{_RUN}/sweep", "sweepGarbageStatus", _MAY_SWEEP)
async def sweep_status(call: Call, query: SweepQuery) -> TaskStatus[Swept]:
    """How a sweep stands"""
    scope = (await call.repository()).record.id
    return status_answer(await call.services.tasks.find(KIND, scope, query.id, subject=call["run"]), Swept)


@group.operation("DELETE", f"{_RUN}/sweep", "sweepGarbageCancel", _MAY_SWEEP, status=204)
async def sweep_cancel(call: Call, query: SweepQuery) -> None:
    """Stop a sweep. What was deleted stays deleted"""
    scope = (await call.repository()).record.id
    await call.services.tasks.cancel(KIND, scope, query.id, subject=call["run"])


async def _begun(call: Call) -> Plan:
    from headwater.garbage.plans import read_begun  # noqa: PLC0415

    return await read_begun(await call.repository(), call["run"])


async def _references(call: Call, plan: Plan) -> AsyncIterator[pa.RecordBatch]:
    from headwater.garbage.marking import Marker  # noqa: PLC0415
    from headwater.garbage.plans import write_commits  # noqa: PLC0415

    repository = await call.repository()
    marker = Marker(repository, plan.rules, now=plan.now, since=plan.cutoff)
    async for names in marker.look_above_trees():
        yield _batch(names)
    await write_commits(repository.blobs, plan.run, marker.retained.values())


async def _notes(call: Call, plan: Plan) -> AsyncIterator[pa.RecordBatch]:
    from headwater.garbage.marking import Marker  # noqa: PLC0415

    marker = Marker(await call.repository(), plan.rules, now=plan.now, since=plan.cutoff)
    yield _batch(await marker.notes())


def _batch(names: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([names], schema=_ADDRESSES)


async def _sweep(call: Call, name: str, body: SweepCreation, progress: Progress) -> bytes:
    from headwater.garbage.sweeping import sweep  # noqa: PLC0415

    def told(swept: Swept) -> None:
        progress.add(swept.deleted - progress.count)

    done = await sweep(call.services.lake, name, call["run"], rate=body.rate, dry_run=body.dry_run, progress=told)
    return encode(done)
