"""Taking the staging token out of use, so that what it holds can be committed or compacted."""

from __future__ import annotations

import msgspec

from headwater.kv import PredicateFailed, UnknownOutcome
from headwater.outside import Outside
from headwater.refs.branch import Branch
from headwater.refs.branches import Branches, Seen
from headwater.staging.errors import LimitExceeded
from headwater.staging.limits import SEALED
from headwater.staging.tokens import new_token
from headwater.staging.tries import tries


async def seal(branches: Branches, outside: Outside, name: str) -> Seen:
    """The branch with nothing but sealed tokens: whatever was acknowledged before this call is under one of them.

    A branch whose token is not dirty is sealed as it is: nothing acknowledged can be under that token.
    """
    ours: set[str] = set()
    async for _ in tries(outside, f"sealing branch {name!r}"):
        seen = await branches.fresh(name)
        branch = seen.branch
        if not branch.dirty or branch.token in ours:  # the latter: a swap whose answer was lost
            return seen
        if len(branch.sealed) >= SEALED:
            raise LimitExceeded(
                f"branch {name!r} has {SEALED} sealed tokens: committers keep crashing before they are done; "
                "see why, and compact the branch: then it can be committed again"
            )
        token = new_token(outside)
        ours.add(token)
        try:
            return await branches.swap(seen, with_fresh_token(branch, token))
        except (PredicateFailed, UnknownOutcome):
            continue
    raise AssertionError("tries never end quietly")


def with_fresh_token(branch: Branch, token: str) -> Branch:
    """The record that seals. Tokens that others sealed and never committed stay before ours, for us to commit.

    The fresh token is empty, so here, and only here, `dirty` may become false.
    """
    return msgspec.structs.replace(branch, token=token, sealed=(*branch.sealed, branch.token), dirty=False)
