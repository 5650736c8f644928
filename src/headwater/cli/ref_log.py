"""`hw ref-log` and `hw undo`: what was done to branches and tags, and taking it back."""

from __future__ import annotations

from itertools import islice

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.places import REPOSITORY, Place
from headwater.cli.session import session
from headwater.cli.showing import REF_CHANGES


class Undone(msgspec.Struct, frozen=True):
    """The change that was taken back."""

    id: str


@command("ref-log")
@click.argument("repository", type=REPOSITORY)
@click.option("-n", "--number", type=click.IntRange(1), metavar="N", help="That many at most.")
def ref_log(repository: Place, number: int | None) -> None:
    """Show what was done to branches and tags, newest first."""
    session().output.rows(islice(session().repository(repository.repository).ref_log(), number), REF_CHANGES)


@command("undo")
@click.argument("repository", type=REPOSITORY)
@click.argument("change")
def undo(repository: Place, change: str) -> None:
    """Take back what was done to a branch or tag.

    It is brought back to what it was before a CHANGE of the ref log: `hw ref-log REPO` has their ids.
    """
    session().repository(repository.repository).undo_ref(change)
    session().output.done(Undone(change), f"undone: {change}")
