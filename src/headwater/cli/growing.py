"""`hw append`, `hw glob` and `hw history`: files that grow, patterns of paths, and what became of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import BinaryIO

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.places import FILE, Place, PlaceType
from headwater.cli.session import session
from headwater.cli.showing import COMMITS, ENTRIES, commit_shown, entry_shown
from headwater.cli.sizes import readable
from headwater.cli.trees import content_of, guessed_type


class Appended(msgspec.Struct, frozen=True):
    """What was appended: *id* names this append for ever, so that it can be repeated and still count once."""

    id: str
    path: str
    size: int


@command("append")
@click.argument("place", type=PlaceType("REPO/BRANCH/PATH", "repository", "ref", "path"))
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--id", "identity", metavar="ID", help="The id that it is to have, to be able to repeat it.")
@click.option("--again", is_flag=True, help="It is a repetition of the append that has the ID.")
def append(place: Place, file: BinaryIO, identity: str | None, *, again: bool) -> None:
    """Add to the end of a file of an append repository.

    What is added comes from FILE, or from standard input. Appends never conflict. If it does not become known whether
    this one was made, its id is told: with that, --again and the same bytes it may be repeated, and counts once.
    """
    if again and identity is None:
        raise click.UsageError("--again repeats an append: say which, by --id")
    repository = session().repository(place.repository)
    name = identity or repository.new_append_id()
    with _telling(name):
        made = repository.branch(place.ref).append(
            place.path, content_of(file), id=name, again=again, content_type=guessed_type(place.path)
        )
    done = f"appended {readable(made.size)} to {place}: {made.id}"
    session().output.done(Appended(made.id, made.path, made.size), done)


@command("glob")
@click.argument("pattern", type=PlaceType("REPO/REF/PATTERN", "repository", "ref", "path"))
def glob(pattern: Place) -> None:
    """Show the files that match a pattern.

    It has *, ? and [a-z] for parts of a name, and ** for any number of directories.
    """
    found = session().repository(pattern.repository).ref(pattern.ref).glob(pattern.path)
    session().output.rows(map(entry_shown, found), ENTRIES)


@command("history")
@click.argument("place", type=FILE)
@click.option("-n", "--number", type=click.IntRange(1), metavar="N", help="That many commits at most.")
def history(place: Place, number: int | None) -> None:
    """Show the commits that changed a path, newest first."""
    found = session().repository(place.repository).ref(place.ref).history(place.path)
    session().output.rows(map(commit_shown, islice(found, number)), COMMITS)


@contextmanager
def _telling(identity: str) -> Iterator[None]:
    """If nobody knows whether it was made, say how it can be made for certain."""
    from headwater.kv import UnknownOutcome  # noqa: PLC0415  (the engine is imported when it is used)

    try:
        yield
    except UnknownOutcome:
        session().warn(f"it may have been appended; with --id {identity} --again and the same bytes it is, once")
        raise
