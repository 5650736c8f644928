"""What hooks did."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Hw, Lake

ACTION = """
name: Gate
on:
  pre-commit:
hooks:
  - id: no_secrets
    type: starlark
    properties:
      script: |
        print("looked at " + event["branch_id"])
        for each in lake.diff():
            if "secret" in each["path"]:
                fail(each["path"] + " does not belong here")
"""


@pytest.mark.parametrize("lake", ["remote"], indirect=True)
def test_the_runs_of_hooks_are_shown(lake: Lake) -> None:
    lake.commit({"_lakefs_actions/gate.yaml": ACTION, "a": "1"})
    lake.put("secret", "1")
    refused = lake.failed(4, "commit", lake.main, "-m", "no")
    assert "no_secrets" in refused
    (newest, *_) = lake.documents("actions", "runs", lake.repository, "--branch", "main")
    assert (newest["event_type"], newest["status"]) == ("pre-commit", "failed")
    shown = lake.document("actions", "show", lake.repository, newest["run_id"])
    (hook,) = shown["hooks"]
    assert (hook["action"], hook["hook_id"], hook["status"]) == ("Gate", "no_secrets", "failed")
    assert "no_secrets" in lake.done("actions", "show", lake.repository, newest["run_id"])
    said = lake.done("actions", "output", lake.repository, newest["run_id"], hook["hook_run_id"])
    assert "looked at main" in said
    assert "secret does not belong here" in said
    assert len(lake.documents("actions", "runs", lake.repository, "-n", "1")) == 1
    lake.failed(3, "actions", "show", lake.repository, "nothing-such")


def test_a_file_is_checked_before_it_stops_anything(hw: Hw, tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text(ACTION)
    assert hw("actions", "check", tmp_path / "gate.yaml").stdout == "Gate: no_secrets on pre-commit\n"
    (tmp_path / "bad.yaml").write_text(ACTION.replace("pre-commit", "pre-comit"))
    wrong = hw("actions", "check", tmp_path / "bad.yaml")
    assert (wrong.exit_code, "pre-comit" in wrong.stderr) == (2, True)


def test_an_embedded_lake_has_no_runs(hw: Hw, tmp_path: Path) -> None:
    assert "--endpoint" in hw("--lake", tmp_path, "actions", "runs", "abc").stderr


def test_whoever_commits_without_a_server_is_told_that_no_hook_was_run(lake: Lake) -> None:
    told = "no hook of _lakefs_actions/ was run"
    embedded = "HEADWATER_LAKE" in os.environ
    lake.put("a", "1")
    assert told not in lake.run("commit", lake.main, "-m", "nothing to run").stderr
    lake.done("branch", "create", f"{lake.repository}/side")
    lake.put("_lakefs_actions/gate.yaml", ACTION)
    assert (told in lake.run("commit", lake.main, "-m", "gate").stderr) == embedded
    lake.commit({"b": "1"}, branch="side")
    assert (told in lake.run("merge", f"{lake.repository}/side", "main").stderr) == embedded
    assert (told in lake.run("revert", lake.main, "main~1", "-m", "no gate").stderr) is False
    assert (told in lake.run("cherry-pick", lake.main, "main~2", "-m", "gate").stderr) == embedded
