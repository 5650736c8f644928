"""Appends count once and in order under many seeds, and each guard of that is missed when it is off."""

from __future__ import annotations

import pytest

from headwater.testing.sim import explore, must_catch
from headwater.testing.sim.engine.appends import APPEND_MUTATIONS, appending

SEEDS = 60


def test_what_is_appended_counts_once_and_in_order() -> None:
    explore(appending(), range(SEEDS))


@pytest.mark.parametrize("name", APPEND_MUTATIONS)
def test_a_guard_that_is_switched_off_is_missed(name: str) -> None:
    mutation = APPEND_MUTATIONS[name]
    must_catch(name, appending(without=mutation), range(mutation.seeds))
