"""Users: whoever may ask for anything, people and programs alike."""

from __future__ import annotations

from headwater.auth.directory.credentials import Credentials
from headwater.auth.directory.entities import Entities
from headwater.auth.directory.links import Links
from headwater.auth.directory.realm import Realm
from headwater.auth.directory.records import User, check_text


class Users(Entities[User]):
    """All users. One that is just created has no credentials and may do nothing."""

    def __init__(self, realm: Realm, links: Links, credentials: Credentials) -> None:
        super().__init__(realm, links, "user", User)
        self._credentials = credentials

    async def create(self, id: str, *, friendly_name: str | None = None, email: str | None = None) -> User:  # noqa: A002
        check_text("the friendly name", friendly_name)
        check_text("the e-mail address", email)
        return await self.add(User(id, self.new_incarnation(), self._realm.outside.now(), friendly_name, email))

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete a user: its credentials first, so that nobody goes on in its name."""
        await self._credentials.delete_all(await self.get(id))
        await super().delete(id)
