"""Who is asking: headers, tokens, what is remembered of them and for how long, and how often one may be wrong."""

from __future__ import annotations

import base64

import jwt
import pytest

from headwater.auth import (
    Auth,
    CredentialWithSecret,
    NotAuthenticated,
    Permission,
    TooManyAttempts,
    permissions,
    resources,
)
from headwater.auth.limits import ATTEMPTS_OF_CLIENT, ATTEMPTS_OF_KEY, BELIEVED
from headwater.testing.counting import Trips
from tests.auth.world import HERE, World, allow

READ = Permission(permissions.READ_OBJECT, resources.object_in("sales", "a"))


def basic(access_key_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{access_key_id}:{secret}".encode()).decode()


def header_of(credential: CredentialWithSecret) -> str:
    return basic(credential.access_key_id, credential.secret_access_key)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def ann(world: World) -> CredentialWithSecret:
    return await world.auth.credentials.create(await world.auth.users.create("ann"))


@pytest.mark.anyio
class TestBasic:
    async def test_the_right_secret_tells_who_is_asking(self, world: World, ann: CredentialWithSecret) -> None:
        identity = await world.auth.authenticator.header(header_of(ann), HERE)
        assert (identity.user, identity.access_key_id) == ("ann", ann.access_key_id)

    async def test_every_wrong_header_is_answered_alike(self, world: World, ann: CredentialWithSecret) -> None:
        headers = [
            basic(ann.access_key_id, "wrong" * 8),
            basic(ann.access_key_id, ""),
            basic("AKIAJUNKNOWNUNKNOWNQ", ann.secret_access_key),
            basic("", ann.secret_access_key),
            basic("not an id", "\ud7ff"),
            "Basic " + base64.b64encode(b"no colon").decode(),
            "Basic " + base64.b64encode(b"\xff\xfe:\xff").decode(),
            "Basic !!!",
            "Basic " + "A" * 10_000,
            "Basic",
            "",
            "Digest abc",
            "Bearer abc",
            "Bearer ",
        ]
        messages = set()
        for header in headers:
            with pytest.raises(NotAuthenticated) as refused:
                await world.auth.authenticator.header(header, HERE)
            messages.add(str(refused.value))
            assert world.auth.authenticator.known(header) is None
        assert len(messages) == 1

    async def test_an_unknown_key_costs_what_a_wrong_secret_costs(
        self, world: World, ann: CredentialWithSecret
    ) -> None:
        trips = []
        for header in (basic(ann.access_key_id, "wrong" * 8), basic("AKIAJUNKNOWNUNKNOWNQ", "wrong" * 8)):
            with world.store.counted() as counted, pytest.raises(NotAuthenticated):
                await world.auth.authenticator.header(header, HERE)
            trips.append(counted)
        assert trips == [Trips(get=1), Trips(get=1)]

    async def test_a_header_that_was_right_costs_no_trip(self, world: World, ann: CredentialWithSecret) -> None:
        header = header_of(ann)
        assert world.auth.authenticator.known(header) is None
        identity = await world.auth.authenticator.header(header, HERE)
        with world.store.counted() as trips:
            assert world.auth.authenticator.known(header) == identity
        assert trips == Trips()
        assert world.auth.authenticator.known(basic(ann.access_key_id, "wrong" * 8)) is None

    async def test_what_is_remembered_is_looked_up_again_now_and_then(
        self, world: World, ann: CredentialWithSecret
    ) -> None:
        header = header_of(ann)
        await world.auth.authenticator.header(header, HERE)
        world.time.seconds += BELIEVED + 1
        assert world.auth.authenticator.known(header) is None
        with world.store.counted() as trips:
            await world.auth.authenticator.header(header, HERE)
        assert trips == Trips(get=1)

    async def test_a_deleted_credential_is_refused_at_once_here_and_soon_elsewhere(
        self, world: World, ann: CredentialWithSecret
    ) -> None:
        header, other = header_of(ann), world.process("other")
        for process in (world.auth, other):
            await process.authenticator.header(header, HERE)
        await world.auth.credentials.delete(await world.auth.users.get("ann"), ann.access_key_id)
        with pytest.raises(NotAuthenticated):
            await world.auth.authenticator.header(header, HERE)
        world.time.seconds += BELIEVED + 0.001
        assert other.authenticator.known(header) is None
        with pytest.raises(NotAuthenticated):
            await other.authenticator.header(header, HERE)


@pytest.mark.anyio
class TestTokens:
    async def test_a_login_gives_a_token_that_stands_for_it(self, world: World, ann: CredentialWithSecret) -> None:
        identity, token = await world.auth.authenticator.login(
            ann.access_key_id, ann.secret_access_key, HERE, life=3600
        )
        assert token.expires == (world.time.seconds + 3600) * 1000
        assert await world.auth.authenticator.bearer(token.text, HERE) == identity
        assert await world.process("other").authenticator.header(f"Bearer {token.text}", HERE) == identity
        assert token.text not in f"{token!r} {token}"

    async def test_a_token_expires_even_while_it_is_remembered(self, world: World, ann: CredentialWithSecret) -> None:
        _, token = await world.auth.authenticator.login(ann.access_key_id, ann.secret_access_key, HERE, life=2)
        await world.auth.authenticator.bearer(token.text, HERE)
        assert world.auth.authenticator.known(f"Bearer {token.text}") is not None
        world.time.seconds += 2
        assert world.auth.authenticator.known(f"Bearer {token.text}") is None
        with pytest.raises(NotAuthenticated):
            await world.auth.authenticator.bearer(token.text, HERE)

    async def test_a_token_goes_with_its_credential(self, world: World, ann: CredentialWithSecret) -> None:
        _, token = await world.auth.authenticator.login(ann.access_key_id, ann.secret_access_key, HERE)
        await world.auth.authenticator.bearer(token.text, HERE)
        await world.auth.credentials.delete(await world.auth.users.get("ann"), ann.access_key_id)
        with pytest.raises(NotAuthenticated):
            await world.auth.authenticator.bearer(token.text, HERE)

    async def test_a_token_is_none_of_a_later_user_of_that_name(self, world: World, ann: CredentialWithSecret) -> None:
        _, token = await world.auth.authenticator.login(ann.access_key_id, ann.secret_access_key, HERE)
        await world.auth.users.delete("ann")
        fresh = await world.auth.users.create("ann")
        await world.auth.credentials.create(
            fresh, access_key_id=ann.access_key_id, secret_access_key=ann.secret_access_key
        )
        with pytest.raises(NotAuthenticated):
            await world.auth.authenticator.bearer(token.text, HERE)

    async def test_a_token_for_something_else_is_no_login(self, world: World, ann: CredentialWithSecret) -> None:
        identity = await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, HERE)
        token = world.auth.tokens.issue(identity, 60, "upload")
        assert world.auth.tokens.read(token.text, "upload")[0] == identity
        with pytest.raises(NotAuthenticated):
            await world.auth.authenticator.bearer(token.text, HERE)

    async def test_a_forged_token_is_refused(self, world: World, ann: CredentialWithSecret) -> None:
        _, token = await world.auth.authenticator.login(ann.access_key_id, ann.secret_access_key, HERE)
        claims = jwt.decode(token.text, options={"verify_signature": False})
        forged = [
            jwt.encode(claims, "some other key, as long as ours is", "HS256"),
            jwt.encode(claims, "", "none"),
            jwt.encode(claims, ann.secret_access_key, "HS256"),
            token.text[:-4] + "AAAA",
            ".".join([*token.text.split(".")[:2], ""]),
            token.text + "A" * 5000,
        ]
        for text in forged:
            with pytest.raises(NotAuthenticated):
                await world.auth.authenticator.bearer(text, HERE)
        with pytest.raises(NotAuthenticated):
            await world.process("another", secret=b"another secret, as long").authenticator.bearer(token.text, HERE)


@pytest.mark.anyio
class TestWhatMayBeDone:
    async def test_a_change_is_noticed_at_once_here_and_soon_elsewhere(
        self, world: World, ann: CredentialWithSecret
    ) -> None:
        identity = await world.auth.authenticator.header(header_of(ann), HERE)
        other = world.process("other")

        async def may(process: Auth) -> bool:
            return (process.accesses.known(identity) or await process.accesses.of(identity)).check(READ).allowed

        assert [await may(world.auth), await may(other)] == [False, False]
        await world.auth.policies.create("reading", [allow("fs:Read*")])
        await world.auth.attachments.attach_to_user("reading", "ann")
        assert [await may(world.auth), await may(other)] == [True, False]
        world.time.seconds += BELIEVED + 0.001
        assert [await may(world.auth), await may(other)] == [True, True]
        await world.auth.policies.update("reading", [allow("fs:List*")])
        assert [await may(world.auth), await may(other)] == [False, True]
        world.time.seconds += BELIEVED + 0.001
        assert [await may(world.auth), await may(other)] == [False, False]


@pytest.mark.anyio
class TestAttempts:
    async def test_wrong_secrets_for_a_key_are_limited_whoever_tries(
        self, world: World, ann: CredentialWithSecret
    ) -> None:
        burst, rate = ATTEMPTS_OF_KEY
        for number in range(burst):
            with pytest.raises(NotAuthenticated):
                await world.auth.authenticator.basic(ann.access_key_id, "wrong" * 8, f"client-{number}")
        with world.store.counted() as trips, pytest.raises(TooManyAttempts) as refused:
            await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, "one more")
        assert trips == Trips()
        world.time.seconds += refused.value.wait
        assert rate == pytest.approx(1 / refused.value.wait)
        await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, "one more")

    async def test_who_had_it_right_is_not_kept_out_by_others(self, world: World, ann: CredentialWithSecret) -> None:
        await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, "home")
        for number in range(ATTEMPTS_OF_KEY[0]):
            with pytest.raises(NotAuthenticated):
                await world.auth.authenticator.basic(ann.access_key_id, "wrong" * 8, f"client-{number}")
        await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, "home")
        with pytest.raises(TooManyAttempts):
            await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, "elsewhere")

    async def test_wrong_credentials_of_a_client_are_limited_whatever_it_tries(
        self, world: World, ann: CredentialWithSecret
    ) -> None:
        for number in range(ATTEMPTS_OF_CLIENT[0]):
            header = f"Bearer {number}" if number % 2 else basic(f"AKIAJ{number:014}Q", "wrong" * 8)
            with pytest.raises(NotAuthenticated):
                await world.auth.authenticator.header(header, HERE)
        with pytest.raises(TooManyAttempts):
            await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, HERE)
        with pytest.raises(TooManyAttempts):
            await world.auth.authenticator.bearer("one more", HERE)
        await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, "elsewhere")

    async def test_a_site_that_has_many_addresses_is_counted_as_one_client(self, world: World) -> None:
        for number in range(ATTEMPTS_OF_CLIENT[0]):
            with pytest.raises(NotAuthenticated):
                await world.auth.authenticator.bearer(str(number), f"2001:db8:0:1::{number:x}")
        with pytest.raises(TooManyAttempts):
            await world.auth.authenticator.bearer("one more", "2001:db8:0:1:ffff::1")
        for elsewhere in ("2001:db8:0:2::1", "::ffff:192.0.2.1", "192.0.2.2"):
            with pytest.raises(NotAuthenticated):
                await world.auth.authenticator.bearer("one more", elsewhere)

    async def test_what_a_browser_sends_by_itself_is_no_attempt(self, world: World, ann: CredentialWithSecret) -> None:
        for number in range(2 * ATTEMPTS_OF_CLIENT[0]):
            with pytest.raises(NotAuthenticated):
                await world.auth.authenticator.bearer(f"a cookie of long ago {number}", HERE, counted=False)
        await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, HERE)

    async def test_right_ones_are_not_counted(self, world: World, ann: CredentialWithSecret) -> None:
        for _ in range(3 * ATTEMPTS_OF_CLIENT[0]):
            await world.auth.authenticator.basic(ann.access_key_id, ann.secret_access_key, HERE)
