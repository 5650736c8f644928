"""How far a workspace is: one small object, written when something of it is first committed.

    open -> committing -> closed        all of it became a commit
    open -> committing -> open          a part did, or it came to nothing

A workspace without that object is open. Whoever writes looks at it before and after, so what was acknowledged before a
commit began is in it, and nothing is acknowledged in a workspace that was closed meanwhile.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from headwater.blob import IF_ABSENT, Condition, ConditionFailed, IfMatch, NotFound, OutcomeUnknown
from headwater.blob.namespace import workspace_state_name
from headwater.engine.errors import BadRequest, EngineError
from headwater.engine.repository import Repository
from headwater.engine.workspaces.errors import WorkspaceBusy, WorkspaceClosed
from headwater.engine.workspaces.ids import parse_id
from headwater.staging.tries import tries

Phase: TypeAlias = Literal["open", "committing", "closed"]


class State(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a workspace."""

    phase: Phase = "open"
    attempt: str = ""
    """The commit that was begun last: no two have the same, so no two states are equal."""

    since: int = 0
    """When that was, in milliseconds since 1970."""

    landed: tuple[str, ...] = ()
    """The commits that were made of it, in order."""

    unheard: str = ""
    """The last of them, if nobody was told of it yet: the answer to whoever commits next and finds nothing more."""


class SeenState(msgspec.Struct, frozen=True):
    """A state as it was read, and what holds while it is that."""

    id: str
    state: State
    condition: Condition


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(State)


async def read_state(repository: Repository, id: str) -> SeenState:  # noqa: A002  (it is one)
    """The state of the workspace *id*. One request."""
    name = workspace_state_name(id)
    try:
        found = await repository.blobs.fetch(name)
    except NotFound:
        return SeenState(id, State(), IF_ABSENT)
    try:
        return SeenState(id, _decoder.decode(found.body), IfMatch(found.stat.etag))
    except msgspec.MsgspecError as error:
        raise EngineError(f"{name} does not tell the state of a workspace: {error}") from None


async def swap_state(repository: Repository, seen: SeenState, state: State) -> SeenState:
    """Write *state* if it is still as it was *seen*; else raise `WorkspaceBusy`. An answer that is lost is sought."""
    try:
        stored = await repository.blobs.put(
            workspace_state_name(seen.id),
            _encoder.encode(state),
            condition=seen.condition,
            content_type="application/json",
        )
    except OutcomeUnknown:
        now = await read_state(repository, seen.id)
        if now.state == state:
            return now
        raise WorkspaceBusy(f"workspace {seen.id}: whether it can be committed is not known; try again") from None
    except ConditionFailed:
        raise WorkspaceBusy(f"workspace {seen.id}: somebody else is committing it") from None
    return SeenState(seen.id, state, IfMatch(stored.etag))


async def usable(repository: Repository, id: str) -> State:  # noqa: A002  (it is one)
    """The state of a workspace that can be read, or `WorkspaceClosed`."""
    state = (await read_state(repository, id)).state
    check_not_closed(id, state)
    return state


async def check_base(repository: Repository, id: str) -> None:  # noqa: A002  (it is one)
    """Raise `BadRequest` unless *id* is that of a workspace on a commit of this repository. A trip, the first time."""
    base = parse_id(id).base
    if base not in await repository.commits.find([base]):
        raise BadRequest(f"workspace {id} is based on a commit that {repository.name!r} has not: it is of another one")


async def writable(repository: Repository, id: str) -> State:  # noqa: A002  (it is one)
    """The state of a workspace that can be written to, when nobody is committing it any more; or `WorkspaceClosed`."""
    async for _ in tries(repository.outside, f"workspace {id} is being committed: writing to it"):
        state = await usable(repository, id)
        if state.phase == "open":
            return state
    raise AssertionError("tries never end quietly")


def check_not_closed(id: str, state: State) -> None:  # noqa: A002  (it is one)
    if state.phase == "closed":
        what = f"became commit {state.landed[-1]}" if state.landed else "was given up"
        raise WorkspaceClosed(f"workspace {id} {what}: begin another one")
