"""Commits that others were faster than: what they set out to commit went along with somebody else's.

Of those who commit to a branch at one time, the first takes along what all have staged. To tell the others that there
is nothing to commit would be wrong: when they asked, there was something. So their commits land behind it, with their
own messages and metadata, and change nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.history import Commit
from headwater.refs.branch import Branch
from headwater.staging.viewing import tokens_to_read

if TYPE_CHECKING:
    from headwater.engine.commit import Description


def was_taken_along(asked: Branch, now: Branch) -> bool:
    """Whether what was staged when the record was as *asked* has been committed by *now*, all of it.

    None of its tokens is there any more, nor were they compacted, and the head has moved on. A reset leaves the head
    where it is, and whatever else drops tokens changes the incarnation.
    """
    if asked.clean or now.base or asked.commit == now.commit or asked.incarnation != now.incarnation:
        return False
    return {*tokens_to_read(asked)}.isdisjoint((now.token, *now.sealed))


def says(commit: Commit, description: Description) -> bool:
    """Whether *commit* says what *description* does: then it is what was asked for, and perhaps by the same client,
    who did not hear the answer."""
    told = description.message, description.committer, dict(description.metadata)
    return (commit.message, commit.committer, dict(commit.metadata)) == told
