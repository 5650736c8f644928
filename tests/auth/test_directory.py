"""Users, groups, policies and credentials: what is kept of them, listed, and gone with them."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from headwater.auth import (
    AlreadyExists,
    BadRequest,
    CorruptRecord,
    Identity,
    InvalidPolicy,
    NotFound,
    Window,
)
from headwater.auth.limits import MAX_ATTACHED, MAX_CREDENTIALS, MAX_ID
from headwater.kv import UnknownOutcome
from headwater.testing.counting import Trips
from tests.auth.world import DyingStore, World, allow, ids, key_ids


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.anyio
class TestEntities:
    async def test_what_was_created_is_found_and_listed(self, world: World) -> None:
        ann = await world.auth.users.create("ann@example.com", friendly_name="Ann", email="ann@example.com")
        assert ann.created == world.time.seconds * 1000
        assert await world.auth.users.get("ann@example.com") == ann
        assert (await world.auth.users.list()).items == (ann,)
        readers = await world.auth.groups.create("readers", description="who only reads")
        assert await world.auth.groups.get("readers") == readers
        policy = await world.auth.policies.create("reading", [allow("fs:Read*")])
        assert await world.auth.policies.get("reading") == policy

    async def test_an_id_is_used_once(self, world: World) -> None:
        await world.auth.groups.create("readers")
        with pytest.raises(AlreadyExists, match="'readers'"):
            await world.auth.groups.create("readers")

    @pytest.mark.parametrize("name", ["", " ann", "ann ", "a\0b", "a\nb", "x" * (MAX_ID + 1), "\ud800"])
    async def test_an_id_is_printable_and_short(self, world: World, name: str) -> None:
        with pytest.raises(BadRequest):
            await world.auth.users.create(name)
        with pytest.raises(NotFound):
            await world.auth.users.get(name)
        with pytest.raises(NotFound):
            await world.auth.users.delete(name)

    @pytest.mark.parametrize("name", ["a/b", "*", "ünï çödé", "x" * MAX_ID, "0", "group/x"])
    async def test_an_id_may_be_odd(self, world: World, name: str) -> None:
        await world.auth.users.create(name)
        await world.auth.groups.create(name)
        await world.auth.memberships.add(name, name)
        assert ids((await world.auth.memberships.users_of(name)).items) == [name]
        assert ids((await world.auth.users.list()).items) == [name]
        await world.auth.users.delete(name)
        await world.auth.groups.delete(name)
        assert await world.keys() == []

    async def test_pages_go_on_where_they_ended(self, world: World) -> None:
        for name in ["a1", "a2", "a3", "b1", "b2"]:
            await world.auth.users.create(name)
        page = await world.auth.users.list(Window(prefix="a", amount=2))
        assert (ids(page.items), page.after) == (["a1", "a2"], "a2")
        page = await world.auth.users.list(Window(prefix="a", after="a2", amount=2))
        assert (ids(page.items), page.after) == (["a3"], None)
        page = await world.auth.users.list(Window(after="a3", amount=2))
        assert (ids(page.items), page.after) == (["b1", "b2"], None)
        page = await world.auth.users.list(Window(prefix="b", after="a1", amount=1))
        assert (ids(page.items), page.after) == (["b1"], "b1")
        assert (await world.auth.users.list(Window(after="\ud800"))).items == ()

    @pytest.mark.parametrize("amount", [0, -1, 1001])
    async def test_a_page_has_a_limit(self, amount: int) -> None:
        with pytest.raises(BadRequest):
            Window(amount=amount)

    async def test_a_policy_is_updated_in_place(self, world: World) -> None:
        await world.auth.policies.create("p", [allow("fs:Read*")])
        await world.auth.policies.update("p", [allow("fs:List*")])
        assert (await world.auth.policies.get("p")).statements == (allow("fs:List*"),)
        with pytest.raises(InvalidPolicy):
            await world.auth.policies.update("p", [])
        with pytest.raises(NotFound):
            await world.auth.policies.update("q", [allow("fs:List*")])

    async def test_a_policy_is_not_larger_than_a_store_takes(self, world: World) -> None:
        large = [allow("fs:Read*", on=f"arn:lakefs:fs:::repository/{n}{'x' * 1900}") for n in range(100)]
        with pytest.raises(InvalidPolicy, match="make two"):
            await world.auth.policies.create("large", large)


@pytest.mark.anyio
class TestTies:
    async def test_members_and_policies_are_listed_from_both_ends(self, world: World) -> None:
        auth = world.auth
        for name in ("ann", "bob", "cid"):
            await auth.users.create(name)
        for name in ("readers", "writers"):
            await auth.groups.create(name)
            await auth.memberships.add(name, "bob")
        await auth.memberships.add("readers", "ann")
        assert ids((await auth.memberships.users_of("readers")).items) == ["ann", "bob"]
        assert ids((await auth.memberships.users_of("writers")).items) == ["bob"]
        page = await auth.memberships.groups_of("bob", Window(amount=1))
        assert (ids(page.items), page.after) == (["readers"], "readers")
        assert ids((await auth.memberships.groups_of("cid")).items) == []
        await auth.memberships.remove("readers", "bob")
        assert ids((await auth.memberships.users_of("readers")).items) == ["ann"]
        assert ids((await auth.memberships.groups_of("bob")).items) == ["writers"]

    async def test_policies_apply_directly_and_through_groups_each_once(self, world: World) -> None:
        auth = world.auth
        await auth.users.create("ann")
        await auth.groups.create("readers")
        for name in ("p1", "p2", "p3", "p4"):
            await auth.policies.create(name, [allow("fs:Read*")])
        await auth.memberships.add("readers", "ann")
        for policy in ("p1", "p2"):
            await auth.attachments.attach_to_user(policy, "ann")
        for policy in ("p2", "p3"):
            await auth.attachments.attach_to_group(policy, "readers")
        assert ids((await auth.attachments.of_user("ann")).items) == ["p1", "p2"]
        assert ids((await auth.attachments.of_group("readers")).items) == ["p2", "p3"]
        assert ids((await auth.attachments.effective_of_user("ann")).items) == ["p1", "p2", "p3"]
        page = await auth.attachments.effective_of_user("ann", Window(after="p1", amount=1))
        assert (ids(page.items), page.after) == (["p2"], "p2")
        await auth.attachments.detach_from_group("p2", "readers")
        await auth.attachments.detach_from_user("p1", "ann")
        assert ids((await auth.attachments.effective_of_user("ann")).items) == ["p2", "p3"]

    async def test_tying_twice_is_tying_once_and_untying_needs_a_tie(self, world: World) -> None:
        auth = world.auth
        await auth.users.create("ann")
        await auth.groups.create("readers")
        await auth.memberships.add("readers", "ann")
        await auth.memberships.add("readers", "ann")
        await auth.memberships.remove("readers", "ann")
        with pytest.raises(NotFound, match="does not have"):
            await auth.memberships.remove("readers", "ann")
        with pytest.raises(NotFound, match="no group"):
            await auth.memberships.add("writers", "ann")
        with pytest.raises(NotFound, match="no user"):
            await auth.memberships.add("readers", "bob")

    async def test_nobody_is_in_more_groups_than_can_be_read_at_once(self, world: World) -> None:
        await world.auth.users.create("ann")
        for number in range(MAX_ATTACHED + 1):
            await world.auth.groups.create(f"g{number:03}")
        for number in range(MAX_ATTACHED):
            await world.auth.memberships.add(f"g{number:03}", "ann")
        with pytest.raises(BadRequest, match="as many as it may"):
            await world.auth.memberships.add(f"g{MAX_ATTACHED:03}", "ann")
        await world.auth.memberships.add("g000", "ann")

    async def test_deleting_something_leaves_nothing_of_it(self, world: World) -> None:
        auth = world.auth
        before = await world.keys()
        ann = await auth.users.create("ann")
        await auth.groups.create("readers")
        await auth.policies.create("p", [allow("fs:Read*")])
        await auth.memberships.add("readers", "ann")
        await auth.attachments.attach_to_group("p", "readers")
        await auth.attachments.attach_to_user("p", "ann")
        await auth.credentials.create(ann)
        await auth.credentials.create(ann)
        await auth.policies.delete("p")
        assert ids((await auth.attachments.effective_of_user("ann")).items) == []
        await auth.groups.delete("readers")
        await auth.users.delete("ann")
        assert await world.keys() == before

    async def test_who_comes_back_under_a_deleted_name_has_nothing_of_the_old(self, world: World) -> None:
        """Even if the deletion crashed, or what belonged to the old one was made while it was being deleted."""
        auth = world.auth
        ann = await auth.users.create("ann")
        await auth.groups.create("admins")
        await auth.policies.create("p", [allow("*")])
        await auth.memberships.add("admins", "ann")
        await auth.attachments.attach_to_user("p", "ann")
        credential = await auth.credentials.create(ann)
        kept = [entry async for page in world.memory.scan(b"auth") for entry in page]
        await auth.users.delete("ann")
        for entry in kept:
            if not entry.key.startswith(b"user/"):
                await world.memory.set(b"auth", entry.key, entry.value)
        fresh = await auth.users.create("ann")
        assert ids((await auth.memberships.groups_of("ann")).items) == []
        assert ids((await auth.memberships.users_of("admins")).items) == []
        assert ids((await auth.attachments.effective_of_user("ann")).items) == []
        assert (await auth.credentials.list(fresh)).items == ()
        with pytest.raises(NotFound):
            await auth.credentials.get(fresh, credential.access_key_id)

    async def test_a_deletion_that_crashes_at_any_step_can_be_done_again(self) -> None:
        finished = False
        for writes in range(30):
            world = World()
            auth = world.auth
            ann = await auth.users.create("ann")
            await auth.groups.create("readers")
            await auth.policies.create("p", [allow("fs:Read*")])
            await auth.memberships.add("readers", "ann")
            await auth.attachments.attach_to_group("p", "readers")
            await auth.attachments.attach_to_user("p", "ann")
            await auth.credentials.create(ann)
            dying = world.process("dying", store=DyingStore(world.memory, writes))
            finished = False
            with suppress(UnknownOutcome):
                await dying.groups.delete("readers")
                await dying.users.delete("ann")
                finished = True
            for delete, name in ((auth.groups.delete, "readers"), (auth.users.delete, "ann")):
                with suppress(NotFound):
                    await delete(name)
            assert await world.keys() == ["policy/p"]
        assert finished


@pytest.mark.anyio
class TestCredentials:
    async def test_a_credential_is_shown_once_and_kept_sealed(self, world: World) -> None:
        ann = await world.auth.users.create("ann")
        shown = await world.auth.credentials.create(ann)
        assert re.fullmatch("AKIAJ[A-Z2-7]{14}Q", shown.access_key_id)
        assert re.fullmatch("[A-Za-z0-9+/]{40}", shown.secret_access_key)
        assert shown.secret_access_key.encode() not in await world.everything()
        assert shown.secret_access_key not in f"{shown!r} {shown}"
        kept = await world.auth.credentials.get(ann, shown.access_key_id)
        assert (kept.user, kept.created) == ("ann", shown.created)
        key = await world.auth.keyring.find(shown.access_key_id)
        assert key is not None
        assert key.secret == shown.secret_access_key
        assert key.secret not in f"{key!r} {key}"

    async def test_a_credential_can_be_brought_along(self, world: World) -> None:
        ann, bob = await world.auth.users.create("ann"), await world.auth.users.create("bob")
        await world.auth.credentials.create(ann, access_key_id="AKIAIOSFODNN7EXAMPLE", secret_access_key="s" * 20)
        with pytest.raises(AlreadyExists):
            await world.auth.credentials.create(bob, access_key_id="AKIAIOSFODNN7EXAMPLE", secret_access_key="t" * 20)
        assert (await world.auth.credentials.list(bob)).items == ()
        with pytest.raises(NotFound):
            await world.auth.credentials.get(bob, "AKIAIOSFODNN7EXAMPLE")
        with pytest.raises(NotFound):
            await world.auth.credentials.delete(bob, "AKIAIOSFODNN7EXAMPLE")

    @pytest.mark.parametrize(
        ("access_key_id", "secret"),
        [("ab", "s" * 20), ("a:b:c", "s" * 20), ("a/b/c", "s" * 20), ("abc", "short"), ("abc", "with spaces in it"),
         ("x" * 129, "s" * 20), ("abc", "s" * 257), ("abc", "sécret-sécret")],
    )  # fmt: skip
    async def test_a_credential_is_one_that_every_client_can_send(
        self, world: World, access_key_id: str, secret: str
    ) -> None:
        ann = await world.auth.users.create("ann")
        with pytest.raises(BadRequest):
            await world.auth.credentials.create(ann, access_key_id=access_key_id, secret_access_key=secret)

    async def test_credentials_are_listed_in_pages_and_deleted(self, world: World) -> None:
        ann = await world.auth.users.create("ann")
        made = sorted([(await world.auth.credentials.create(ann)).access_key_id for _ in range(3)])
        page = await world.auth.credentials.list(ann, Window(amount=2))
        assert (key_ids(page.items), page.after) == (made[:2], made[1])
        await world.auth.credentials.delete(ann, made[0])
        assert key_ids((await world.auth.credentials.list(ann)).items) == made[1:]
        with pytest.raises(NotFound):
            await world.auth.credentials.delete(ann, made[0])

    async def test_nobody_has_more_than_so_many(self, world: World) -> None:
        ann = await world.auth.users.create("ann")
        for _ in range(MAX_CREDENTIALS):
            await world.auth.credentials.create(ann)
        with pytest.raises(BadRequest, match="delete one first"):
            await world.auth.credentials.create(ann)

    async def test_another_secret_of_the_server_opens_nothing_and_says_so(self, world: World) -> None:
        shown = await world.auth.credentials.create(await world.auth.users.create("ann"))
        with pytest.raises(CorruptRecord, match="another secret of the server"):
            await world.process("other", secret=b"another secret, as long").keyring.find(shown.access_key_id)

    async def test_a_sealed_secret_opens_for_no_other_access_key(self, world: World) -> None:
        ann = await world.auth.users.create("ann")
        one, other = await world.auth.credentials.create(ann), await world.auth.credentials.create(ann)
        found = await world.memory.get(b"auth", f"credential/{one.access_key_id}".encode())
        assert found is not None
        moved = found.value.replace(one.access_key_id.encode(), other.access_key_id.encode())
        await world.memory.set(b"auth", f"credential/{other.access_key_id}".encode(), moved)
        with pytest.raises(CorruptRecord, match="is damaged"):
            await world.process("fresh").keyring.find(other.access_key_id)

    async def test_the_servers_secret_must_not_be_guessable(self, world: World) -> None:
        with pytest.raises(BadRequest, match="openssl"):
            world.process("short", secret=b"short")


@pytest.mark.anyio
class TestBudgets:
    async def test_a_credential_is_found_in_one_trip_and_then_in_none(self, world: World) -> None:
        shown = await world.auth.credentials.create(await world.auth.users.create("ann"))
        with world.store.counted() as trips:
            await world.auth.keyring.find(shown.access_key_id)
        assert trips == Trips(get=1)
        with world.store.counted() as trips:
            await world.auth.keyring.find(shown.access_key_id)
        assert trips == Trips()

    async def test_a_listing_costs_its_page(self, world: World) -> None:
        for number in range(50):
            await world.auth.users.create(f"user-{number:03}")
        with world.store.counted() as trips:
            await world.auth.users.list(Window(after="user-020", amount=10))
        assert trips == Trips(scan=1)

    async def test_what_a_user_may_do_is_read_in_a_few_trips(self, world: World) -> None:
        await world.auth.setup.run("ann")
        identity = await identity_of(world)
        with world.store.counted() as trips:
            await world.auth.accesses.of(identity)
        assert trips == Trips(get=1, scan=3, get_many=2)
        with world.store.counted() as trips:
            await world.auth.accesses.of(identity)
        assert trips == Trips()


async def identity_of(world: World) -> Identity:
    [credential] = (await world.auth.credentials.list(await world.auth.users.get("ann"))).items
    key = await world.auth.keyring.find(credential.access_key_id)
    assert key is not None
    return key.identity
