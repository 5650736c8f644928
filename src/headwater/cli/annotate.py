"""`hw annotate`: who last changed each path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.output import Column
from headwater.cli.places import REF_PREFIX, Place
from headwater.cli.session import session
from headwater.cli.showing import SHORT, CommitShown, commit_shown, first_line

if TYPE_CHECKING:
    from headwater.sdk.sync import Repository


class Annotated(msgspec.Struct, frozen=True):
    """A path, and the commit that made it what it is."""

    path: str
    commit: CommitShown


@command("annotate")
@click.argument("place", type=REF_PREFIX)
def annotate(place: Place) -> None:
    """Show who last changed each path.

    The history is read back along first parents until each path was met, at the cost of what those commits changed. A
    merge counts as the one who changed what it brought.
    """
    repository = session().repository(place.repository)
    head = repository.commit(place.ref).id
    wanted = [entry.path for entry in repository.ref(f"{head}@").list(place.path)]
    found = dict(_blamed(repository, head, place.path, set(wanted)))
    rows = (Annotated(path, found[path]) for path in wanted)
    session().output.rows(
        rows,
        [
            Column("commit", lambda row: row.commit.id, "yellow", width=SHORT),
            Column("time", lambda row: row.commit.time),
            Column("committer", lambda row: row.commit.committer, "cyan"),
            Column("path", lambda row: row.path),
            Column("message", lambda row: first_line(row.commit.message), "dim"),
        ],
    )


def _blamed(repository: Repository, head: str, prefix: str, missing: set[str]) -> Iterator[tuple[str, CommitShown]]:
    """Each path of *missing*, which lie under *prefix*, with the newest commit that changed it."""
    if not missing:
        return
    for commit in repository.ref(head).log(paths=[prefix] if prefix.endswith("/") else ()):
        if not commit.parents:
            return
        for change in repository.diff(commit.parents[0], commit.id, prefix=prefix):
            if change.path in missing:
                missing.remove(change.path)
                yield change.path, commit_shown(commit)
        if not missing:
            return
