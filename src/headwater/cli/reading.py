"""`hw cat` and `hw ls`: what is in a file, and in a directory. They are `hw fs cat` and `hw fs ls`, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from headwater.cli.commanding import command
from headwater.cli.output import Column
from headwater.cli.places import FILE, Place, PlaceType, ref_in
from headwater.cli.session import session
from headwater.cli.showing import (
    ENTRIES,
    NAMES,
    DirectoryShown,
    EntryShown,
    Named,
    child_shown,
    entry_shown,
    listed_shown,
)
from headwater.cli.trees import content

if TYPE_CHECKING:
    from headwater.sdk.sync import Ref


@command("cat")
@click.argument("places", nargs=-1, required=True, type=FILE)
@click.option("--since", metavar="REF", help="Only what was added after that commit.")
@click.option("--until", metavar="REF", help="Only what was there at that commit.")
def cat(places: Sequence[Place], since: str | None, until: str | None) -> None:
    """Write the bytes of files to standard output.

    Of a file that grows, --since and --until take what a range of commits added. Without --until that goes up to the
    reference of the place.
    """
    for place in places:
        repository = session().repository(place.repository)
        if since is not None or until is not None:
            first = None if since is None else ref_in(place.repository, since)
            last = place.ref if until is None else ref_in(place.repository, until)
            session().output.write(repository.read_file(place.path, since=first, until=last))
            continue
        ref = repository.ref(place.ref)
        session().output.write(content(ref, place.path, ref.stat(place.path).size))


@command("ls")
@click.argument(
    "place",
    type=PlaceType("[REPO[/REF[/PATH]]]", optional=("repository", "ref", "path")),
    default=Place(""),
)
@click.option("-r", "--recursive", is_flag=True, help="All files, however deep.")
@click.option("--totals", is_flag=True, help="With the bytes and number of files below each directory.")
def ls(place: Place, *, recursive: bool, totals: bool) -> None:
    """Show what is in a directory; of a repository, its references; and without a place, the repositories."""
    output = session().output
    if not place.repository:
        output.rows((Named(name) for name in session().lake.repos()), NAMES)
        return
    repository = session().repository(place.repository)
    if not place.ref:
        names = [branch.name for branch in repository.branches()] + [tag.name for tag in repository.tags()]
        output.rows(map(Named, sorted(names)), NAMES)
        return
    ref = repository.ref(place.ref)
    if totals and not recursive:
        counted: Column[EntryShown | DirectoryShown] = Column(
            "files", lambda each: each.count if isinstance(each, DirectoryShown) else None, right=True
        )
        output.rows(map(child_shown, ref.list_dir(place.path, totals=True)), [*ENTRIES[:2], counted, *ENTRIES[2:]])
        return
    output.rows(_listed(ref, place, recursive=recursive), ENTRIES)


def _listed(ref: Ref, place: Place, *, recursive: bool) -> Iterator[EntryShown | DirectoryShown]:
    """What is in the directory at *place*, or the file that it is."""
    found = ref.list(place.directory) if recursive else ref.list(place.directory, delimiter="/")
    first = next(found, None)
    if first is not None:
        yield listed_shown(first)
        yield from map(listed_shown, found)
    elif place.path:
        yield entry_shown(ref.stat(place.path))
