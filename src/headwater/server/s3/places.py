"""What the first part of a key means, and what can be done there: the one seam between S3's verbs and the engine's.

An operation asks `place_of` for the place, and works on whatever it is given: a branch, any other reference, which only
takes reads, or a workspace, whose keys begin with `BRANCH+ID`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, Protocol

import msgspec

from headwater.blob import BlobError, Body
from headwater.blob.namespace import workspace_name
from headwater.engine import copies, read, write
from headwater.engine.conditional import Condition
from headwater.engine.errors import PathNotFound
from headwater.engine.paths import key_of, path_of
from headwater.engine.redescribing import redescribe
from headwater.engine.repository import Repository
from headwater.engine.workspaces.beginning import resume
from headwater.engine.workspaces.ids import WorkspaceRef, workspace_of
from headwater.engine.write import StoredBytes
from headwater.history import BadExpression, is_name
from headwater.index import Entry, Listing
from headwater.refs.errors import RefNotFound
from headwater.server.s3.errors import S3Error
from headwater.server.s3.keys import ref_of
from headwater.server.services import Services


class Attributes(msgspec.Struct, frozen=True):
    """What an object has beside its bytes."""

    content_type: str | None
    metadata: Mapping[str, str]


_NO_TAGS = "an object in a workspace has no tags or metadata of its own"

Describe = Callable[[StoredBytes], Attributes]
"""Says what an object has beside its bytes, once they are stored: only then trailers and checksums are known. It raises
if they are not the bytes that were announced, and then there is no object."""


class Place(Protocol):
    """Where keys with one first part lead."""

    copies_bytes: ClassVar[bool]
    """Whether `stage` copies the bytes of what is staged, so that it does not matter what becomes of those."""

    async def stat(self, path: str) -> Entry:
        """What is at *path*, or `PathNotFound`."""

    async def held(self, path: str) -> Entry:
        """What `stat` gives, to be staged somewhere else or once more: its bytes stay meanwhile."""

    async def list(self, *, prefix: str, delimiter: str, after: str, amount: int) -> Listing:
        """A page of what is there, as `engine.read.listing` has it. Of a place that is not there, nothing."""

    async def check_writable(self) -> None:
        """Raise, in S3's words where the engine has none, unless something can be written there."""

    async def put(self, path: str, body: Body, describe: Describe, condition: Condition | None) -> Entry:
        """Write *body* to *path*, if *condition* holds."""

    async def stage(self, entry: Entry, condition: Condition | None) -> None:
        """Write an entry whose bytes are in the repository's namespace already."""

    async def redescribe(self, path: str, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> None:
        """Give what is at *path* the metadata that *change* makes of what it has."""

    async def delete(self, paths: Sequence[str]) -> None:
        """Delete what is at *paths*. Content where there is nothing."""

    async def delete_if(self, path: str, condition: Condition) -> None:
        """Delete what is at *path*, if *condition* holds of it."""


def place_of(services: Services, repository: Repository, first: str) -> Place:
    """The place that *first*, the part of a key before its first slash, leads to. Nothing is read."""
    if (workspace := workspace_of(ref_of(first))) is not None:
        return WorkspacePlace(services, repository, workspace)
    return ReferencePlace(services, repository, ref_of(first))


class ReferencePlace:
    """A branch, or any other reference: a tag, a commit, an expression. Only a branch takes writes."""

    copies_bytes: ClassVar[bool] = False

    def __init__(self, services: Services, repository: Repository, ref: str) -> None:
        self._services = services
        self._repository = repository
        self._ref = ref

    async def stat(self, path: str) -> Entry:
        try:
            return await read.stat(self._repository, self._ref, path)
        except BadExpression as error:
            raise PathNotFound(str(error)) from None

    async def held(self, path: str) -> Entry:
        try:
            return await copies.held(self._repository, self._ref, path)
        except BadExpression as error:
            raise PathNotFound(str(error)) from None

    async def list(self, *, prefix: str, delimiter: str, after: str, amount: int) -> Listing:
        try:
            return await read.listing(
                self._repository, self._ref, prefix=prefix, delimiter=delimiter, after=after, amount=amount
            )
        except (RefNotFound, BadExpression):
            return Listing(())

    async def check_writable(self) -> None:
        repository, ref = self._repository, self._ref
        repository.check_writable()
        if not is_name(ref):
            raise await self._no_branch()
        try:
            await repository.branches.recent(ref)
        except RefNotFound:
            raise await self._no_branch() from None
        await self._services.rules.check_stageable(repository, ref)

    async def put(self, path: str, body: Body, describe: Describe, condition: Condition | None) -> Entry:
        key = key_of(path)
        stored = await write.store(self._repository, body)
        try:
            attributes = describe(stored)
        except Exception:
            with suppress(BlobError):  # what no entry names is garbage, and would be collected
                await self._repository.blobs.delete(stored.block.address)
            raise
        entry = msgspec.structs.replace(
            stored.entry(key), content_type=attributes.content_type, metadata=dict(attributes.metadata)
        )
        await self.stage(entry, condition)
        return entry

    async def stage(self, entry: Entry, condition: Condition | None) -> None:
        await write.stage(self._repository, self._ref, entry, condition)

    async def redescribe(self, path: str, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> None:
        if self._repository.grows:
            raise S3Error("NotImplemented", "in an append repository, tags are given with what makes a file")
        await redescribe(self._repository, self._ref, path, change)

    async def delete(self, paths: Sequence[str]) -> None:
        await write.delete(self._repository, self._ref, paths)

    async def delete_if(self, path: str, condition: Condition) -> None:
        await write.delete_if(self._repository, self._ref, path, condition)

    async def _no_branch(self) -> S3Error:
        """Why nothing can be written there."""
        try:
            await read.list_entries(self._repository, self._ref, amount=1)
        except (RefNotFound, BadExpression):
            return S3Error("NoSuchBucket", f"there is no branch {self._ref[:300]!r} in {self._repository.name!r}")
        return S3Error("AccessDenied", f"{self._ref[:300]!r} is no branch: nothing is written to a commit or a tag")


class WorkspacePlace(ReferencePlace):
    """A workspace. Objects lie at their paths in the bucket below: what is written is moved there when it is whole.

    No store can be relied on to hold a name with a slash at its end. Clients leave empty objects under such names where
    a directory would be: they succeed, and leave nothing, as a directory without files does.
    """

    copies_bytes: ClassVar[bool] = True

    def __init__(self, services: Services, repository: Repository, workspace: WorkspaceRef) -> None:
        super().__init__(services, repository, str(workspace))
        self._workspace = workspace

    async def check_writable(self) -> None:
        self._repository.check_writable()
        try:
            await resume(self._repository, self._workspace.branch, self._workspace.id)
        except RefNotFound as error:
            raise S3Error("NoSuchBucket", str(error)) from None

    async def put(self, path: str, body: Body, describe: Describe, condition: Condition | None) -> Entry:
        stored = await write.store(self._repository, body)
        try:
            describe(stored)
            entry = stored.entry(key_of(path))
            if not (path.endswith("/") and entry.size == 0):
                await self.stage(entry, condition)
        finally:
            with suppress(BlobError):  # it was copied, or is garbage, and would be collected
                await self._repository.blobs.delete(stored.block.address)
        return entry

    async def delete(self, paths: Sequence[str]) -> None:
        markers = [path for path in paths if path.endswith("/")]
        for path in markers:
            with suppress(PathNotFound):
                await self.stat(path)
                raise S3Error(
                    "NotImplemented", f"{path[:300]!r} is committed, and a workspace cannot say that it is gone"
                )
        await super().delete([path for path in paths if path not in markers])

    async def redescribe(self, path: str, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> None:  # noqa: ARG002
        raise S3Error("NotImplemented", _NO_TAGS)

    async def stage(self, entry: Entry, condition: Condition | None) -> None:
        here = workspace_name(self._workspace.id, path_of(entry.key))
        if any(block.address == here for block in entry.blocks):
            raise S3Error("NotImplemented", _NO_TAGS)
        await super().stage(entry, condition)
