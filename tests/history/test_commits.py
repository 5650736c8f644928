"""The commit store: trips, memory, landing, prefixes, and damage found out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater import kv
from headwater.drive import drive
from headwater.history import (
    AmbiguousPrefix,
    BadName,
    Commit,
    CommitNotFound,
    CommitStore,
    CorruptRecord,
    InvalidRecord,
    NotFound,
    is_ancestor,
)
from headwater.history.limits import MIN_PREFIX
from headwater.kv import Set
from headwater.testing.counting import Trips
from tests.history.world import PARTITION, PATIENTLY, World


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def land(world: World, inherited: bytes | None) -> Commit:
    """One more commit on branch 0, with an inherited delta."""
    head = world.heads[0]
    commit = Commit.create([head], world.incarnations[0], message="", committer="", time=1, inherited=inherited)
    await world.store.pipeline(world.commits.landing(commit, head, inherited))
    world.heads[0] = world.landed[commit.id] = commit
    return commit


async def damage(world: World, prefix: bytes, identity: str) -> None:
    """Flip a bit in the middle of what is stored."""
    key = prefix + bytes.fromhex(identity)
    found = await world.store.get(PARTITION, key)
    assert found is not None
    middle = len(found.value) // 2
    flipped = found.value[:middle] + bytes([found.value[middle] ^ 1]) + found.value[middle + 1 :]
    await world.store.set(PARTITION, key, flipped)


@pytest.mark.anyio
class TestReading:
    async def test_many_commits_are_one_trip_and_then_none(self) -> None:
        world = await World.begin()
        await world.commit_many(20)
        identities = list(world.landed)
        commits = world.forget()
        with world.store.counted() as trips:
            assert await commits.get_many(identities[::-1]) == list(world.landed.values())[::-1]
            assert trips == Trips(get_many=1)
            assert await commits.get_many(identities) == list(world.landed.values())
        assert trips == Trips(get_many=1)

    async def test_only_what_is_not_known_is_fetched(self) -> None:
        world = await World.begin()
        last = await world.commit()
        commits = world.forget()
        await commits.get(last.id)
        with world.store.counted() as trips:
            assert await commits.get_many(list(world.landed)) == list(world.landed.values())
        assert trips == Trips(get=1)

    async def test_memory_is_bounded_and_nothing_depends_on_it(self) -> None:
        world = await World.begin()
        await world.commit_many(20)
        commits = CommitStore(world.store, PARTITION, cache_bytes=10_000)
        for commit in world.landed.values():
            assert await commits.get(commit.id) == commit
        cached = [commit for commit in world.landed.values() if commits.cached(commit.id)]
        assert 1 <= len(cached) < 6
        assert world.heads[0] in cached
        assert await commits.get_many(list(world.landed)) == list(world.landed.values())

    async def test_an_absent_commit_is_named(self) -> None:
        world = await World.begin()
        with pytest.raises(CommitNotFound, match="ab" * 32):
            await world.commits.get_many([world.heads[0].id, "ab" * 32])
        assert await world.commits.find(["ab" * 32]) == {}

    async def test_what_is_no_id_is_told_so(self) -> None:
        world = await World.begin()
        with pytest.raises(InvalidRecord, match="64 lower-case hex digits"):
            await world.commits.get("main")

    async def test_a_damaged_commit_is_named_and_never_served(self) -> None:
        world = await World.begin()
        await damage(world, b"commit/", world.heads[0].id)
        for _ in range(2):
            with pytest.raises(CorruptRecord, match=world.heads[0].id):
                await world.forget().get(world.heads[0].id)


@pytest.mark.anyio
class TestDeltas:
    async def test_a_commit_and_its_delta_are_one_trip_and_then_none(self) -> None:
        world = await World.begin()
        commit = await land(world, b"inherited")
        commits = world.forget()
        with world.store.counted() as trips:
            assert await commits.get_with_delta(commit.id) == (commit, b"inherited")
            assert trips == Trips(get_many=1)
            assert await commits.get_with_delta(commit.id) == (commit, b"inherited")
        assert trips == Trips(get_many=1)

    async def test_a_commit_that_is_known_costs_a_trip_for_its_delta(self) -> None:
        world = await World.begin()
        commit = await land(world, b"inherited")
        commits = world.forget()
        await commits.get(commit.id)
        with world.store.counted() as trips:
            assert await commits.get_with_delta(commit.id) == (commit, b"inherited")
        assert trips == Trips(get=1)

    async def test_a_commit_without_a_delta_is_told_from_one_with_an_empty_one(self) -> None:
        world = await World.begin()
        without, empty = await land(world, None), await land(world, b"")
        commits = world.forget()
        assert await commits.get_with_delta(without.id) == (without, None)
        assert await commits.get_with_delta(empty.id) == (empty, b"")

    async def test_what_was_just_landed_need_not_be_read(self) -> None:
        world = await World.begin()
        commit = await land(world, b"inherited")
        commits = world.forget()
        commits.remember(commit, b"inherited")
        with world.store.counted() as trips:
            assert await commits.get_with_delta(commit.id) == (commit, b"inherited")
        assert trips == Trips()

    async def test_a_damaged_or_lost_delta_is_named_and_never_served(self) -> None:
        world = await World.begin()
        commit = await land(world, b"inherited")
        await damage(world, b"delta/", commit.id)
        with pytest.raises(CorruptRecord, match=f"delta of commit {commit.id} is damaged"):
            await world.forget().get_with_delta(commit.id)
        with pytest.raises(CorruptRecord, match="is damaged"):
            await world.forget().delta(commit)
        await world.store.delete(PARTITION, b"delta/" + bytes.fromhex(commit.id))
        with pytest.raises(CorruptRecord, match="is not there"):
            await world.forget().get_with_delta(commit.id)


@pytest.mark.anyio
class TestLanding:
    async def test_the_commit_comes_first_and_the_parents_clock_last(self) -> None:
        world = await World.begin()
        head = world.heads[0]
        commit = Commit.create([head], world.incarnations[0], message="", committer="", time=0, inherited=b"delta")
        operations = world.commits.landing(commit, head, b"delta")
        assert all(isinstance(operation, Set) and operation.partition == PARTITION for operation in operations)
        assert [operation.key for operation in operations] == [
            b"commit/" + bytes.fromhex(commit.id),
            b"delta/" + bytes.fromhex(commit.id),
            b"clock/" + world.incarnations[0] + b"\xff" * 8,
        ]

    async def test_a_commit_that_lost_is_never_indexed(self) -> None:
        world = await World.begin()
        await world.commit_many(3)
        lost = await world.lose()
        await world.commit_many(3)
        assert lost.clock in [commit.clock for commit in world.landed.values()]
        indexed = [
            entry.value.hex()
            async for page in world.store.scan(PARTITION, b"clock/")
            for entry in page
            if entry.key.startswith(b"clock/")
        ]
        assert indexed == [commit.id for commit in world.first_parents(world.heads[0])[1:]]

    async def test_a_commit_lands_on_its_first_parent_with_what_it_was_made_of(self) -> None:
        world = await World.begin()
        head = world.heads[0]
        commit = Commit.create([head], world.incarnations[0], message="", committer="", time=0)
        with pytest.raises(InvalidRecord, match="first parent"):
            world.commits.landing(commit, None)
        with pytest.raises(InvalidRecord, match="inherited changes"):
            world.commits.landing(commit, head, b"others")


async def stored(identities: list[str]) -> CommitStore:
    """A store that has something under these ids."""
    store = await kv.open("mem://")
    await store.set_many(PARTITION, {b"commit/" + bytes.fromhex(identity): b"" for identity in identities})
    await store.set(PARTITION, b"clock/", b"")
    await store.set(PARTITION, b"delta/", b"")
    return CommitStore(store, PARTITION)


IDENTITIES = st.lists(
    st.text("01", min_size=8, max_size=8).map(lambda digits: digits + "5" * 56), min_size=1, max_size=30, unique=True
)


class TestPrefixes:
    @PATIENTLY
    @given(IDENTITIES, st.integers(0, 99), st.integers(MIN_PREFIX, 64))
    def test_a_prefix_names_a_commit_if_it_is_the_only_one(
        self, identities: list[str], which: int, length: int
    ) -> None:
        commits = drive(stored(identities))
        prefix = identities[which % len(identities)][:length]
        matching = sorted(identity for identity in identities if identity.startswith(prefix))
        if len(matching) == 1:
            assert drive(commits.resolve_prefix(prefix)) == matching[0]
        else:
            with pytest.raises(AmbiguousPrefix) as ambiguous:
                drive(commits.resolve_prefix(prefix))
            assert ambiguous.value.candidates == matching[:5]

    @PATIENTLY
    @given(IDENTITIES, st.integers(0, 99))
    def test_the_shortest_prefix_names_the_commit_and_one_digit_less_does_not(
        self, identities: list[str], which: int
    ) -> None:
        commits = drive(stored(identities))
        identity = identities[which % len(identities)]
        prefix = drive(commits.shortest_prefix(identity))
        assert drive(commits.resolve_prefix(prefix)) == identity
        if len(prefix) > MIN_PREFIX:
            with pytest.raises(AmbiguousPrefix):
                drive(commits.resolve_prefix(prefix[:-1]))

    @pytest.mark.parametrize(
        ("prefix", "error", "message"),
        [
            ("abc", BadName, "at least 4 digits"),
            ("abcg", BadName, "hex digits"),
            ("abcd" * 17, BadName, "up to 64"),
            ("dead", NotFound, "no commit begins with 'dead'"),
            ("ffff", NotFound, "no commit begins with 'ffff'"),
        ],
    )
    def test_a_prefix_that_names_nothing_is_told_why(self, prefix: str, error: type[Exception], message: str) -> None:
        commits = drive(stored(["0" * 64]))
        with pytest.raises(error, match=message):
            drive(commits.resolve_prefix(prefix))

    def test_a_prefix_costs_one_scan(self) -> None:
        world = drive(World.begin())
        drive(world.commit_many(50))
        with world.store.counted() as trips:
            assert drive(world.commits.resolve_prefix(world.heads[0].id[:16])) == world.heads[0].id
        assert trips == Trips(scan=1)


@pytest.mark.anyio
async def test_a_history_is_kept_by_lmdb_too(tmp_path: Path) -> None:
    async with await kv.open(f"lmdb://{tmp_path}/kv?durability=os") as store:
        world = await World.begin(store)
        await world.commit_many(10)
        side = world.branch(world.any(4))
        await world.commit_many(3, side)
        await world.commit(merging=world.heads[side])
        commits = world.forget()
        assert await commits.get_many(list(world.landed)) == list(world.landed.values())
        assert await is_ancestor(commits, world.heads[side], world.heads[0])
        assert await commits.resolve_prefix(world.heads[0].id[:20]) == world.heads[0].id


@pytest.mark.anyio
async def test_a_signature_is_stored_beside_the_commit() -> None:
    world = await World.begin()
    head = world.heads[0]
    signed = Commit.create([head], world.incarnations[0], message="", committer="", time=0).signed(bytes(32))
    await world.store.pipeline(world.commits.landing(signed, head))
    found = await world.forget().get(signed.id)
    assert found == signed
    assert found != msgspec.structs.replace(signed, signature=None)
