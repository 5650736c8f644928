"""`hw actions`: what the hooks of a server did, and whether a file of them makes sense."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import BinaryIO

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.output import Column
from headwater.cli.places import REPOSITORY, Place
from headwater.cli.server import Server
from headwater.cli.session import session


class Run(msgspec.Struct, frozen=True):
    """What hooks were run on one event, and whether all went well: `completed`, or `failed`."""

    run_id: str
    branch: str
    start_time: datetime
    end_time: datetime
    event_type: str
    status: str
    commit_id: str


class Hook(msgspec.Struct, frozen=True):
    """One hook of a run."""

    hook_run_id: str
    action: str
    hook_id: str
    start_time: datetime
    end_time: datetime
    status: str


class RunShown(msgspec.Struct, frozen=True):
    """A run, and its hooks."""

    run: Run
    hooks: Sequence[Hook]


class Checked(msgspec.Struct, frozen=True):
    """An action that makes sense: the events that it is tied to, and its hooks."""

    name: str
    on: Sequence[str]
    hooks: Sequence[str]


STYLES = {"completed": "green", "failed": "red"}

RUNS: Sequence[Column[Run]] = (
    Column("run", lambda run: run.run_id, "yellow"),
    Column("status", lambda run: run.status, lambda run: STYLES.get(run.status, "")),
    Column("event", lambda run: run.event_type),
    Column("branch", lambda run: run.branch),
    Column("began", lambda run: run.start_time),
    Column("took", lambda run: f"{(run.end_time - run.start_time).total_seconds():.1f} s", right=True),
)

HOOKS: Sequence[Column[Hook]] = (
    Column("hook run", lambda hook: hook.hook_run_id, "yellow"),
    Column("status", lambda hook: hook.status, lambda hook: STYLES.get(hook.status, "")),
    Column("action", lambda hook: hook.action),
    Column("hook", lambda hook: hook.hook_id),
    Column("took", lambda hook: f"{(hook.end_time - hook.start_time).total_seconds():.1f} s", right=True),
)


@group("actions")
def actions() -> None:
    """See what the hooks of a server did."""


@actions.command("runs")
@click.argument("repository", type=REPOSITORY)
@click.option("--branch", metavar="NAME", help="Those on a branch.")
@click.option("--commit", metavar="ID", help="Those about a commit.")
@click.option("-n", "--number", type=click.IntRange(1), metavar="N", help="That many at most.")
def runs(repository: Place, branch: str | None, commit: str | None, number: int | None) -> None:
    """List runs of hooks, newest first."""
    query = {"branch": branch, "commit": commit}
    found = Server(session()).results(Run, _path(repository), query)
    session().output.rows(islice(found, number), RUNS)


@actions.command("show")
@click.argument("repository", type=REPOSITORY)
@click.argument("run")
def show(repository: Place, run: str) -> None:
    """Show a run and its hooks, in their order."""
    server = Server(session())
    found = server.ask(Run, _path(repository, run))
    hooks = list(server.results(Hook, _path(repository, run, "hooks")))
    output = session().output
    if output.json:
        output.document(RunShown(found, hooks))
        return
    fields = [
        ("run", found.run_id),
        ("status", found.status),
        ("event", found.event_type),
        ("branch", found.branch or None),
        ("commit", found.commit_id or None),
        ("began", found.start_time),
    ]
    output.fields(None, fields)
    output.say()
    output.rows(hooks, HOOKS)


@actions.command("output")
@click.argument("repository", type=REPOSITORY)
@click.argument("run")
@click.argument("hook_run")
def output_of(repository: Place, run: str, hook_run: str) -> None:
    """Write what a hook said in a run to standard output."""
    session().output.write([Server(session()).read(_path(repository, run, "hooks", hook_run, "output"))])


@actions.command("check")
@click.argument("file", type=click.File("rb"))
def check(file: BinaryIO) -> None:
    """Look whether a file of an action makes sense, before it is in a branch and stops what it is tied to."""
    from headwater.actions.action import parse_action  # noqa: PLC0415  (it takes what servers are installed with)

    name = click.format_filename(getattr(file, "name", "-"), shorten=True)
    found = parse_action(name, file.read())
    checked = Checked(found.name, sorted(found.on), [hook.id for hook in found.hooks])
    told = f"{found.name}: {', '.join(checked.hooks)} on {', '.join(checked.on)}"
    session().output.done(checked, told)


def _path(repository: Place, *names: str) -> str:
    from headwater.sdk.remote.urls import segment  # noqa: PLC0415  (a server is asked by it)

    return "/".join(["/repositories", segment(repository.repository), "actions/runs", *map(segment, names)])
