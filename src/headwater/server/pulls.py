"""Pull requests: proposals to merge one branch into another, kept until somebody merges or closes them.

Each is one value in a partition of its repository, under an id that ascends with time. What is merged is decided when
it is merged, not when it is proposed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.kv import ABSENT, PredicateFailed, Store, UnknownOutcome
from headwater.kv.limits import MAX_PAGE as STORE_PAGE
from headwater.outside import Outside
from headwater.staging.tries import tries

Status: TypeAlias = Literal["open", "closed", "merged"]
Filter: TypeAlias = Literal["open", "closed", "all"]

MAX_TITLE = 1000
"""Bytes of a title: a line or two."""

MAX_DESCRIPTION = 64 * 1024
"""Bytes of a description: some twenty pages."""

_ID = 12 + 8
"""Characters of an id: milliseconds since 1970, and as many at random as make two at once unlikely."""


class PullNotFound(HeadwaterError):
    """There is no such pull request."""


class PullEnded(HeadwaterError):
    """The pull request is closed or merged, and what was asked for is for open ones. Nothing was changed."""


class Pull(msgspec.Struct, frozen=True):
    """A pull request. Times are in milliseconds since 1970."""

    id: str
    status: Status
    title: str
    description: str
    author: str
    source: str
    destination: str
    created: int
    closed: int | None = None
    merged_commit: str = ""


class Pulls:
    """The pull requests of every repository."""

    def __init__(self, store: Store, outside: Outside) -> None:
        self._store = store
        self._outside = outside

    async def create(
        self, repository: Repository, *, title: str, description: str, author: str, source: str, destination: str
    ) -> Pull:
        """A new one, open. Whether there are such branches is the caller's to know."""
        now = self._outside.now()
        identity = f"{now:012x}{self._outside.random(4).hex()}"
        made = Pull(identity, "open", title, description, author, source, destination, now)
        _check(made)
        repository.check_writable()
        await self._store.set_if(_partition(repository), identity.encode(), msgspec.msgpack.encode(made), ABSENT)
        return made

    async def get(self, repository: Repository, identity: str) -> Pull:
        """The pull request of that id, or `PullNotFound`."""
        found = await self._store.get(_partition(repository), _key(identity))
        if found is None:
            raise PullNotFound(f"repository {repository.name!r} has no pull request {identity[:80]!r}")
        return _decode(found.value)

    async def list(
        self, repository: Repository, *, prefix: str = "", after: str = "", amount: int, status: Filter = "all"
    ) -> list[Pull]:
        """A page of those whose ids begin with *prefix* and come after *after*, the oldest first."""
        begins = prefix.encode()
        start = max(begins, after.encode() + b"\0") if after else begins
        found: list[Pull] = []
        async for page in self._store.scan(_partition(repository), start, page=min(amount, STORE_PAGE)):
            for entry in page:
                if not entry.key.startswith(begins) or len(found) == amount:
                    return found
                pull = _decode(entry.value)
                if status == "all" or (pull.status == "open") == (status == "open"):
                    found.append(pull)
        return found

    async def change(self, repository: Repository, identity: str, change: Callable[[Pull], Pull]) -> Pull:
        """Make it what *change* makes of it, which is asked again if somebody else was quicker."""
        async for _ in tries(self._outside, f"changing pull request {identity!r}"):
            found = await self._store.get(_partition(repository), _key(identity))
            if found is None:
                raise PullNotFound(f"repository {repository.name!r} has no pull request {identity[:80]!r}")
            changed = change(_decode(found.value))
            _check(changed)
            try:
                value = msgspec.msgpack.encode(changed)
                await self._store.set_if(_partition(repository), _key(identity), value, found.predicate)
            except (PredicateFailed, UnknownOutcome):
                continue
            return changed
        raise AssertionError("tries never end quietly")

    async def update(
        self,
        repository: Repository,
        identity: str,
        *,
        title: str | None,
        description: str | None,
        status: Status | None,
    ) -> Pull:
        """Give it another title or description, close it, or open it again."""
        if status == "merged":
            raise BadRequest("status: a pull request is merged by merging it")

        def updated(pull: Pull) -> Pull:
            if pull.status == "merged" and status is not None:
                raise PullEnded(f"pull request {identity!r} is merged, which it stays")
            return msgspec.structs.replace(
                pull,
                title=pull.title if title is None else title,
                description=pull.description if description is None else description,
                status=pull.status if status is None else status,
                closed=pull.closed if status in (None, pull.status) else None if status == "open" else self._now(),
            )

        return await self.change(repository, identity, updated)

    async def merged(self, repository: Repository, identity: str, commit: str) -> Pull:
        """Remember that it was merged in *commit*."""

        def done(pull: Pull) -> Pull:
            return msgspec.structs.replace(pull, status="merged", closed=self._now(), merged_commit=commit)

        return await self.change(repository, identity, done)

    async def forget(self, repository: Repository) -> None:
        """Delete those of a repository that is gone."""
        partition = _partition(repository)
        async for page in self._store.scan(partition):
            await self._store.delete_many(partition, [entry.key for entry in page])

    def _now(self) -> int:
        return self._outside.now()


def check_open(pull: Pull) -> None:
    """Raise `PullEnded` unless *pull* is open."""
    if pull.status != "open":
        raise PullEnded(f"pull request {pull.id!r} is {pull.status}: only open ones can be merged")


def _check(pull: Pull) -> None:
    if not 1 <= len(pull.title.encode()) <= MAX_TITLE:
        raise BadRequest(f"title: it has 1 to {MAX_TITLE} bytes, not {len(pull.title.encode())}")
    if len(pull.description.encode()) > MAX_DESCRIPTION:
        raise BadRequest(f"description: it has {MAX_DESCRIPTION} bytes at most, not {len(pull.description.encode())}")


def _partition(repository: Repository) -> bytes:
    return b"pulls/" + repository.record.id.encode()


def _key(identity: str) -> bytes:
    """The key of a pull request. An id of another shape is nobody's, whatever it is."""
    return identity.encode() if len(identity) == _ID and identity.isascii() else b"-"


def _decode(value: bytes) -> Pull:
    return msgspec.msgpack.decode(value, type=Pull)
