"""Which policies users and groups have, and which of them apply to a user."""

from __future__ import annotations

from functools import partial

from headwater.auth.directory.groups import Groups
from headwater.auth.directory.links import Links
from headwater.auth.directory.listing import ALL, Item, Page, Window
from headwater.auth.directory.policies import Policies
from headwater.auth.directory.records import Group, Policy, User
from headwater.auth.directory.tied import targets_tied
from headwater.auth.directory.users import Users
from headwater.auth.errors import BadRequest
from headwater.drive import together


class Attachments:
    """Of policies to users and to groups."""

    def __init__(self, links: Links, users: Users, groups: Groups, policies: Policies) -> None:
        self._links = links
        self._users = users
        self._groups = groups
        self._policies = policies

    async def attach_to_user(self, policy: str, user: str) -> None:
        """Let *policy* apply to *user*. Content if it does."""
        await self._links.tie(await self._users.get(user), await self._policies.get(policy))

    async def detach_from_user(self, policy: str, user: str) -> None:
        """Let *policy* apply to *user* no more, groups aside; `NotFound` if it did not."""
        await self._links.untie(await self._users.get(user), await self._policies.get(policy))

    async def attach_to_group(self, policy: str, group: str) -> None:
        """Let *policy* apply to all members of *group*. Content if it does."""
        await self._links.tie(await self._groups.get(group), await self._policies.get(policy))

    async def detach_from_group(self, policy: str, group: str) -> None:
        """Let *policy* apply to members of *group* no more; `NotFound` if it did not."""
        await self._links.untie(await self._groups.get(group), await self._policies.get(policy))

    async def of_user(self, user: str, window: Window = ALL) -> Page[Policy]:
        """A page of the policies that are attached to *user* itself."""
        return await targets_tied(self._links, await self._users.get(user), self._policies, "policy", window)

    async def of_group(self, group: str, window: Window = ALL) -> Page[Policy]:
        """A page of the policies that are attached to *group*."""
        return await targets_tied(self._links, await self._groups.get(group), self._policies, "policy", window)

    async def effective_of_user(self, user: str, window: Window = ALL) -> Page[Policy]:
        """A page of all policies that apply to *user*, through whatever group."""
        policies = [
            policy
            for policy in await self.applying_to(await self._users.get(user))
            if policy.id.startswith(window.prefix) and policy.id > window.after
        ]
        more = len(policies) > window.amount
        return Page(tuple(policies[: window.amount]), policies[window.amount - 1].id if more else None)

    async def applying_to(self, user: User) -> list[Policy]:
        """All policies that apply to *user*, by id, each once.

        A scan and a `get_many` for the groups, then the same for the policies of the user and of each group, side by
        side. Nothing counts that is not about just these incarnations.
        """
        groups = everything(user.id, await targets_tied(self._links, user, self._groups, "group", ALL))
        owners: list[User | Group] = [user, *groups]
        pages = await together([partial(self._of, owner) for owner in owners])
        found = {
            policy.id: policy
            for owner, page in zip(owners, pages, strict=True)
            for policy in everything(owner.id, page)
        }
        return [found[id_] for id_ in sorted(found)]

    async def _of(self, owner: User | Group) -> Page[Policy]:
        return await targets_tied(self._links, owner, self._policies, "policy", ALL)


def everything(owner: str, page: Page[Item]) -> tuple[Item, ...]:
    """What is on a page that must be the only one: to follow some of the policies would be to skip those that deny."""
    if page.after is not None:
        raise BadRequest(f"{owner!r} has more than {len(page.items)} groups or policies: detach some")
    return page.items
