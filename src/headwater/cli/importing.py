"""`hw import`: objects that are somewhere already become files of a branch."""

from __future__ import annotations

from collections.abc import Mapping

import click

from headwater.cli.commanding import command
from headwater.cli.options import message_option, metadata_option
from headwater.cli.places import BRANCH_PATH, Place
from headwater.cli.session import session
from headwater.cli.showing import commit_shown, short


@command("import")
@click.argument("source", metavar="URI")
@click.argument("place", type=BRANCH_PATH)
@message_option("What was imported.")
@metadata_option
def import_objects(source: str, place: Place, message: str | None, metadata: Mapping[str, str]) -> None:
    """Commit objects that are somewhere already. Nothing is copied.

    Every object whose URI begins with URI gets a path: that of the place, and what follows in the URI. What the branch
    has elsewhere stays.
    """
    branch = session().repository(place.repository).branch(place.ref)
    made = branch.import_prefix(source, place.path, message, metadata=metadata)
    session().output.done(commit_shown(made), f"imported {source} to {place}: {short(made.id)}")
