"""Which users are in which groups."""

from __future__ import annotations

from headwater.auth.directory.groups import Groups
from headwater.auth.directory.links import Links
from headwater.auth.directory.listing import ALL, Page, Window
from headwater.auth.directory.records import Group, User
from headwater.auth.directory.tied import owners_tied, targets_tied
from headwater.auth.directory.users import Users


class Memberships:
    """Of users in groups; groups have no groups."""

    def __init__(self, links: Links, users: Users, groups: Groups) -> None:
        self._links = links
        self._users = users
        self._groups = groups

    async def add(self, group: str, user: str) -> None:
        """Put *user* into *group*. Content if it is there."""
        await self._links.tie(await self._users.get(user), await self._groups.get(group))

    async def remove(self, group: str, user: str) -> None:
        """Take *user* out of *group*; `NotFound` if it was not in it."""
        await self._links.untie(await self._users.get(user), await self._groups.get(group))

    async def users_of(self, group: str, window: Window = ALL) -> Page[User]:
        """A page of the members of *group*."""
        return await owners_tied(self._links, await self._groups.get(group), self._users, "user", window)

    async def groups_of(self, user: str, window: Window = ALL) -> Page[Group]:
        """A page of the groups that *user* is in."""
        return await targets_tied(self._links, await self._users.get(user), self._groups, "group", window)
