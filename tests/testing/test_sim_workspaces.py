"""Workspaces keep their promises under many seeds, and each guard of them is missed when it is off."""

from __future__ import annotations

import pytest

from headwater.testing.sim import explore, must_catch
from headwater.testing.sim.engine.workspaces import WORKSPACE_MUTATIONS, working

SEEDS = 40


def test_no_promise_of_workspaces_is_broken() -> None:
    explore(working(), range(SEEDS))


@pytest.mark.parametrize("name", WORKSPACE_MUTATIONS)
def test_a_guard_that_is_switched_off_is_missed(name: str) -> None:
    mutation = WORKSPACE_MUTATIONS[name]
    must_catch(name, working(without=mutation), range(mutation.seeds))
