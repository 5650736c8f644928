"""A lake and its repositories, over the engine."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from headwater.engine.repository import Mode, Repository
from headwater.sdk.embedded.committing import Committing
from headwater.sdk.embedded.files import Files
from headwater.sdk.embedded.reading import Reading
from headwater.sdk.embedded.refs import Refs
from headwater.sdk.embedded.workspaces import Workspaces
from headwater.sdk.embedded.writing import Writing
from headwater.sdk.limits import PAGE, REPOSITORIES
from headwater.sdk.opening import Opened
from headwater.sdk.ports import Found


class EmbeddedLake:
    """Repositories by name. *committer* is who commits and tags."""

    def __init__(self, opened: Opened, committer: str) -> None:
        self._opened = opened
        self._committer = committer
        self._lock = threading.Lock()  # the face that waits may be used from several threads
        self._known: OrderedDict[str, Repository] = OrderedDict()

    async def create_repo(
        self,
        name: str,
        *,
        namespace: str | None,
        default_branch: str,
        read_only: bool,
        metadata: Mapping[str, str],
        mode: Mode,
    ) -> EmbeddedRepository:
        created = await self._opened.lake.create(
            name,
            namespace or self._opened.storage.namespace_of(name),
            default_branch=default_branch,
            committer=self._committer,
            read_only=read_only,
            metadata=metadata,
            mode=mode,
        )
        return self._of(created)

    async def repo(self, name: str) -> EmbeddedRepository:
        return self._of(await self._opened.lake.open(name))

    async def repos(self, prefix: str, after: str) -> Found[str]:
        page = await self._opened.lake.list(prefix=prefix, after=after, amount=PAGE)
        names = [record.name for record in page]
        return names, names[-1] if len(names) == PAGE else None

    async def delete_repo(self, name: str) -> None:
        await self._opened.lake.delete(name)

    async def aclose(self) -> None:
        await self._opened.lake.aclose()

    def _of(self, opened: Repository) -> EmbeddedRepository:
        """The same repository as before, with its caches, if nothing of it has changed."""
        with self._lock:
            known = self._known.pop(opened.record.id, opened)
            if known.record != opened.record:
                known = opened
            self._known[opened.record.id] = known
            if len(self._known) > REPOSITORIES:
                self._known.popitem(last=False)
        return EmbeddedRepository(known, self._committer)


class EmbeddedRepository:
    """What can be asked of a repository of the engine."""

    def __init__(self, repository: Repository, committer: str) -> None:
        self.engine = repository
        """The repository as the verbs of the engine take it."""

        self.committer = committer
        self.refs = Refs(repository, committer)
        self.reading = Reading(repository)
        self.writing = Writing(repository)
        self.committing = Committing(repository, committer)
        self.files = Files(repository, committer)
        self.workspaces = Workspaces(repository, committer)

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def namespace(self) -> str:
        return self.engine.record.namespace

    @property
    def default_branch(self) -> str:
        return self.engine.record.default_branch

    @property
    def metadata(self) -> Mapping[str, str]:
        return self.engine.record.metadata

    @property
    def mode(self) -> Mode:
        return self.engine.record.mode
