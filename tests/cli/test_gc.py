"""`hw gc`, on a lake in a directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import headwater
from headwater.blob.namespace import data_name
from headwater.cli.exits import Exit
from tests.cli.conftest import Hw


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake with one object that is needed, and one that was written long ago and forgotten."""
    directory = tmp_path / "lake"
    with headwater.open(directory, durability="os") as lake:
        main = lake.create_repo("sales").branch("main")
        main.put("kept", b"kept")
        main.commit("first load")
    forgotten = directory / "objects" / "sales" / data_name(1_700_000_000_000, "forgotten")
    forgotten.parent.mkdir(parents=True)
    forgotten.write_bytes(b"forgotten")
    os.utime(forgotten, (1_700_000_000, 1_700_000_000))
    return directory


def test_a_plan_is_made_listed_tried_and_swept(hw: Hw, lake: Path) -> None:
    made = json.loads(hw("--lake", str(lake), "gc", "plan", "sales", "--json").stdout)
    assert (made["objects"], made["bytes"]) == (1, 9)
    assert made["run"] in hw("--lake", str(lake), "gc", "plans", "sales").stdout
    dry = hw("--lake", str(lake), "gc", "sweep", "sales", made["run"], "--dry-run")
    assert "would delete\t1" in dry.stdout
    swept = json.loads(hw("--lake", str(lake), "--json", "gc", "sweep", "sales", made["run"]).stdout)
    assert (swept["deleted"], swept["bytes"], swept["spared"]) == (1, 9, 0)
    again = json.loads(hw("--lake", str(lake), "gc", "run", "sales", "--json").stdout)
    assert again["deleted"] == 0
    with headwater.open(lake) as opened:
        assert opened.repo("sales").branch("main").get("kept") == b"kept"


def test_rules_are_set_seen_and_cleared(hw: Hw, lake: Path) -> None:
    assert "retains every commit" in hw("--lake", str(lake), "gc", "rules", "sales").stdout
    shown = hw("--lake", str(lake), "gc", "rules", "sales", "--default", "21", "--branch", "main=90").stdout
    assert shown.splitlines() == ["default\t21 days", "main\t90 days"]
    assert hw("--lake", str(lake), "gc", "rules", "sales", "--branch", "main=90").exit_code == Exit.MISUSED
    assert hw("--lake", str(lake), "gc", "rules", "sales", "--default", "1", "--branch", "x").exit_code == Exit.MISUSED
    assert "retains every commit" in hw("--lake", str(lake), "gc", "rules", "sales", "--clear").stdout


def test_a_plan_that_is_not_there_is_not_found(hw: Hw, lake: Path) -> None:
    ended = hw("--lake", str(lake), "gc", "sweep", "sales", "20260101T000000Z-00000000")
    assert ended.exit_code == Exit.NOT_FOUND
    assert "make one" in ended.stderr


def test_a_server_is_not_asked_to_collect_garbage(hw: Hw) -> None:
    ended = hw("--endpoint", "http://127.0.0.1:1", "gc", "plan", "sales")
    assert ended.exit_code != Exit.DONE
    assert "not through a server" in ended.stderr
