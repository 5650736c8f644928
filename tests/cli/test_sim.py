"""A shell can look for broken promises."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Hw


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--seeds", "11"], 0, "11 seeds, no promise broken"),
        (["--without", "no-second-read", "--seeds", "5"], 1, "was acknowledged before"),
    ],
)
def test_it_says_what_was_found(hw: Hw, arguments: list[str], status: int, said: str) -> None:
    ran = hw("sim", *arguments)
    assert (ran.exit_code, ran.stderr) == (status, "")
    assert said in ran.stdout


def test_a_machine_learns_the_seed_and_sees_the_same_run_again(hw: Hw) -> None:
    found = json.loads(hw("--json", "sim", "--without", "no-second-read", "--seeds", "5").stdout)
    again = hw("sim", "--json", "--without", "no-second-read", "--first", str(found["seed"]), "--seeds", "1")
    assert json.loads(again.stdout)["timeline"] == found["timeline"]
    assert hw("sim", "--seeds", "0").exit_code == 2
