"""The first administrator: one, whoever races and whatever crashes; and what comes with it."""

from __future__ import annotations

from contextlib import suppress

import pytest

from headwater.auth import (
    AlreadySetUp,
    BadRequest,
    NotAuthenticated,
    Permission,
    permissions,
    resources,
)
from headwater.auth.permissions import ACTIONS
from headwater.kv import UnknownOutcome
from tests.auth.world import HERE, DyingStore, World, ids


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.anyio
class TestSetup:
    async def test_makes_one_administrator_who_may_do_everything(self, world: World) -> None:
        assert not await world.auth.setup.is_done()
        shown = await world.auth.setup.run("ann", friendly_name="Ann")
        assert await world.auth.setup.is_done()
        identity = await world.auth.authenticator.basic(shown.access_key_id, shown.secret_access_key, HERE)
        access = await world.auth.accesses.of(identity)
        assert [action for action in ACTIONS if not access.allows(action, "*")] == []

    async def test_happens_once(self, world: World) -> None:
        await world.auth.setup.run("ann")
        with pytest.raises(AlreadySetUp):
            await world.process("second").setup.run("eve")
        assert ids((await world.auth.users.list()).items) == ["ann"]

    async def test_takes_a_credential_that_was_brought_along(self, world: World) -> None:
        await world.auth.setup.run("ann", access_key_id="AKIAIOSFODNN7EXAMPLE", secret_access_key="s" * 20)
        assert (await world.auth.authenticator.basic("AKIAIOSFODNN7EXAMPLE", "s" * 20, HERE)).user == "ann"

    async def test_refuses_what_cannot_be_and_can_be_tried_again(self, world: World) -> None:
        with pytest.raises(BadRequest):
            await world.auth.setup.run("ann", access_key_id="AKIAIOSFODNN7EXAMPLE", secret_access_key="s" * 7)
        with pytest.raises(BadRequest):
            await world.auth.setup.run("")
        assert not await world.auth.setup.is_done()
        await world.auth.setup.run("ann")

    async def test_that_crashes_at_any_step_is_finished_by_whoever_comes_next(self) -> None:
        whole = World()
        await whole.auth.setup.run("ann", access_key_id="AKIAIOSFODNN7EXAMPLE", secret_access_key="s" * 20)
        finished = False
        for writes in range(1, 100):
            world = World()
            dying = world.process("dying", store=DyingStore(world.memory, writes))
            with suppress(UnknownOutcome):
                await dying.setup.run("ann", access_key_id="AKIAIOSFODNN7EXAMPLE", secret_access_key="s" * 20)
                finished = True
            assert await world.auth.setup.is_done()
            assert await world.keys() == await whole.keys()
            identity = await world.auth.authenticator.basic("AKIAIOSFODNN7EXAMPLE", "s" * 20, HERE)
            assert (await world.auth.accesses.of(identity)).allows(permissions.DELETE_USER, "*")
            if finished:
                break
        assert finished

    async def test_an_administrator_who_lost_the_secret_gets_back_in(self, world: World) -> None:
        lost = await world.auth.setup.run("ann")
        await world.auth.memberships.remove("Admins", "ann")
        await world.auth.groups.delete("Admins")
        shown = await world.auth.setup.add_administrator("ann")
        assert shown.access_key_id != lost.access_key_id
        identity = await world.auth.authenticator.basic(shown.access_key_id, shown.secret_access_key, HERE)
        assert (await world.auth.accesses.of(identity)).allows(permissions.DELETE_USER, "*")
        other = await world.auth.setup.add_administrator("bob")
        assert (await world.auth.authenticator.basic(other.access_key_id, other.secret_access_key, HERE)).user == "bob"


READ = Permission(permissions.READ_OBJECT, resources.object_in("sales", "a"))
WRITE = Permission(permissions.WRITE_OBJECT, resources.object_in("sales", "a"))
CREATE = Permission(permissions.CREATE_REPOSITORY, resources.repository("sales"))
COMMIT = Permission(permissions.CREATE_COMMIT, resources.branch("sales", "main"))
PULL = Permission(permissions.WRITE_PULL_REQUEST, resources.repository("sales"))
RUNS = Permission(permissions.READ_ACTION, resources.repository("sales"))
PROTECT = Permission(permissions.SET_BRANCH_PROTECTION_RULES, resources.repository("sales"))
USERS = Permission(permissions.LIST_USERS, resources.EVERYTHING)
OWN = Permission(permissions.CREATE_CREDENTIALS, resources.user("bob"))
OTHERS = Permission(permissions.CREATE_CREDENTIALS, resources.user("ann"))
EVERY = [READ, WRITE, CREATE, COMMIT, PULL, RUNS, PROTECT, USERS, OWN, OTHERS]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("group", "allowed"),
    [
        ("Admins", EVERY),
        ("SuperUsers", [READ, WRITE, CREATE, COMMIT, PULL, RUNS, OWN]),
        ("Developers", [READ, WRITE, COMMIT, PULL, RUNS, OWN]),
        ("Viewers", [READ, OWN]),
        (None, []),
    ],
)
async def test_the_groups_that_come_with_it(world: World, group: str | None, allowed: list[Permission]) -> None:
    await world.auth.setup.run("ann")
    shown = await world.auth.credentials.create(await world.auth.users.create("bob"))
    if group is not None:
        await world.auth.memberships.add(group, "bob")
    identity = await world.auth.authenticator.basic(shown.access_key_id, shown.secret_access_key, HERE)
    access = await world.auth.accesses.of(identity)
    assert [each for each in EVERY if access.check(each).allowed] == allowed


@pytest.mark.anyio
async def test_a_deleted_administrator_is_nobody(world: World) -> None:
    shown = await world.auth.setup.run("ann")
    identity = await world.auth.authenticator.basic(shown.access_key_id, shown.secret_access_key, HERE)
    await world.auth.users.delete("ann")
    with pytest.raises(NotAuthenticated):
        await world.auth.accesses.of(identity)
