"""Run a scenario under many seeds: none may fail; or, with a guard switched off, one must."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from headwater.testing.sim.errors import NotCaught, NotDeterministic, SeedFailed
from headwater.testing.sim.limits import SEEDS
from headwater.testing.sim.simulation import Simulation

Scenario: TypeAlias = Callable[[Simulation], None]
"""Spawns processes, runs them, and asserts what must hold: it may be called any number of times."""


class Failure(msgspec.Struct, frozen=True):
    """A seed under which a scenario failed, how many were tried until it did, and what happened."""

    seed: int
    tried: int
    error: Exception
    timeline: str


def explore(scenario: Scenario, seeds: Iterable[int] = range(SEEDS)) -> None:
    """Run *scenario* under each of *seeds*. Raises `SeedFailed` with the timeline of the first that fails."""
    failure = first_failure(scenario, seeds)
    if failure is not None:
        raise SeedFailed(
            f"seed {failure.seed} failed, again with seeds=[{failure.seed}]: {failure.error!r}\n{failure.timeline}"
        ) from failure.error


def must_catch(guard: str, scenario: Scenario, seeds: Iterable[int] = range(SEEDS)) -> Failure:
    """Show that *guard* is needed: *scenario*, in which it is switched off, must break an assertion under a seed.

    Raises `NotCaught` if none does. Only an `AssertionError` counts: any other failure says that switching the guard
    off broke the scenario, not a promise, and is raised as `SeedFailed`.
    """
    failure = first_failure(scenario, seeds)
    if failure is None:
        raise NotCaught(f"{guard}: nothing failed without it")
    if not isinstance(failure.error, AssertionError):
        raise SeedFailed(f"{guard}: seed {failure.seed} broke otherwise\n{failure.timeline}") from failure.error
    return failure


def first_failure(scenario: Scenario, seeds: Iterable[int] = range(SEEDS)) -> Failure | None:
    """The first of *seeds* under which *scenario* raises, or None.

    A failing seed is run a second time. If that is not the same run, there is no use in the seed: `NotDeterministic`.
    """
    for tried, seed in enumerate(seeds, 1):
        error, trace, timeline = _ran(scenario, seed)
        if error is not None:
            _compare(seed, trace, _ran(scenario, seed)[1])
            return Failure(seed, tried, error, timeline)
    return None


def _ran(scenario: Scenario, seed: int) -> tuple[Exception | None, str, str]:
    with Simulation(seed) as simulation:
        try:
            scenario(simulation)
        except Exception as error:  # noqa: BLE001  (this is what was looked for)
            return error, simulation.trace, simulation.timeline
    return None, "", ""


def _compare(seed: int, one: str, other: str) -> None:
    if one == other:
        return
    for number, (first, second) in enumerate(zip_longest(one.splitlines(), other.splitlines()), 1):
        if first != second:
            raise NotDeterministic(
                f"seed {seed} ran twice and differed at step {number} of its trace:\n  {first}\n  {second}"
            )
