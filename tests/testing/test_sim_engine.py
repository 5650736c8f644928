"""The engine keeps its promises under a thousand seeds, and each guard of the protocol is missed when it is off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.testing.sim import explore, first_failure, must_catch
from headwater.testing.sim.engine import MUTATIONS, STORIES, Mutation, scenario

SEEDS = 100
"""For each story: of thirteen stories, that makes thirteen hundred."""


@pytest.mark.parametrize("story", STORIES)
def test_no_promise_is_broken(story: str) -> None:
    explore(scenario(STORIES[story]), range(SEEDS))


def test_there_are_a_thousand_seeds() -> None:
    assert len(STORIES) * SEEDS >= 1000


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_guard_that_is_switched_off_is_missed(name: str) -> None:
    mutation = MUTATIONS[name]
    must_catch(name, scenario(STORIES[mutation.story], without=mutation), range(mutation.seeds))


def test_a_reader_may_begin_with_a_cached_record_if_its_second_look_compares_all_of_it() -> None:
    guards = MUTATIONS["dirty-not-compared"].replaced
    whole = {place: guard for place, guard in guards.items() if not place.endswith("is_unchanged")}
    assert len(whole) == len(guards) - 1
    explore(scenario(STORIES["a crowd"], without=Mutation("", "a crowd", whole)), range(50))


def test_a_guard_is_back_when_its_mutation_is_over() -> None:
    mutation = MUTATIONS["no-second-read"]
    missed = must_catch("no-second-read", scenario(STORIES[mutation.story], without=mutation), range(mutation.seeds))
    assert first_failure(scenario(STORIES[mutation.story]), [missed.seed]) is None


def test_the_page_of_the_protocol_tells_of_each_guard_and_of_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
    table, _, traps = page.partition("| without |")[2].partition("| trap |")
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == list(MUTATIONS)
    named = re.findall(r"`([a-z-]+)`", traps.partition("\n\n")[0])
    assert len(named) == len(set(named)) > 10
    assert set(named) < set(MUTATIONS)
