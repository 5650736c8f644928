"""`hw commit` and `hw reset`: what becomes of what is staged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.hooks import warn_of_hooks
from headwater.cli.options import TimeType, confirm, message_option, metadata_option, yes_option
from headwater.cli.places import BRANCH, BRANCH_PATH, Place, ref_in
from headwater.cli.session import session
from headwater.cli.showing import commit_shown, short


class Reset(msgspec.Struct, frozen=True):
    """What was given up: all that was staged at this place."""

    reset: str


@command("commit")
@click.argument("branch", type=BRANCH)
@message_option("What was done.", required=True)
@metadata_option
@click.option("--time", type=TimeType(), help="When it was done, if not now.")
@click.option("--allow-empty", is_flag=True, help="Also if nothing is staged.")
def commit(
    branch: Place, message: str, metadata: Mapping[str, str], time: datetime | None, *, allow_empty: bool
) -> None:
    """Commit what is staged on a branch."""
    made = (
        session()
        .repository(branch.repository)
        .branch(branch.ref)
        .commit(message, metadata=metadata, time=time, allow_empty=allow_empty)
    )
    session().output.done(commit_shown(made), f"committed {short(made.id)} to {branch}")
    warn_of_hooks(branch.repository, branch.ref)


@command("reset")
@click.argument("place", type=BRANCH_PATH)
@click.option("--hard", metavar="REF", help="Also make the branch point at that commit.")
@yes_option
def reset(place: Place, hard: str | None, *, yes: bool) -> None:
    """Give up what is staged on a branch, or at a path.

    A path that ends in a slash means all below it. With --hard the branch is moved, too; `hw undo` takes the move back,
    but not what was staged.
    """
    branch = session().repository(place.repository).branch(place.ref)
    if hard is not None:
        if place.path:
            raise click.UsageError("--hard is for a whole branch: give no path")
        confirm(f"Move {place} to {hard}, and give up all that is staged on it?", yes=yes)
        moved = branch.hard_reset(ref_in(place.repository, hard))
        session().output.done(commit_shown(moved), f"{place} is at {short(moved.id)}")
        return
    confirm(f"Give up what is staged at {place}?", yes=yes)
    if place.path.endswith("/"):
        branch.reset(prefix=place.path)
    else:
        branch.reset(place.path or None)
    session().output.done(Reset(str(place)), f"reset {place}")
