"""Who may do what in a lake on a server, by its REST API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from headwater.auth import Statement
from headwater.cli.people.people import Credential, CredentialWithSecret, Group, Policy, User
from headwater.cli.settings import BadSettings
from headwater.sdk.remote.connection import Connection
from headwater.sdk.remote.urls import segment

Kind = TypeVar("Kind")
PAGE = 1000


class _User(msgspec.Struct):
    id: str
    creation_date: int
    friendly_name: str | None = None
    email: str | None = None


class _CurrentUser(msgspec.Struct):
    user: _User


class _Group(msgspec.Struct):
    id: str
    creation_date: int
    description: str | None = None


class _Policy(msgspec.Struct):
    id: str
    statement: list[Statement]
    creation_date: int = 0


class _Credential(msgspec.Struct):
    access_key_id: str
    creation_date: int
    secret_access_key: str = ""


class _Pagination(msgspec.Struct):
    has_more: bool
    next_offset: str


class _Page(msgspec.Struct):
    pagination: _Pagination
    results: list[msgspec.Raw]


class PeopleThere:
    """Asks a server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def myself(self) -> User:
        return _user((await self._connection.ask(_CurrentUser, "/user")).user)

    async def users(self) -> list[User]:
        return [_user(each) for each in await self._all(_User, "/auth/users")]

    async def user(self, user: str) -> User:
        return _user(await self._connection.ask(_User, _path("users", user)))

    async def create_user(self, user: str) -> User:
        return _user(await self._connection.tell(_User, "POST", "/auth/users", body={"id": user}))

    async def delete_user(self, user: str) -> None:
        await self._delete(_path("users", user))

    async def groups_of(self, user: str) -> list[Group]:
        return [_group(each) for each in await self._all(_Group, _path("users", user, "groups"))]

    async def policies_of_user(self, user: str, *, effective: bool) -> list[Policy]:
        found = await self._all(_Policy, _path("users", user, "policies"), effective=effective)
        return [_policy(each) for each in found]

    async def groups(self) -> list[Group]:
        return [_group(each) for each in await self._all(_Group, "/auth/groups")]

    async def group(self, group: str) -> Group:
        return _group(await self._connection.ask(_Group, _path("groups", group)))

    async def create_group(self, group: str, description: str | None) -> Group:
        body = {"id": group} if description is None else {"id": group, "description": description}
        return _group(await self._connection.tell(_Group, "POST", "/auth/groups", body=body))

    async def delete_group(self, group: str) -> None:
        await self._delete(_path("groups", group))

    async def members(self, group: str) -> list[User]:
        return [_user(each) for each in await self._all(_User, _path("groups", group, "members"))]

    async def policies_of_group(self, group: str) -> list[Policy]:
        return [_policy(each) for each in await self._all(_Policy, _path("groups", group, "policies"))]

    async def add(self, group: str, user: str) -> None:
        await self._put(_path("groups", group, "members", user))

    async def remove(self, group: str, user: str) -> None:
        await self._delete(_path("groups", group, "members", user))

    async def policies(self) -> list[Policy]:
        return [_policy(each) for each in await self._all(_Policy, "/auth/policies")]

    async def policy(self, policy: str) -> Policy:
        return _policy(await self._connection.ask(_Policy, _path("policies", policy)))

    async def create_policy(self, policy: str, statements: Sequence[Statement]) -> Policy:
        body = {"id": policy, "statement": statements}
        return _policy(await self._connection.tell(_Policy, "POST", "/auth/policies", body=body))

    async def update_policy(self, policy: str, statements: Sequence[Statement]) -> Policy:
        body = {"id": policy, "statement": statements}
        return _policy(await self._connection.tell(_Policy, "PUT", _path("policies", policy), body=body, again=True))

    async def delete_policy(self, policy: str) -> None:
        await self._delete(_path("policies", policy))

    async def attach_to_user(self, policy: str, user: str) -> None:
        await self._put(_path("users", user, "policies", policy))

    async def attach_to_group(self, policy: str, group: str) -> None:
        await self._put(_path("groups", group, "policies", policy))

    async def detach_from_user(self, policy: str, user: str) -> None:
        await self._delete(_path("users", user, "policies", policy))

    async def detach_from_group(self, policy: str, group: str) -> None:
        await self._delete(_path("groups", group, "policies", policy))

    async def credentials(self, user: str) -> list[Credential]:
        found = await self._all(_Credential, _path("users", user, "credentials"))
        return [Credential(each.access_key_id, _time(each.creation_date)) for each in found]

    async def create_credential(self, user: str) -> CredentialWithSecret:
        made = await self._connection.tell(_Credential, "POST", _path("users", user, "credentials"))
        return CredentialWithSecret(made.access_key_id, made.secret_access_key, _time(made.creation_date))

    async def delete_credential(self, user: str, access_key_id: str) -> None:
        await self._delete(_path("users", user, "credentials", access_key_id))

    async def set_up(self, user: str) -> CredentialWithSecret:
        raise BadSettings(
            f"{user} is made an administrator by whoever has the stores in hand: hw --lake DIR auth setup"
        )

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _all(self, kind: type[Kind], path: str, *, effective: bool = False) -> list[Kind]:
        """All pages of a listing."""
        found: list[Kind] = []
        after = ""
        while True:
            query = {"after": after, "amount": PAGE, "effective": effective or None}
            page = await self._connection.ask(_Page, path, query)
            found += [msgspec.json.decode(each, type=kind) for each in page.results]
            after = page.pagination.next_offset
            if not page.pagination.has_more:
                return found

    async def _put(self, path: str) -> None:
        await self._connection.tell(type(None), "PUT", path, again=True)

    async def _delete(self, path: str) -> None:
        await self._connection.tell(type(None), "DELETE", path)


def _path(*names: str) -> str:
    return "/".join(["/auth", *map(segment, names)])


def _user(user: _User) -> User:
    return User(user.id, _time(user.creation_date), user.friendly_name, user.email)


def _group(group: _Group) -> Group:
    return Group(group.id, _time(group.creation_date), group.description)


def _policy(policy: _Policy) -> Policy:
    return Policy(policy.id, _time(policy.creation_date), policy.statement)


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
