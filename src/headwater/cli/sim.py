"""`hw sim`: look for a broken promise of the engine, and show how the first came."""

from __future__ import annotations

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.exits import Exit
from headwater.cli.session import session
from headwater.testing.sim.engine.mutations import MUTATIONS
from headwater.testing.sim.engine.stories import STORIES, scenario
from headwater.testing.sim.explore import first_failure


class Simulated(msgspec.Struct, frozen=True):
    """What came of it: *seed* is the first under which a promise was broken."""

    seeds: int
    seed: int | None = None
    error: str | None = None
    timeline: str | None = None


@command("sim")
@click.option("--seeds", type=click.IntRange(1), default=1000, show_default=True, metavar="N", help="How many.")
@click.option("--first", type=click.IntRange(0), default=0, metavar="N", help="The first of them, to see one again.")
@click.option("--story", type=click.Choice(list(STORIES)), metavar="NAME", help="One story instead of all in turn.")
@click.option("--without", type=click.Choice(list(MUTATIONS)), metavar="GUARD", help="With one guard switched off.")
def sim(seeds: int, first: int, story: str | None, without: str | None) -> None:
    """Look for a broken promise of the engine, under many seeds.

    The real engine runs in a simulator, where a seed decides every interleaving, fault and crash. A seed that breaks a
    promise is shown with its timeline, and is the same run whenever it is run again: --first SEED --seeds 1. With a
    guard of the protocol switched off, in the story that misses it, there should be one.
    """
    mutation = None if without is None else MUTATIONS[without]
    name = story or (mutation and mutation.story)
    found = first_failure(scenario(STORIES[name] if name else None, without=mutation), range(first, first + seeds))
    output = session().output
    if found is None:
        output.done(Simulated(seeds), f"{seeds} seeds, no promise broken")
        return
    broken = Simulated(found.tried, found.seed, str(found.error), found.timeline)
    output.done(broken, f"{found.timeline}\nseed {found.seed}: {found.error}")
    click.get_current_context().exit(Exit.FAILED)
