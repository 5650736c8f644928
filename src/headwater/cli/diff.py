"""`hw diff`: what is staged, or different between two references."""

from __future__ import annotations

from collections import Counter

import click

from headwater.cli.commanding import command
from headwater.cli.places import Place, PlaceType, RefType, ref_in
from headwater.cli.session import session
from headwater.cli.showing import CHANGES, change_shown, counting, summary_of


@command("diff")
@click.argument("left", type=PlaceType("REPO/LEFT[/PREFIX]", "repository", "ref", optional=("path",)))
@click.argument("right", type=RefType(), required=False)
@click.option("--three-dot", is_flag=True, help="What RIGHT did since they parted, whatever LEFT did.")
def diff(left: Place, right: str | None, *, three_dot: bool) -> None:
    """Show what is staged, or different between two references.

    Without RIGHT, what is staged on the branch LEFT; else what is different on the way from LEFT to RIGHT, a reference
    of the same repository, both as committed. A path behind LEFT means what begins with it.
    """
    repository = session().repository(left.repository)
    if right is None:
        if three_dot:
            raise click.UsageError("--three-dot compares two references: give RIGHT, too")
        changes = repository.branch(left.ref).diff(prefix=left.path)
    else:
        other = ref_in(left.repository, right)
        changes = repository.diff(left.ref, other, three_dot=three_dot, prefix=left.path)
    counted: Counter[str] = Counter()
    session().output.rows(counting((change_shown(change) for change in changes), counted), CHANGES)
    if session().output.terminal and not session().json:
        session().output.say(session().output.styled(summary_of(counted), "dim"))
