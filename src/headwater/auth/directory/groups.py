"""Groups of users, which policies are attached to."""

from __future__ import annotations

from headwater.auth.directory.entities import Entities
from headwater.auth.directory.links import Links
from headwater.auth.directory.realm import Realm
from headwater.auth.directory.records import Group, check_text


class Groups(Entities[Group]):
    """All groups."""

    def __init__(self, realm: Realm, links: Links) -> None:
        super().__init__(realm, links, "group", Group)

    async def create(self, id: str, *, description: str | None = None) -> Group:  # noqa: A002
        check_text("the description", description)
        return await self.add(Group(id, self.new_incarnation(), self._realm.outside.now(), description))
