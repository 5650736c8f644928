"""`hw ingest`: a place on the object store that others fill, as a directory of a branch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.options import message_option, metadata_option
from headwater.cli.places import BRANCH, BRANCH_PATH, Place
from headwater.cli.session import session
from headwater.cli.showing import CHANGES, CommitShown, change_shown, commit_shown, counting, many, short, summary_of
from headwater.cli.transfer import listing


def _between(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--immutable", is_flag=True, help="Names there are never written twice: compare no etags."),
        click.option("--to", "place", type=BRANCH_PATH, required=True, help="Where to: a directory of a branch."),
        click.option("--from", "source", metavar="URI", required=True, help="Where from, as s3://BUCKET/PREFIX/."),
    ):
        function = option(function)
    return function


class Begun(msgspec.Struct, frozen=True):
    """An ingest that was left to the server."""

    id: str


class IngestShown(msgspec.Struct, frozen=True):
    """How an ingest stands: as `sdk.results.IngestStatus`, which failed if there is an error."""

    id: str
    done: bool
    listed: int
    commit: CommitShown | None


@group("ingest")
def ingest() -> None:
    """Follow a place on the object store that others fill.

    What is new there, changed or gone since the last time becomes one commit; nothing is copied. The directory is then
    exactly what the place is.
    """


@ingest.command("diff")
@_between
def diff(source: str, place: Place, *, immutable: bool) -> None:
    """Show what ingesting would change."""
    branch = session().repository(place.repository).branch(place.ref)
    counted: Counter[str] = Counter()
    changes = branch.ingest_diff(source, place.path, immutable=immutable)
    session().output.rows(counting((change_shown(change) for change in changes), counted), CHANGES)
    if session().output.terminal and not session().json:
        session().output.say(session().output.styled(summary_of(counted), "dim"))


@ingest.command("commit")
@_between
@message_option("What was ingested.")
@metadata_option
@click.option("--detach", is_flag=True, help="Leave it to the server, and print the id that status and cancel take.")
def commit(
    source: str, place: Place, message: str | None, metadata: Mapping[str, str], *, immutable: bool, detach: bool
) -> None:
    """Commit what is new, changed or gone. Without a difference there is no commit, and the status is 5.

    Interrupted, it is given up, on a server too.
    """
    branch = session().repository(place.repository).branch(place.ref)
    if detach:
        begun = branch.start_ingest(source, place.path, message, immutable=immutable, metadata=metadata)
        session().output.done(Begun(begun), begun)
        return
    with listing(f"listing {source}") as listed:
        made = branch.ingest(source, place.path, message, immutable=immutable, metadata=metadata, progress=listed)
    session().output.done(commit_shown(made), f"ingested {source} to {place}: {short(made.id)}")


@ingest.command("status")
@click.argument("place", type=BRANCH)
@click.argument("identity", metavar="ID")
def status(place: Place, identity: str) -> None:
    """Show how an ingest stands that was left to the server. If it failed, the status is that of the failure."""
    found = session().repository(place.repository).branch(place.ref).ingest_status(identity)
    if found.error is not None:
        raise found.error
    commit = None if found.commit is None else commit_shown(found.commit)
    told = f"committed as {short(found.commit.id)}" if found.commit else "under way"
    shown = IngestShown(found.id, found.done, found.listed, commit)
    session().output.done(shown, f"{many(found.listed, 'object')} listed, {told}")


@ingest.command("cancel")
@click.argument("place", type=BRANCH)
@click.argument("identity", metavar="ID")
def cancel(place: Place, identity: str) -> None:
    """Stop an ingest that was left to the server. Nothing of it is kept, unless it is committed already."""
    session().repository(place.repository).branch(place.ref).cancel_ingest(identity)
    session().output.done(Begun(identity), f"cancelled {identity}")
