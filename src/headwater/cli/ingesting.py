"""`hw ingest`: a place on the object store that others fill, as a directory of a branch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import click

from headwater.cli.commanding import group
from headwater.cli.options import message_option, metadata_option
from headwater.cli.places import BRANCH_PATH, Place
from headwater.cli.session import session
from headwater.cli.showing import CHANGES, change_shown, commit_shown, counting, short, summary_of


def _between(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--immutable", is_flag=True, help="Names there are never written twice: compare no etags."),
        click.option("--to", "place", type=BRANCH_PATH, required=True, help="Where to: a directory of a branch."),
        click.option("--from", "source", metavar="URI", required=True, help="Where from, as s3://BUCKET/PREFIX/."),
    ):
        function = option(function)
    return function


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
def commit(source: str, place: Place, message: str | None, metadata: Mapping[str, str], *, immutable: bool) -> None:
    """Commit what is new, changed or gone. Without a difference there is no commit, and the status is 5."""
    branch = session().repository(place.repository).branch(place.ref)
    made = branch.ingest(source, place.path, message, immutable=immutable, metadata=metadata)
    session().output.done(commit_shown(made), f"ingested {source} to {place}: {short(made.id)}")
