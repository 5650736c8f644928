"""`hw log` and `hw show`: the history of a reference, and one commit of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.graph import ASCII, Graph
from headwater.cli.options import TimeType
from headwater.cli.output import Output, visible
from headwater.cli.places import REF, REF_PATH, Place
from headwater.cli.session import session
from headwater.cli.showing import (
    CHANGES,
    COMMITS,
    ChangeShown,
    CommitShown,
    change_shown,
    commit_shown,
    first_line,
    short,
)

if TYPE_CHECKING:
    from headwater.sdk.results import Change, Commit
    from headwater.sdk.sync import Repository


class Shown(msgspec.Struct, frozen=True):
    """A commit, and what it changed against its first parent."""

    commit: CommitShown
    changes: Sequence[ChangeShown]


@command("log")
@click.argument("place", type=REF_PATH)
@click.option("-n", "--number", type=click.IntRange(1), metavar="N", help="That many commits at most.")
@click.option("--since", type=TimeType(), help="Those from then on.")
@click.option("--until", type=TimeType(), help="Those before.")
@click.option("--merged", is_flag=True, help="Also what came in by merges.")
@click.option("--graph", is_flag=True, help="Drawn, with what came in by merges.")
def log(
    place: Place,
    number: int | None,
    since: datetime | None,
    until: datetime | None,
    *,
    merged: bool,
    graph: bool,
) -> None:
    """Show the commits that led to a reference, newest first.

    With a path, those that changed it; with one that ends in a slash, those that changed something below it.
    """
    found = (
        session()
        .repository(place.repository)
        .ref(place.ref)
        .log(
            paths=[place.path] if place.path else (),
            first_parents=not (merged or graph),
            since=since,
            until=until,
        )
    )
    commits = map(commit_shown, islice(found, number))
    output = session().output
    if graph and not session().json:
        _draw(commits, output)
    else:
        output.rows(commits, COMMITS)


@command("show")
@click.argument("ref", type=REF)
def show(ref: Place) -> None:
    """Show a commit, and what it changed."""
    repository = session().repository(ref.repository)
    commit = repository.commit(ref.ref)
    changes = map(change_shown, _changes(repository, commit))
    output = session().output
    if session().json:
        output.document(Shown(commit_shown(commit), list(changes)))
        return
    output.fields(
        None,
        [
            ("commit", commit.id),
            *(("parent", parent) for parent in commit.parents),
            ("committer", commit.committer),
            ("time", commit.time),
            *((f"metadata {key}", value) for key, value in commit.metadata.items()),
            ("message", commit.message),
        ],
    )
    output.say()
    output.rows(changes, CHANGES)


def _changes(repository: Repository, commit: Commit) -> Iterator[Change]:
    """What *commit* did. A first one has done nothing: it is empty."""
    return repository.diff(commit.parents[0], commit.id) if commit.parents else iter(())


def _draw(commits: Iterable[CommitShown], output: Output) -> None:
    plain = not _can_draw()
    for picture, commit in Graph().rows(commits):
        lines = picture.translate(ASCII) if plain else picture
        if commit is None:
            output.say(lines)
            continue
        told = (
            output.styled(short(commit.id) if output.terminal else commit.id, "yellow"),
            commit.time.astimezone().strftime("%Y-%m-%d %H:%M"),
            output.styled(visible(commit.committer), "cyan"),
            visible(first_line(commit.message)),
        )
        output.say(f"{lines}  {'  '.join(told)}")


def _can_draw() -> bool:
    """Whether what reads this can show lines."""
    try:
        "●│─├┤╮╯┬┴┼".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
