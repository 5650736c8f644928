"""`hw merge`, `hw revert` and `hw cherry-pick`: bringing changes from one place of the history to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from headwater.cli.commanding import command
from headwater.cli.hooks import warn_of_hooks
from headwater.cli.options import message_option, metadata_option
from headwater.cli.places import BRANCH, Place, PlaceType, RefType, ref_in
from headwater.cli.session import session
from headwater.cli.showing import commit_shown, short

if TYPE_CHECKING:
    from headwater.engine.merge import Appends
    from headwater.sdk.describing import Behaviour, Strategy


@command("merge")
@click.argument("source", type=PlaceType("REPO/SOURCE", "repository", "ref"))
@click.argument("destination", type=RefType())
@message_option("What was merged.")
@metadata_option
@click.option(
    "--strategy",
    type=click.Choice(["source-wins", "dest-wins"]),
    help="Who wins where both changed a path. Without it, that is a conflict and nothing is merged.",
)
@click.option(
    "--merge-appends",
    type=click.Choice(["ours-then-theirs"]),
    help="Of files that both only appended to, what DESTINATION has, then what SOURCE appended.",
)
@click.option("--squash", is_flag=True, help="As a commit with one parent, that knows nothing of SOURCE's history.")
@click.option(
    "--force", multiple=True, metavar="PREFIX", help="Below it take SOURCE's changes whatever else; repeatable."
)
@click.option("--drop", multiple=True, metavar="PREFIX", help="Below it take none of SOURCE's changes; repeatable.")
def merge(
    source: Place,
    destination: str,
    message: str | None,
    metadata: Mapping[str, str],
    *,
    strategy: Strategy | None,
    merge_appends: Appends | None,
    squash: bool,
    force: Sequence[str],
    drop: Sequence[str],
) -> None:
    """Bring what was committed to one reference to a branch, in one commit there.

    DESTINATION is a branch of the same repository. If both changed a path, nothing is merged and the status is 4.
    """
    prefixes: dict[str, Behaviour] = {**dict.fromkeys(force, "force"), **dict.fromkeys(drop, "drop")}
    branch = ref_in(source.repository, destination)
    with telling_conflicts():
        merged = (
            session()
            .repository(source.repository)
            .ref(source.ref)
            .merge_into(
                branch,
                message,
                strategy=strategy or "report",
                squash=squash,
                prefixes=prefixes,
                merge_appends=merge_appends or "conflict",
                metadata=metadata,
            )
        )
    target = Place(source.repository, branch)
    session().output.done(commit_shown(merged), f"merged {source} into {target}: {short(merged.id)}")
    warn_of_hooks(source.repository, branch)


@command("revert")
@click.argument("branch", type=BRANCH)
@click.argument("ref", type=RefType())
@message_option("Why.")
@metadata_option
@click.option("--parent", type=click.IntRange(1), metavar="N", help="Of a merge, against which of its parents.")
def revert(branch: Place, ref: str, message: str | None, metadata: Mapping[str, str], parent: int | None) -> None:
    """Undo what a commit did, in a new commit on a branch."""
    repository = session().repository(branch.repository)
    undone = ref_in(branch.repository, ref)
    with telling_conflicts():
        made = repository.branch(branch.ref).revert(undone, message, parent=parent, metadata=metadata)
    session().output.done(commit_shown(made), f"reverted {undone} on {branch}: {short(made.id)}")
    warn_of_hooks(branch.repository, branch.ref)


@command("cherry-pick")
@click.argument("branch", type=BRANCH)
@click.argument("ref", type=RefType())
@message_option("What was done; that of REF, unless told.")
@metadata_option
@click.option("--parent", type=click.IntRange(1), metavar="N", help="Of a merge, against which of its parents.")
def cherry_pick(branch: Place, ref: str, message: str | None, metadata: Mapping[str, str], parent: int | None) -> None:
    """Do what a commit did again, in a new commit on a branch."""
    repository = session().repository(branch.repository)
    picked = ref_in(branch.repository, ref)
    with telling_conflicts():
        made = repository.branch(branch.ref).cherry_pick(picked, message, parent=parent, metadata=metadata)
    session().output.done(commit_shown(made), f"picked {picked} to {branch}: {short(made.id)}")
    warn_of_hooks(branch.repository, branch.ref)


@contextmanager
def telling_conflicts() -> Iterator[None]:
    """Where there are conflicts, say first which."""
    from headwater.sdk.errors import MergeConflict  # noqa: PLC0415

    try:
        yield
    except MergeConflict as conflict:
        for change in conflict.changes:
            session().warn(f"conflict: {change.path}")
        raise
