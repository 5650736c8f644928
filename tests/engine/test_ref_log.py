"""The log of references: what is in it, what it brings back, and that no crash leaves it and the references apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import count

import pytest

from headwater import blob, kv
from headwater.drive import drive
from headwater.engine import branches, describe, reset, write
from headwater.engine.check import check
from headwater.engine.commit import Description, commit
from headwater.engine.errors import BadRequest
from headwater.engine.lake import Lake
from headwater.engine.limits import PATIENCE
from headwater.engine.ref_log import RefLogEntry, ref_log, undo_ref
from headwater.engine.repository import Repository
from headwater.kv import Store, StoreError
from headwater.outside import Outside
from headwater.refs.errors import RefError, RefExists, RefNotFound
from headwater.staging.errors import StagingError
from headwater.testing.counting import CountingStore, Trips
from headwater.testing.faulty import FaultyStore
from headwater.testing.sim import Simulation, explore, must_catch
from headwater.testing.toxics import ApplyLate, Delay, FailAfter, FailBefore

pytestmark = pytest.mark.anyio

TOXICS = (Delay(0.3, 0.5), FailBefore(0.03), FailAfter(0.05), ApplyLate(0.03, 3.0))
SEEDS = range(120)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store() -> CountingStore:
    return CountingStore(await kv.open("mem://"))


@pytest.fixture
async def repository(store: CountingStore) -> AsyncIterator[Repository]:
    lake = Lake(store, blob.open, outside(count(1)))
    opened = await lake.create("sales", "mem://")
    await put(opened, "main", "a")
    yield opened
    assert (await check(opened)).findings == ()


def outside(numbers: count[int]) -> Outside:
    """A world in which every look at the clock is a second later, and nothing is random."""
    return Outside(
        now=lambda: 1_700_000_000_000 + next(numbers) * 1000,
        elapsed=lambda: 0.0,
        random=lambda size: next(numbers).to_bytes(size, "big"),
        sleep=asyncio.sleep,
    )


async def put(repository: Repository, branch: str, path: str) -> str:
    await write.put(repository, branch, path, path.encode())
    return (await commit(repository, branch, Description(f"put {path}", "tests", repository.outside.now()))).id


async def entries(repository: Repository) -> Sequence[RefLogEntry]:
    return (await ref_log(repository)).entries


async def told(repository: Repository) -> list[tuple[str, str, str]]:
    """What the log tells, oldest first."""
    return [(each.change.action, each.change.name, each.by) for each in reversed(await entries(repository))]


async def test_the_log_of_a_new_repository_is_empty(repository: Repository) -> None:
    assert await entries(repository) == ()


async def test_every_change_of_a_reference_is_logged_with_who_did_it_and_commits_are_not(
    repository: Repository,
) -> None:
    await branches.create_branch(repository, "dev", "main", by="ann")
    await put(repository, "dev", "b")
    await branches.create_tag(repository, "v1", "dev", tagger="bob")
    await reset.hard_reset(repository, "dev", "main", by="cem")
    await reset.reset(repository, "dev")
    await branches.delete_branch(repository, "dev", by="dan")
    await branches.delete_tag(repository, "v1", by="eve")
    assert await told(repository) == [
        ("create", "dev", "ann"),
        ("create", "v1", "bob"),
        ("move", "dev", "cem"),
        ("delete", "dev", "dan"),
        ("delete", "v1", "eve"),
    ]


async def test_a_change_that_is_refused_is_not_logged(repository: Repository) -> None:
    with pytest.raises(RefExists):
        await branches.create_branch(repository, "main", "main")
    with pytest.raises(RefNotFound):
        await branches.delete_tag(repository, "v1")
    assert await entries(repository) == ()


async def test_a_change_tells_the_commits_before_and_after(repository: Repository) -> None:
    before = (await describe.get_branch(repository, "main")).commit
    after = await reset.hard_reset(repository, "main", "main~1")
    [entry] = await entries(repository)
    assert (entry.change.before, entry.change.after) == (before, after.id)


async def test_the_log_comes_in_pages(repository: Repository) -> None:
    for number in range(7):
        await branches.create_branch(repository, f"b{number}", "main")
    names, after = [], ""
    while True:
        page = await ref_log(repository, after=after, amount=3)
        names += [each.change.name for each in page.entries]
        if page.after is None:
            break
        after = page.after
    assert names == [f"b{number}" for number in reversed(range(7))]


async def test_the_commits_of_the_log_cannot_be_named(repository: Repository) -> None:
    await branches.create_branch(repository, "dev", "main")
    [entry] = await entries(repository)
    with pytest.raises(RefNotFound):
        await describe.get_commit(repository, entry.id)
    with pytest.raises(RefNotFound):
        await describe.get_commit(repository, entry.id[:12])


async def test_a_deleted_branch_comes_back_at_its_commit_with_nothing_staged(repository: Repository) -> None:
    await branches.create_branch(repository, "dev", "main")
    head = await put(repository, "dev", "b")
    await write.put(repository, "dev", "c", b"never committed")
    await branches.delete_branch(repository, "dev")
    await undo_ref(repository, (await entries(repository))[0].id, by="ann")
    branch = await describe.get_branch(repository, "dev")
    assert branch.commit == head
    assert branch.clean
    await put(repository, "dev", "d")
    assert (await told(repository))[-1] == ("create", "dev", "ann")


async def test_a_branch_is_not_brought_back_over_one_that_took_its_name(repository: Repository) -> None:
    await branches.create_branch(repository, "dev", "main")
    await branches.delete_branch(repository, "dev")
    deletion = (await entries(repository))[0]
    await branches.create_branch(repository, "dev", "main~1")
    with pytest.raises(RefExists, match="again"):
        await undo_ref(repository, deletion.id)


async def test_a_moved_branch_goes_back_unless_it_went_on(repository: Repository) -> None:
    head = (await describe.get_branch(repository, "main")).commit
    await reset.hard_reset(repository, "main", "main~1")
    move = (await entries(repository))[0]
    await undo_ref(repository, move.id)
    assert (await describe.get_branch(repository, "main")).commit == head
    await reset.hard_reset(repository, "main", "main~1")
    again = (await entries(repository))[0]
    await put(repository, "main", "z")
    with pytest.raises(BadRequest, match="gone on"):
        await undo_ref(repository, again.id)


async def test_a_deleted_tag_comes_back_as_it_was_even_after_another_of_its_name(repository: Repository) -> None:
    tag = await branches.create_tag(
        repository, "v1", "main", message="one", tagger="ann", metadata={"job": "1"}, signing_key=b"k" * 32
    )
    await branches.delete_tag(repository, "v1")
    deletion = (await entries(repository))[0]
    await branches.create_tag(repository, "v1", "main~1", message="two")
    await branches.delete_tag(repository, "v1")
    await undo_ref(repository, deletion.id)
    assert await describe.get_tag(repository, "v1") == tag


async def test_what_was_created_is_not_undone(repository: Repository) -> None:
    await branches.create_branch(repository, "dev", "main")
    with pytest.raises(BadRequest, match="delete it"):
        await undo_ref(repository, (await entries(repository))[0].id)


async def test_a_deleted_tag_is_neither_found_nor_listed_and_its_name_is_free(repository: Repository) -> None:
    await branches.create_tag(repository, "v1", "main", message="one")
    await branches.delete_tag(repository, "v1")
    assert await branches.list_tags(repository) == []
    with pytest.raises(RefNotFound):
        await describe.get_tag(repository, "v1")
    tag = await branches.create_tag(repository, "v1", "main~1", message="two")
    assert await branches.list_tags(repository) == [tag]


async def test_a_change_is_four_trips_and_its_source(repository: Repository, store: CountingStore) -> None:
    await branches.create_branch(repository, "warm", "main")
    with store.counted() as trips:
        await branches.create_branch(repository, "dev", "main")
    assert trips == Trips(get=3, set_if=1, pipeline=1)
    with store.counted() as trips:
        await branches.delete_branch(repository, "dev")
    assert trips == Trips(get=2, set_if=1, pipeline=1)


async def test_a_page_of_the_log_is_three_trips(repository: Repository, store: CountingStore) -> None:
    for number in range(5):
        await branches.create_branch(repository, f"b{number}", "main")
    opened = await Lake(store, blob.open, outside(count(10_000))).open("sales")
    with store.counted() as trips:
        await ref_log(opened)
    assert trips.total <= 4


# Crashes at any await, lost answers, late requests, and several who change the same references at once.


def changing_references(sim: Simulation) -> None:
    """Clients create, delete and move two branches and a tag, and crash; then one more comes by and looks."""
    memory = drive(kv.open("mem://"))
    first = drive(Lake(memory, blob.open, sim_outside(sim)).create("sales", "mem://"))
    drive(put(first, "main", "a"))
    faulty = FaultyStore(memory, sim.random, TOXICS, note=sim.note)
    acknowledged: list[tuple[str, str, str]] = []

    async def opened(store: Store) -> Repository:
        return await Lake(store, blob.open, sim_outside(sim)).open("sales")

    async def client(number: int) -> None:
        repository = await opened(memory)
        repository = await opened_over(repository, faulty, sim)
        for step in range(4):
            by = f"{sim.random.randrange(10**9)}"
            action, name = sim.random.choice(ACTIONS)
            try:
                await act(repository, action, name, by)
            except (RefError, StoreError, StagingError) as error:
                sim.note("{} {} was refused: {!r}", action, name, error)
                continue
            sim.note("client {} step {}: {} {} acknowledged", number, step, action, name)
            acknowledged.append((action, name, by))

    for number in range(4):
        sim.spawn(f"client-{number}", client(number), crash=0.02)
    sim.run()

    async def look() -> tuple[Repository, list[RefLogEntry]]:
        await asyncio.sleep(PATIENCE * 2)
        repository = await opened(memory)
        return repository, list(reversed((await ref_log(repository)).entries))

    looking = sim.spawn("who comes next", look())
    sim.run()
    repository, logged = looking.result()
    told_of: list[tuple[str, str, str]] = [(each.change.action, each.change.name, each.by) for each in logged]
    assert [each for each in acknowledged if told_of.count(each) != 1] == [], "acknowledged, and not logged once"
    last = {(each.change.kind, each.change.name): each.change for each in logged}
    for name in ("main", "dev"):
        record = drive(repository.branches.find(name))
        change = last.get(("branch", name))
        exists = name == "main" if change is None else change.action != "delete"
        assert (record is not None and not record.branch.dropped) == exists, f"{name} is not as the log has it"
        if record is not None and exists and change is not None:
            found = (record.branch.incarnation, record.branch.commit)
            assert found == (change.mark, change.after), f"{name} was changed, and that is not logged"
    tag = last.get(("tag", "v1"))
    expected = [tag.after] if tag is not None and tag.after else []
    assert [each.target for each in drive(branches.list_tags(repository))] == expected, "v1 is not as the log has it"
    state: dict[tuple[str, str], bool] = {("branch", "main"): True}
    for each in logged:
        key = (each.change.kind, each.change.name)
        assert state.get(key, False) == (each.change.action != "create"), f"{each.change} comes out of order"
        state[key] = each.change.action != "delete"


ACTIONS = [("create", "dev"), ("delete", "dev"), ("move", "dev"), ("move", "main"), ("create", "v1"), ("delete", "v1")]


async def act(repository: Repository, action: str, name: str, by: str) -> None:
    match action, name:
        case "create", "v1":
            await branches.create_tag(repository, name, "main", tagger=by)
        case "delete", "v1":
            await branches.delete_tag(repository, name, by=by)
        case "create", _:
            await branches.create_branch(repository, name, "main", by=by)
        case "delete", _:
            await branches.delete_branch(repository, name, by=by)
        case _:
            await reset.hard_reset(repository, name, "main", by=by)


async def opened_over(repository: Repository, store: Store, sim: Simulation) -> Repository:
    """*repository* over another store: its record is read undisturbed, which is not what is tried here."""
    return Repository(
        repository.record,
        store=store,
        blobs=repository.blobs,
        index=repository.empty_index().store,
        open_blobs=blob.open,
        outside=sim_outside(sim),
        metrics=repository.metrics,
    )


def sim_outside(sim: Simulation) -> Outside:
    return Outside(
        now=lambda: 1_700_000_000_000 + int(sim.time * 1000),
        elapsed=lambda: sim.time,
        random=sim.random.randbytes,
        sleep=asyncio.sleep,
    )


def test_a_change_is_logged_and_done_or_neither_whoever_crashes() -> None:
    explore(changing_references, SEEDS)


def test_an_intention_that_is_dropped_without_voiding_its_swap_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr("headwater.engine.ref_changes.void", nothing)
    assert must_catch("the swap is voided", changing_references, range(200)).tried <= 100


def test_an_intention_that_is_dropped_without_a_look_at_its_mark_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.engine.ref_changes.was_made", lambda *_: False)
    assert must_catch("the mark is looked at", changing_references, range(200)).tried <= 20
