"""`hw check`: is all there that branches and tags lead to, and as it must be?"""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.exits import Exit
from headwater.cli.output import Column
from headwater.cli.places import REPOSITORY, Place
from headwater.cli.session import session
from headwater.cli.showing import many


class Found(msgspec.Struct, frozen=True):
    """One thing that is not as it must be."""

    what: str
    name: str
    problem: str


class Checked(msgspec.Struct, frozen=True):
    """What was looked at, and what is wrong with it."""

    sound: bool
    branches: int
    tags: int
    commits: int
    trees: int
    segments: int
    findings: Sequence[Found]


@command("check")
@click.argument("repository", type=REPOSITORY)
def check(repository: Place) -> None:
    """Read anew all that branches and tags lead to, and tell what is damaged.

    It changes nothing, and may run at any time. The status is 8 if something is not as it must be.
    """
    report = session().repository(repository.repository).check()
    findings = [Found(each.what, each.name, each.problem) for each in report.findings]
    checked = Checked(
        sound=report.sound,
        branches=report.branches,
        tags=report.tags,
        commits=report.commits,
        trees=report.trees,
        segments=report.segments,
        findings=findings,
    )
    output = session().output
    if not output.json:
        output.rows(
            findings,
            [
                Column("what", lambda finding: finding.what, "red"),
                Column("which", lambda finding: finding.name),
                Column("problem", lambda finding: finding.problem),
            ],
        )
    branches = "1 branch" if checked.branches == 1 else f"{checked.branches} branches"
    seen = ", ".join(
        [
            branches,
            many(checked.tags, "tag"),
            many(checked.commits, "commit"),
            many(checked.trees, "tree"),
            many(checked.segments, "segment"),
        ]
    )
    output.done(checked, f"{'sound' if checked.sound else many(len(findings), 'problem')}: {seen}")
    if not checked.sound:
        click.get_current_context().exit(Exit.DAMAGED)
