"""`hw gc`: delete what no retained commit and nothing staged refers to, and say what is retained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from headwater.cli.commanding import group
from headwater.cli.engine import Engine
from headwater.cli.output import Column
from headwater.cli.session import session
from headwater.cli.sizes import readable
from headwater.garbage import (
    Plan,
    RetentionRule,
    RetentionRules,
    Swept,
    list_plans,
    make_plan,
    read_rules,
    sweep,
    write_rules,
)
from headwater.garbage.limits import SAFETY_AGE

_age = click.option(
    "--age",
    type=click.FloatRange(2),
    default=SAFETY_AGE / 3600,
    show_default=True,
    metavar="HOURS",
    help="Keep whatever was written or copied within so many hours.",
)
_rate = click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="N", help="Objects a second, at most.")
_dry = click.option("--dry-run", is_flag=True, help="Count, and delete nothing.")


@group("gc")
def gc() -> None:
    """Delete objects that nothing refers to any more.

    What is older than the rules of a repository retain, and what was never committed, is planned, looked at a second
    time, and deleted. Deleted objects do not come back: hw gc plan shows what would go.
    """


@gc.command("rules")
@click.argument("repository")
@click.option("--default", "default", type=click.IntRange(1), metavar="DAYS", help="Of branches without a rule.")
@click.option("--branch", "branches", multiple=True, metavar="NAME=DAYS", help="Of one branch.")
@click.option("--clear", is_flag=True, help="Retain every commit for ever.")
def rules_command(repository: str, default: int | None, branches: Sequence[str], *, clear: bool) -> None:
    """See or set for how many days what a branch held is kept."""
    engine = Engine()
    opened = engine.run(engine.lake.open(repository))
    if clear and (default is not None or branches):
        raise click.UsageError("--clear goes alone")
    if clear:
        engine.run(write_rules(opened, None))
    elif default is not None:
        engine.run(write_rules(opened, RetentionRules(default, tuple(_rule(each) for each in branches))))
    elif branches:
        raise click.UsageError("--branch needs --default: rules are set as a whole")
    rules = engine.run(read_rules(opened))
    if rules is None:
        session().output.done(None, f"{repository} retains every commit")
        return
    shown = [("default", _days(rules.default_retention_days))]
    shown += [(rule.branch_id, _days(rule.retention_days)) for rule in rules.branches]
    session().output.fields(rules, shown)


@gc.command("plan")
@click.argument("repository")
@_age
def plan_command(repository: str, age: float) -> None:
    """Find out what would be deleted, and write it down as Parquet."""
    engine = Engine()
    _show_plan(engine.run(make_plan(engine.lake, repository, age=age * 3600)))


@gc.command("plans")
@click.argument("repository")
def plans_command(repository: str) -> None:
    """List the plans that were made."""
    engine = Engine()
    opened = engine.run(engine.lake.open(repository))
    columns: list[Column[Plan]] = [
        Column("plan", lambda plan: plan.run, "cyan"),
        Column("objects", lambda plan: plan.objects, right=True),
        Column("size", lambda plan: readable(plan.bytes), right=True),
    ]
    session().output.rows(engine.run(list_plans(opened)), columns)


@gc.command("sweep")
@click.argument("repository")
@click.argument("plan")
@_rate
@_dry
def sweep_command(repository: str, plan: str, rate: float | None, *, dry_run: bool) -> None:
    """Delete what a plan says. Called again, it goes on where it was."""
    engine = Engine()
    _show_swept(engine.run(sweep(engine.lake, repository, plan, rate=rate, dry_run=dry_run)))


@gc.command("run")
@click.argument("repository")
@_age
@_rate
@_dry
def run_command(repository: str, age: float, rate: float | None, *, dry_run: bool) -> None:
    """Plan and sweep."""
    engine = Engine()
    plan = engine.run(make_plan(engine.lake, repository, age=age * 3600))
    _show_swept(engine.run(sweep(engine.lake, repository, plan.run, rate=rate, dry_run=dry_run)))


def _rule(text: str) -> RetentionRule:
    name, equals, days = text.rpartition("=")
    if not (equals and name and days.isdecimal()):
        raise click.UsageError(f"--branch {text!r}: write NAME=DAYS, as main=90")
    return RetentionRule(name, int(days))


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


def _show_plan(plan: Plan) -> None:
    fields: list[tuple[str, Any]] = [
        ("plan", plan.run),
        ("retained commits", plan.commits),
        ("segments read", plan.segments),
        ("old objects", plan.candidates),
        ("to delete", plan.objects),
        ("size", readable(plan.bytes)),
    ]
    session().output.fields(plan, fields)


def _show_swept(swept: Swept) -> None:
    fields: list[tuple[str, Any]] = [
        ("plan", swept.run),
        ("would delete" if swept.dry_run else "deleted", swept.deleted),
        ("size", readable(swept.bytes)),
        ("spared", swept.spared),
    ]
    session().output.fields(swept, fields)
