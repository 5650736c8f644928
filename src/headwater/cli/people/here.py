"""Who may do what in a lake whose stores are in hand. Whoever has them may do it all: nobody is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from headwater import auth
from headwater.auth import AlreadySetUp, Auth, Page, Statement, Window
from headwater.auth.directory.listing import Item
from headwater.cli.people.people import Credential, CredentialWithSecret, Group, Policy, User
from headwater.cli.settings import BadSettings
from headwater.sdk.opening import Opened


class PeopleHere:
    """Asks the store of an embedded lake."""

    def __init__(self, opened: Opened, directory: Auth) -> None:
        self._opened = opened
        self._auth = directory

    async def myself(self) -> User:
        raise BadSettings("a lake in a directory does not ask who you are: name a server with --endpoint")

    async def users(self) -> list[User]:
        return [_user(each) for each in await _all(self._auth.users.list)]

    async def user(self, user: str) -> User:
        return _user(await self._auth.users.get(user))

    async def create_user(self, user: str) -> User:
        return _user(await self._auth.users.create(user))

    async def delete_user(self, user: str) -> None:
        await self._auth.users.delete(user)

    async def groups_of(self, user: str) -> list[Group]:
        return [_group(each) for each in await _all(lambda window: self._auth.memberships.groups_of(user, window))]

    async def policies_of_user(self, user: str, *, effective: bool) -> list[Policy]:
        attachments = self._auth.attachments
        listing = attachments.effective_of_user if effective else attachments.of_user
        return [_policy(each) for each in await _all(lambda window: listing(user, window))]

    async def groups(self) -> list[Group]:
        return [_group(each) for each in await _all(self._auth.groups.list)]

    async def group(self, group: str) -> Group:
        return _group(await self._auth.groups.get(group))

    async def create_group(self, group: str, description: str | None) -> Group:
        return _group(await self._auth.groups.create(group, description=description))

    async def delete_group(self, group: str) -> None:
        await self._auth.groups.delete(group)

    async def members(self, group: str) -> list[User]:
        return [_user(each) for each in await _all(lambda window: self._auth.memberships.users_of(group, window))]

    async def policies_of_group(self, group: str) -> list[Policy]:
        return [_policy(each) for each in await _all(lambda window: self._auth.attachments.of_group(group, window))]

    async def add(self, group: str, user: str) -> None:
        await self._auth.memberships.add(group, user)

    async def remove(self, group: str, user: str) -> None:
        await self._auth.memberships.remove(group, user)

    async def policies(self) -> list[Policy]:
        return [_policy(each) for each in await _all(self._auth.policies.list)]

    async def policy(self, policy: str) -> Policy:
        return _policy(await self._auth.policies.get(policy))

    async def create_policy(self, policy: str, statements: Sequence[Statement]) -> Policy:
        return _policy(await self._auth.policies.create(policy, statements))

    async def update_policy(self, policy: str, statements: Sequence[Statement]) -> Policy:
        return _policy(await self._auth.policies.update(policy, statements))

    async def delete_policy(self, policy: str) -> None:
        await self._auth.policies.delete(policy)

    async def attach_to_user(self, policy: str, user: str) -> None:
        await self._auth.attachments.attach_to_user(policy, user)

    async def attach_to_group(self, policy: str, group: str) -> None:
        await self._auth.attachments.attach_to_group(policy, group)

    async def detach_from_user(self, policy: str, user: str) -> None:
        await self._auth.attachments.detach_from_user(policy, user)

    async def detach_from_group(self, policy: str, group: str) -> None:
        await self._auth.attachments.detach_from_group(policy, group)

    async def credentials(self, user: str) -> list[Credential]:
        owner = await self._auth.users.get(user)
        found = await _all(lambda window: self._auth.credentials.list(owner, window))
        return [Credential(each.access_key_id, _time(each.created)) for each in found]

    async def create_credential(self, user: str) -> CredentialWithSecret:
        return _secret(await self._auth.credentials.create(await self._auth.users.get(user)))

    async def delete_credential(self, user: str, access_key_id: str) -> None:
        await self._auth.credentials.delete(await self._auth.users.get(user), access_key_id)

    async def set_up(self, user: str) -> CredentialWithSecret:
        try:
            return _secret(await self._auth.setup.run(user))
        except AlreadySetUp:
            return _secret(await self._auth.setup.add_administrator(user))

    async def aclose(self) -> None:
        await self._opened.lake.aclose()


async def _all(listing: Callable[[Window], Awaitable[Page[Item]]]) -> list[Item]:
    """All pages of *listing*."""
    found: list[Item] = []
    page = await listing(Window())
    found += page.items
    while page.after is not None:
        page = await listing(Window(after=page.after))
        found += page.items
    return found


def _user(user: auth.User) -> User:
    return User(user.id, _time(user.created), user.friendly_name, user.email)


def _group(group: auth.Group) -> Group:
    return Group(group.id, _time(group.created), group.description)


def _policy(policy: auth.Policy) -> Policy:
    return Policy(policy.id, _time(policy.created), policy.statements)


def _secret(made: auth.CredentialWithSecret) -> CredentialWithSecret:
    return CredentialWithSecret(made.access_key_id, made.secret_access_key, _time(made.created))


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
