"""Workspaces at the engine: what they cost, how they are found, and what becomes of them when committers crash."""

from __future__ import annotations

import asyncio
from itertools import count

import msgspec
import pytest

from headwater import blob, kv
from headwater.blob.namespace import workspace_name, workspace_prefix, workspace_state_name
from headwater.engine import read, write
from headwater.engine.commit import commit
from headwater.engine.errors import BadRequest
from headwater.engine.lake import Lake
from headwater.engine.limits import COMMITTING, LISTED_TOGETHER
from headwater.engine.repository import Repository
from headwater.engine.workspaces import clearing
from headwater.engine.workspaces.beginning import begin, resume
from headwater.engine.workspaces.committing import commit_workspace
from headwater.engine.workspaces.errors import WorkspaceBusy, WorkspaceClosed
from headwater.engine.workspaces.finding import list_workspaces
from headwater.engine.workspaces.ids import WorkspaceRef
from headwater.engine.workspaces.listing import listed
from headwater.engine.workspaces.state import State, read_state, swap_state
from headwater.index import Entry
from headwater.outside import Outside, real_outside
from headwater.staging.errors import Contended, NothingToCommit
from headwater.testing.counting import CountingStore, Trips
from headwater.testing.counting_blobs import CountingBlobs, Requests
from tests.engine.lakes import description

pytestmark = pytest.mark.anyio

_names = count()


class World:
    """A repository over stores that count, at a time that can be set."""

    def __init__(self, keys: CountingStore, blobs: CountingBlobs) -> None:
        self.keys = keys
        self.blobs = blobs
        self.now = 1_700_000_000_000
        real = real_outside()
        self.outside = Outside(now=lambda: self.now, elapsed=real.elapsed, random=real.random, sleep=self._sleep)
        self.repository: Repository

    async def _sleep(self, _: float) -> None:
        await asyncio.sleep(0)

    async def paths(self, ref: str) -> list[str]:
        found = await read.list_entries(self.repository, ref)
        return [each.key.removeprefix("f/") for each in found if isinstance(each, Entry)]


@pytest.fixture
async def world() -> World:
    world = World(CountingStore(await kv.open("mem://")), CountingBlobs(await blob.open("mem://")))

    async def open_blobs(_: str) -> blob.BlobStore:
        return world.blobs

    world.repository = await Lake(world.keys, open_blobs, world.outside).create(f"w{next(_names)}xx", "mem://")
    await write.put(world.repository, "main", "kept", b"kept")
    await commit(world.repository, "main", description())
    return world


@pytest.fixture
async def workspace(world: World) -> WorkspaceRef:
    return await begin(world.repository, "main")


async def test_beginning_one_is_a_read_and_records_nothing(world: World) -> None:
    with world.keys.counted() as trips, world.blobs.counted() as requests:
        await begin(world.repository, "main")
    assert (trips, requests) == (Trips(get=1), Requests())


async def test_a_put_is_one_object_and_two_looks_and_no_trip_to_the_database(
    world: World, workspace: WorkspaceRef
) -> None:
    await write.put(world.repository, str(workspace), "first", b"1")
    with world.keys.counted() as trips, world.blobs.counted() as requests:
        await write.put(world.repository, str(workspace), "a", b"1")
    assert (trips, requests) == (Trips(), Requests(put=1, get=2))
    with world.keys.counted() as trips, world.blobs.counted() as requests:
        assert (await read.stat(world.repository, str(workspace), "a")).size == 1
    assert (trips, requests) == (Trips(), Requests(get=1, stat=2))


async def test_a_commit_is_its_listings_and_one_swap(world: World, workspace: WorkspaceRef) -> None:
    for number in range(30):
        await write.put(world.repository, str(workspace), f"out/{number}", b"1")
    with world.keys.counted() as trips, world.blobs.counted() as requests:
        await commit_workspace(world.repository, workspace, description())
    assert (trips.pipeline, trips.scan, trips.set_if) == (1, 0, 0)
    assert (requests.put, requests.get, requests.copy) == (2, 1, 0)  # the state; and no byte of what is committed
    assert requests.list <= 6


async def test_very_many_objects_are_listed_in_parts_and_in_order(world: World) -> None:
    names = [f"{workspace_prefix('id')}{top:02d}/{low % 7}/{low}" for top in range(40) for low in range(20)]
    names += [workspace_prefix("id") + beside for beside in ("00", "05.txt", "1", "zz")]
    for name in names:
        await world.blobs.put(name, b"")
    with world.blobs.counted() as requests:
        found = await listed(world.blobs, workspace_prefix("id"))
    assert found.column("name").to_pylist() == sorted(names)
    assert 2 < requests.list <= 2 * (LISTED_TOGETHER + 1)
    one = await listed(world.blobs, f"{workspace_prefix('id')}03/")
    assert one.num_rows == 20
    assert (await listed(world.blobs, "nowhere/")).num_rows == 0


async def test_a_listing_goes_on_behind_any_text(world: World, workspace: WorkspaceRef) -> None:
    for path in ("a", "a-b/c", "a/b/c", "b"):
        await write.put(world.repository, str(workspace), path, b"1")
    for after in ("", "a", "a-", "a/", "a//", "a/b\x01", "a/b/c", "./", "zz"):
        found = await read.list_entries(world.repository, str(workspace), after=after)
        assert [each.key.removeprefix("f/") for each in found] == [
            path for path in ("a", "a-b/c", "a/b/c", "b", "kept") if path > after
        ]


async def test_a_committer_that_crashed_is_taken_over_after_a_while(world: World, workspace: WorkspaceRef) -> None:
    await write.put(world.repository, str(workspace), "a", b"1")
    crashed = State(phase="committing", attempt="crashed", since=world.now)
    await swap_state(world.repository, await read_state(world.repository, workspace.id), crashed)
    with pytest.raises(WorkspaceBusy):
        await commit_workspace(world.repository, workspace, description())
    with pytest.raises(WorkspaceBusy):
        await clearing.discard(world.repository, workspace.id)
    with pytest.raises(Contended, match="being committed"):
        await write.put(world.repository, str(workspace), "b", b"1")
    assert await world.paths(str(workspace)) == ["a", "kept"]
    world.now += COMMITTING
    await commit_workspace(world.repository, workspace, description())
    assert await world.paths("main") == ["a", "kept"]


async def test_a_commit_that_landed_unheard_is_found_and_not_made_again(world: World, workspace: WorkspaceRef) -> None:
    await write.put(world.repository, str(workspace), "a", b"1")
    made = await commit_workspace(world.repository, workspace, description())
    forgotten = await read_state(world.repository, workspace.id)
    before = msgspec.structs.replace(forgotten.state, phase="committing", landed=(), since=0)
    await swap_state(world.repository, forgotten, before)
    assert (await commit_workspace(world.repository, workspace, description())).id == made.id
    with pytest.raises(WorkspaceClosed, match=made.id):
        await resume(world.repository, "main", workspace.id)


async def test_a_commit_that_landed_unheard_is_told_once_although_who_found_it_failed(
    world: World, workspace: WorkspaceRef
) -> None:
    async def refuse(*_: object) -> None:
        raise PermissionError

    for path in ("a", "b"):
        await write.put(world.repository, str(workspace), path, b"1")
    made = await commit_workspace(world.repository, workspace, description(), patterns=["a"])
    forgotten = await read_state(world.repository, workspace.id)
    before = msgspec.structs.replace(forgotten.state, phase="committing", landed=(), since=0)
    await swap_state(world.repository, forgotten, before)
    with pytest.raises(PermissionError):
        await commit_workspace(world.repository, workspace, description(), patterns=["b"], check=refuse)
    assert (await commit_workspace(world.repository, workspace, description(), patterns=["a"])).id == made.id
    with pytest.raises(NothingToCommit):
        await commit_workspace(world.repository, workspace, description(), patterns=["a"])


async def test_workspaces_are_found_live_abandoned_or_closed_with_what_they_hold(world: World) -> None:
    old, closed = await begin(world.repository, "main"), await begin(world.repository, "main")
    for each in (old, closed):
        await write.put(world.repository, str(each), "a", b"1")
    await commit_workspace(world.repository, closed, description())
    world.now += 3_600_000
    young = await begin(world.repository, "main")
    await write.delete(world.repository, str(young), ["kept"])
    await world.blobs.put("workspaces/something else/a", b"not ours")
    live = {each.id: each for each in await list_workspaces(world.repository, idle_since=world.now)}
    assert set(live) == {old.id, closed.id, young.id}
    assert (live[closed.id].standing, live[young.id].standing) == ("closed", "live")
    assert live[old.id].standing == "live"  # it was written to, by the clock of its store
    assert live[old.id].prefixes[0] == workspace_prefix(old.id)
    late = real_outside().now() + 3_600_000
    abandoned = [
        each.id for each in await list_workspaces(world.repository, idle_since=late) if each.standing == "abandoned"
    ]
    assert abandoned == sorted([old.id, young.id])
    for identity in abandoned:
        await clearing.discard(world.repository, identity)
        assert await world.blobs.stat(workspace_name(identity, "a")) is None
        assert await world.blobs.stat(workspace_state_name(identity)) is not None
    assert await world.blobs.stat(workspace_name(closed.id, "a")) is not None  # a commit refers to it


async def test_an_entry_of_several_blocks_is_copied_to_a_workspace(world: World, workspace: WorkspaceRef) -> None:
    one, other = await write.store(world.repository, b"one"), await write.store(world.repository, b"other")
    entry = Entry("f/both", blocks=(one.block, other.block), size=8)
    await write.stage(world.repository, str(workspace), entry)
    reading = await read.get(world.repository, str(workspace), "both", start=2, end=5)
    assert b"".join([chunk async for chunk in reading.chunks]) == b"eot"
    found = await read.stat(world.repository, str(workspace), "both")
    assert [block.address for block in found.blocks] == [workspace_name(workspace.id, "both")]


async def test_an_id_that_somebody_made_up_takes_no_writes_and_keeps_nothing(world: World) -> None:
    made_up = WorkspaceRef("main", f"{world.now:012x}-00000000-{'0' * 64}")
    with pytest.raises(BadRequest, match="of another one"):
        await write.put(world.repository, str(made_up), "a", b"1")
    with pytest.raises(BadRequest, match="of another one"):
        await resume(world.repository, "main", made_up.id)
    await world.blobs.put(workspace_name(made_up.id, "a"), b"past us")
    (found,) = await list_workspaces(world.repository, idle_since=0)
    assert (found.id, found.base) == (made_up.id, "")
