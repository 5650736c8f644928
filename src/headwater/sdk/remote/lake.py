"""A lake and its repositories, on a server."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.engine.repository import Mode
from headwater.sdk.limits import PAGE
from headwater.sdk.ports import Found
from headwater.sdk.remote import answers
from headwater.sdk.remote.committing import Committing
from headwater.sdk.remote.connection import Connection
from headwater.sdk.remote.files import Files
from headwater.sdk.remote.garbage import Garbage
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.reading import Reading
from headwater.sdk.remote.refs import Refs
from headwater.sdk.remote.urls import segment
from headwater.sdk.remote.workspaces import Workspaces
from headwater.sdk.remote.writing import Writing


class RemoteLake:
    """Repositories by name. Who commits and tags is who the credentials are of."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def create_repo(
        self,
        name: str,
        *,
        namespace: str | None,
        default_branch: str,
        read_only: bool,
        metadata: Mapping[str, str],
        mode: Mode,
    ) -> RemoteRepository:
        body = {
            "name": name,
            "storage_namespace": namespace or "",
            "default_branch": default_branch,
            "read_only": read_only,
            "metadata": metadata,
            "mode": mode,
        }
        made = await self._connection.tell(answers.Repository, "POST", "/repositories", body=body)
        return RemoteRepository(self._connection, made)

    async def repo(self, name: str) -> RemoteRepository:
        found = await self._connection.ask(answers.Repository, f"/repositories/{segment(name)}")
        return RemoteRepository(self._connection, found)

    async def repos(self, prefix: str, after: str) -> Found[str]:
        query = {"prefix": prefix, "after": after, "amount": PAGE}
        page = await self._connection.ask(answers.Page[answers.Named], "/repositories", query)
        return [each.id for each in page.results], page.after

    async def delete_repo(self, name: str) -> None:
        await self._connection.tell(type(None), "DELETE", f"/repositories/{segment(name)}")

    async def aclose(self) -> None:
        await self._connection.aclose()


class RemoteRepository:
    """What can be asked of a repository of a server."""

    def __init__(self, connection: Connection, told: answers.Repository) -> None:
        place = Place(connection, told.id)
        self._told = told
        self.refs = Refs(place)
        self.reading = Reading(place)
        self.writing = Writing(place)
        self.committing = Committing(place)
        self.files = Files(place)
        self.workspaces = Workspaces(place, told.storage_namespace)
        self.garbage = Garbage(place)

    @property
    def name(self) -> str:
        return self._told.id

    @property
    def namespace(self) -> str:
        return self._told.storage_namespace

    @property
    def default_branch(self) -> str:
        return self._told.default_branch

    @property
    def metadata(self) -> Mapping[str, str]:
        return self._told.metadata

    @property
    def mode(self) -> Mode:
        return self._told.mode
