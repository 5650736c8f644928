"""`hw ws`: workspaces, and what a bucket is told about them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.options import confirm, message_option, metadata_option, yes_option
from headwater.cli.places import BRANCH, REPOSITORY, Place, PlaceType
from headwater.cli.session import session
from headwater.cli.showing import (
    CHANGES,
    ENTRIES,
    change_shown,
    commit_shown,
    counting,
    entry_shown,
    listed_shown,
    short,
    summary_of,
)

if TYPE_CHECKING:
    from headwater.blob import ExpiryRule, RuleSet
    from headwater.sdk.sync import Workspace

WORKSPACE = PlaceType("REPO/BRANCH+ID", "repository", "ref")
WORKSPACE_PATH = PlaceType("REPO/BRANCH+ID[/PATH]", "repository", "ref", optional=("path",))

_retry = click.option("--retry", is_flag=True, help="Also if somebody else committed, unless both changed a path.")
_AGE = re.compile(r"(?P<days>[1-9]\d{0,4})d?")


class WorkspaceShown(msgspec.Struct, frozen=True):
    """A workspace: its id, where it is read, and where any tool writes."""

    id: str
    place: str
    base: str
    path: str | None


class RuleShown(msgspec.Struct, frozen=True):
    """A rule of a bucket that was *added* or *replaced*, and how many others there are."""

    id: str
    done: str
    others: int


class Counted(msgspec.Struct, frozen=True):
    """How many objects or paths there were."""

    count: int


@group("ws")
def ws() -> None:
    """Write straight to the object store, and commit it where it lies.

    A workspace is written REPO/BRANCH+ID, wherever a reference can stand: hw ls, hw cat and hw fs go there, too.
    """


@ws.command("new")
@click.argument("branch", type=BRANCH)
def new(branch: Place) -> None:
    """Begin a workspace on the last commit of a branch. Nothing is recorded."""
    begun = session().repository(branch.repository).branch(branch.ref).workspace()
    shown = WorkspaceShown(begun.id, f"{branch}+{begun.id}", begun.base, _path(begun))
    session().output.fields(shown, [("workspace", shown.place), ("base", short(shown.base)), ("write at", shown.path)])


@ws.command("ls")
@click.argument("place", type=WORKSPACE_PATH)
@click.option("-r", "--recursive", is_flag=True, help="Also all that is in directories.")
def ls(place: Place, *, recursive: bool) -> None:
    """Show what is in a workspace, merged with what it is based on."""
    workspace = _workspace(place)
    if recursive:
        session().output.rows(map(entry_shown, workspace.list(place.path)), ENTRIES)
    else:
        session().output.rows(map(listed_shown, workspace.list(place.directory, delimiter="/")), ENTRIES)


@ws.command("diff")
@click.argument("place", type=WORKSPACE_PATH)
def diff(place: Place) -> None:
    """Show what a workspace changes."""
    counted: Counter[str] = Counter()
    changes = _workspace(place).diff(prefix=place.path)
    session().output.rows(counting((change_shown(change) for change in changes), counted), CHANGES)
    if session().output.terminal and not session().json:
        session().output.say(session().output.styled(summary_of(counted), "dim"))


@ws.command("add")
@click.argument("place", type=WORKSPACE)
@click.argument("patterns", nargs=-1, required=True, metavar="PATTERN...")
@message_option("What was done.", required=True)
@metadata_option
@_retry
def add(place: Place, patterns: Sequence[str], message: str, metadata: Mapping[str, str], *, retry: bool) -> None:
    """Commit what matches patterns, as '**/*.parquet'. The rest stays."""
    made = _workspace(place).add(*patterns).commit(message, metadata=metadata, retry=retry)
    session().output.done(commit_shown(made), f"committed {short(made.id)}")


@ws.command("commit")
@click.argument("place", type=WORKSPACE)
@message_option("What was done.", required=True)
@metadata_option
@_retry
def commit(place: Place, message: str, metadata: Mapping[str, str], *, retry: bool) -> None:
    """Commit all of a workspace, which closes it."""
    made = _workspace(place).all().commit(message, metadata=metadata, retry=retry)
    session().output.done(commit_shown(made), f"committed {short(made.id)}, and closed the workspace")


@ws.command("revert")
@click.argument("place", type=WORKSPACE)
@click.argument("patterns", nargs=-1, metavar="[PATTERN...]")
@yes_option
def revert(place: Place, patterns: Sequence[str], *, yes: bool) -> None:
    """Give up what matches patterns; without any, everything that is not committed."""
    confirm(f"Give up {', '.join(patterns) or 'everything'} in {place}?", yes=yes)
    count = _workspace(place).revert(*patterns)
    session().output.done(Counted(count), f"gave up {count} object(s)")


@ws.command("remove")
@click.argument("place", type=WORKSPACE)
@click.argument("patterns", nargs=-1, required=True, metavar="PATTERN...")
def remove(place: Place, patterns: Sequence[str]) -> None:
    """Delete what matches patterns, also of what is committed."""
    count = _workspace(place).remove(*patterns)
    session().output.done(Counted(count), f"deleted {count} path(s) in the workspace")


@ws.command("discard")
@click.argument("place", type=WORKSPACE)
@yes_option
def discard(place: Place, *, yes: bool) -> None:
    """Give a workspace up, and close it."""
    confirm(f"Give up {place}, and all in it that is not committed?", yes=yes)
    _workspace(place).discard()
    session().output.done(Counted(1), f"closed {place}")


@ws.command("path")
@click.argument("place", type=WORKSPACE_PATH)
@click.option("--scheme", metavar="NAME", help="Write the URI with this scheme, as s3.")
def path(place: Place, scheme: str | None) -> None:
    """Show where any tool writes to a workspace."""
    session().output.say(_workspace(place).path(place.path, scheme=scheme))


@ws.command("lifecycle")
@click.argument("repository", type=REPOSITORY)
@click.option("--expire", required=True, metavar="DAYS", help="After how long, as 30d.")
@click.option("--path", "at", required=True, metavar="PATH", help="At and below which path.")
@click.option("--set", "is_set", is_flag=True, help="Add it to the rules of the bucket, which all stay as they are.")
@yes_option
def lifecycle(repository: Place, expire: str, at: str, *, is_set: bool, yes: bool) -> None:
    """Show the rule of the bucket that expires objects at a path, in all workspaces. Committed ones, too.

    With --set, the rules of the bucket are read and written with this one among them, by the AWS credentials that this
    program finds. It has an id of its own: set again, it is replaced.
    """
    from headwater.engine.workspaces.rules import as_document, expiry_rule  # noqa: PLC0415  (the engine is large)

    found = _AGE.fullmatch(expire)
    if found is None:
        raise click.UsageError(f"--expire {expire!r}: write a number of days, as 30d")
    namespace = session().repository(repository.repository).namespace
    rule = expiry_rule(namespace, at, int(found["days"]))
    if not is_set:
        session().output.document(as_document(rule))
        return
    confirm(f"Delete objects at {at} in workspaces after {rule.days} days, committed or not?", yes=yes)
    outcome = asyncio.run(_set(namespace, rule))
    done = "replaced" if outcome.replaced else "added"
    session().output.done(RuleShown(rule.id, done, outcome.others), f"{done} the rule {rule.id!r}")


async def _set(namespace: str, rule: ExpiryRule) -> RuleSet:
    from headwater import blob  # noqa: PLC0415

    async with await blob.open(namespace) as store:
        return await store.expiry().put_rule(rule)


@ws.command("iam")
@click.argument("repository", type=REPOSITORY)
@click.option(
    "--allow",
    "allowed",
    type=(click.Choice(["read", "write"]), str),
    multiple=True,
    required=True,
    metavar="ACCESS PATTERN",
    help="As write 'a/**'; repeatable.",
)
@click.option("--principal", required=True, metavar="ARN", help="Whom.")
def iam(repository: Place, allowed: Sequence[tuple[Any, str]], principal: str) -> None:
    """Show the policy of the bucket that lets somebody read or write paths, in any workspace."""
    from headwater.engine.workspaces.rules import bucket_policy  # noqa: PLC0415

    namespace = session().repository(repository.repository).namespace
    session().output.document(bucket_policy(namespace, principal, allowed))


def _workspace(place: Place) -> Workspace:
    branch, plus, id_ = place.ref.partition("+")
    if not plus:
        raise click.UsageError(f"{place} is no workspace: write REPO/BRANCH+ID")
    return session().repository(place.repository).branch(branch).workspace(id_)


def _path(workspace: Workspace) -> str | None:
    from headwater.engine.errors import BadRequest  # noqa: PLC0415

    try:
        return workspace.path()
    except BadRequest:  # no other tool can write there
        return None
