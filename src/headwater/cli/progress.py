"""`hw progress`: commits in progress, which are gathered beside a branch by any number of processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.options import message_option, metadata_option
from headwater.cli.output import Column
from headwater.cli.places import BRANCH, REPOSITORY, Place, ref_in
from headwater.cli.session import session
from headwater.cli.showing import Copied, commit_shown, many, short
from headwater.cli.trees import content_of, guessed_type

if TYPE_CHECKING:
    from headwater.sdk.sync.growing import CommitInProgress


class InProgress(msgspec.Struct, frozen=True):
    """A commit in progress, and the branch that it will be on."""

    id: str
    branch: str


@group("progress")
def progress() -> None:
    """Gather what will be one commit, beside a branch."""


@progress.command("start")
@click.argument("branch", type=BRANCH)
@click.option("--parent", metavar="REF", help="The commit that it is to be on top of, and nothing else.")
def start(branch: Place, parent: str | None) -> None:
    """Begin a commit. Its id is what other commands take."""
    on = None if parent is None else ref_in(branch.repository, parent)
    begun = session().repository(branch.repository).start_commit(branch.ref, parent=on)
    session().output.done(_shown(begun), begun.id)


@progress.command("list")
@click.argument("repository", type=REPOSITORY)
def list_all(repository: Place) -> None:
    """List commits in progress, in the order in which they were begun."""
    found = session().repository(repository.repository).commits_in_progress()
    columns = [Column[InProgress]("id", lambda each: each.id, "yellow"), Column("branch", lambda each: each.branch)]
    session().output.rows(map(_shown, found), columns)


@progress.command("append")
@click.argument("repository", type=REPOSITORY)
@click.argument("identity", metavar="ID")
@click.argument("path")
@click.argument("file", type=click.File("rb"), default="-")
def append(repository: Place, identity: str, path: str, file: BinaryIO) -> None:
    """Add to the end of a file, in the commit ID. What is added comes from FILE, or from standard input."""
    begun = _begun(repository, identity)
    made = begun.append(path, content_of(file), content_type=guessed_type(path))
    session().output.done(made, f"appended {made.size} bytes to {path}: {made.id}")


@progress.command("delete")
@click.argument("repository", type=REPOSITORY)
@click.argument("identity", metavar="ID")
@click.argument("paths", nargs=-1, required=True)
def delete(repository: Place, identity: str, paths: Sequence[str]) -> None:
    """Delete files, in the commit ID."""
    _begun(repository, identity).delete(paths)
    session().output.done(Copied(len(paths)), f"deleted {many(len(paths), 'file')}")


@progress.command("finish")
@click.argument("repository", type=REPOSITORY)
@click.argument("identity", metavar="ID")
@message_option("What was done.", required=True)
@metadata_option
def finish(repository: Place, identity: str, message: str, metadata: Mapping[str, str]) -> None:
    """Land all that was gathered, in one commit. It lands once, by whomever and however often this is called."""
    begun = _begun(repository, identity)
    made = begun.finish(message, metadata=metadata)
    place = Place(repository.repository, begun.branch)
    session().output.done(commit_shown(made), f"committed {short(made.id)} to {place}")


@progress.command("drop")
@click.argument("repository", type=REPOSITORY)
@click.argument("identity", metavar="ID")
def drop(repository: Place, identity: str) -> None:
    """Give it up, and all that was gathered."""
    begun = _begun(repository, identity)
    begun.drop()
    session().output.done(_shown(begun), f"dropped {begun.id}")


def _begun(repository: Place, identity: str) -> CommitInProgress:
    return session().repository(repository.repository).commit_in_progress(identity)


def _shown(begun: CommitInProgress) -> InProgress:
    return InProgress(begun.id, begun.branch)
