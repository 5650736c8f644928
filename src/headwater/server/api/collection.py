"""Garbage collection as clients of lakeFS ask for it: a plan is made, and they are told where it lies.

What they are told are files of a plan as `docs/garbage.md` has them: Parquet, not the formats of lakeFS. Whoever has a
plan deletes what is in it with `hw gc sweep`, which looks again.
"""

from __future__ import annotations

from functools import partial

import msgspec

from headwater.engine.errors import BadRequest
from headwater.server.addresses import namespace_to_client
from headwater.server.api.answers import encode
from headwater.server.api.background import TaskCreation, TaskStatus, status_answer
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, needs
from headwater.server.tasks import Progress

group = Group("internal")

_MAY_PREPARE = needs("retention:PrepareGarbageCollectionCommits", REPOSITORY)


class GarbageCollectionPrepareResponse(msgspec.Struct, frozen=True):
    """A plan: the commits that are retained, and the objects that nothing refers to."""

    run_id: str
    gc_commits_location: str
    gc_addresses_location: str


class PrepareStatusQuery(msgspec.Struct, frozen=True):
    """Which task."""

    id: str


class PrepareGCUncommittedRequest(msgspec.Struct, frozen=True):
    """Clients may go on with a *continuation_token*; there never is one here, for the answer has all of it."""

    continuation_token: str | None = None


class PrepareGCUncommittedResponse(msgspec.Struct, frozen=True):
    """Where the addresses are of all that is staged."""

    run_id: str
    gc_uncommitted_location: str


@group.operation(
    "POST",
    "/repositories/{repository}/gc/prepare_commits",
    "prepareGarbageCollectionCommits",
    _MAY_PREPARE,
    status=201,
)
async def prepare_commits(call: Call) -> GarbageCollectionPrepareResponse:
    """Make a plan of what may be deleted. Nothing is"""
    return await _planned(call)


@group.operation(
    "POST",
    "/repositories/{repository}/gc/prepare_commits/async",
    "prepareGarbageCollectionCommitsAsync",
    _MAY_PREPARE,
    status=202,
)
async def prepare_commits_async(call: Call) -> TaskCreation:
    """Begin to make a plan of what may be deleted"""
    repository = await call.repository()
    return TaskCreation(await call.services.tasks.start("gc", repository.record.id, partial(_plan, call)))


@group.operation(
    "GET",
    "/repositories/{repository}/gc/prepare_commits/status",
    "prepareGarbageCollectionCommitsStatus",
    _MAY_PREPARE,
)
async def prepare_commits_status(call: Call, query: PrepareStatusQuery) -> TaskStatus[GarbageCollectionPrepareResponse]:
    """How the making of a plan stands"""
    task = await call.services.tasks.find("gc", (await call.repository()).record.id, query.id)
    return status_answer(task, GarbageCollectionPrepareResponse)


@group.operation(
    "POST",
    "/repositories/{repository}/gc/prepare_uncommited",
    "prepareGarbageCollectionUncommitted",
    needs("retention:PrepareGarbageCollectionUncommitted", REPOSITORY),
    status=201,
)
async def prepare_uncommitted(call: Call, body: PrepareGCUncommittedRequest) -> PrepareGCUncommittedResponse:
    """Write down the addresses of all that is staged, or is about to be"""
    from headwater.garbage.plans import write_staged  # noqa: PLC0415  (it takes Polars, which takes long to import)
    from headwater.garbage.references import staged  # noqa: PLC0415

    if body.continuation_token:
        raise BadRequest("continuation_token: there is none, for the first answer has all of it")
    repository = await call.repository()
    addresses = sorted({address async for some in staged(repository) for address in some})
    run = f"staged-{call.services.outside.random(8).hex()}"
    name = await write_staged(repository.blobs, run, addresses)
    return PrepareGCUncommittedResponse(run, _place(call, repository.record.namespace, name))


async def _plan(call: Call, progress: Progress) -> bytes:
    made = await _planned(call)
    progress.add(1)
    return encode(made)


async def _planned(call: Call) -> GarbageCollectionPrepareResponse:
    from headwater.garbage import make_plan  # noqa: PLC0415  (it takes Polars, which takes long to import)

    repository = await call.repository()
    plan = await make_plan(call.services.lake, repository.name)
    namespace = repository.record.namespace
    return GarbageCollectionPrepareResponse(
        plan.run, _place(call, namespace, plan.commits_prefix), _place(call, namespace, plan.objects_prefix)
    )


def _place(call: Call, namespace: str, name: str) -> str:
    return f"{namespace_to_client(call.services.storage, namespace)}/{name}"
