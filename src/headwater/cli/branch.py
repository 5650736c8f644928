"""`hw branch`: branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.commanding import group
from headwater.cli.options import confirm, yes_option
from headwater.cli.places import BRANCH, REPOSITORY, Place, ref_in
from headwater.cli.session import session
from headwater.cli.showing import BRANCHES, NAMES, BranchShown, Named, commit_shown, first_line, short

if TYPE_CHECKING:
    from headwater.sdk.sync import Branch


@group("branch")
def branch() -> None:
    """Make, list and delete branches."""


@branch.command("create")
@click.argument("branch", type=BRANCH)
@click.option("--from", "source", metavar="REF", help="The commit it begins at; the default branch's, unless told.")
def create(branch: Place, source: str | None) -> None:
    """Make a branch. Nothing is copied: it is one small record."""
    repository = session().repository(branch.repository)
    start = repository.default_branch if source is None else ref_in(branch.repository, source)
    made = _shown(repository.create_branch(branch.ref, start))
    session().output.done(made, f"created {branch} at {short(made.commit.id)}")


@branch.command("list")
@click.argument("repository", type=REPOSITORY)
@click.argument("prefix", default="")
@click.option("--long", is_flag=True, help="With the last commit of each, which is a request for each.")
def list_all(repository: Place, prefix: str, *, long: bool) -> None:
    """List the branches of a repository, those whose names begin with PREFIX."""
    found = session().repository(repository.repository).branches(prefix)
    if long:
        session().output.rows(map(_shown, found), BRANCHES)
    else:
        session().output.rows((Named(each.name) for each in found), NAMES)


@branch.command("show")
@click.argument("branch", type=BRANCH)
def show(branch: Place) -> None:
    """Show a branch and its last commit."""
    found = _shown(session().repository(branch.repository).branch(branch.ref))
    commit = found.commit
    fields = [
        ("name", found.name),
        ("commit", commit.id),
        ("committer", commit.committer),
        ("time", commit.time),
        ("message", first_line(commit.message)),
    ]
    session().output.fields(found, fields)


@branch.command("delete")
@click.argument("branch", type=BRANCH)
@yes_option
def delete(branch: Place, *, yes: bool) -> None:
    """Delete a branch. Asks if something is staged on it, which would be lost; `hw undo` brings the branch back."""
    repository = session().repository(branch.repository)
    doomed = repository.branch(branch.ref)
    if not yes and next(doomed.diff(), None) is not None:
        confirm(f"What is staged on {branch} would be lost. Delete it?", yes=yes)
    repository.delete_branch(branch.ref)
    session().output.done(Named(branch.ref), f"deleted {branch}")


def _shown(branch: Branch) -> BranchShown:
    return BranchShown(branch.name, commit_shown(branch.head()))
