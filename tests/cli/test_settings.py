"""Where the lake is and who asks; what is wrong with it; and what a shell may complete."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from dev.servers.headwater import Headwater
from tests.cli.conftest import Hw, Lake
from tests.cli.test_main import HW

SECRET = 'se"cr\\et\u00fc'  # noqa: S105  (nobody's)


def settings(hw: Hw, *arguments: str | Path) -> dict[str, str]:
    shown = hw("profile", "show", *arguments)
    assert shown.exit_code == 0, shown.stderr
    return {line.split("\t")[0]: "\t".join(line.split("\t")[1:]) for line in shown.stdout.splitlines()}


def test_a_profile_keeps_a_lake_and_its_secret_for_its_owner_only(hw: Hw, home: Path) -> None:
    saved = hw(
        "profile", "save", "office", "--endpoint", "https://lake.example", "--access-key-id", "AK", given=f"{SECRET}\n"
    )
    assert (saved.exit_code, SECRET in saved.output) == (0, False)
    hw("profile", "save", "home", "--lake", home / "lake", "--default", "--committer", "ada")
    file = home / ".headwater.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert settings(hw) == {"lake": f"{home}/lake\tprofile", "committer": "ada\tprofile"}
    office = settings(hw, "--profile", "office")
    assert office["endpoint"] == "https://lake.example\tprofile"
    assert office["secret_access_key"].split("\t") == ["********", "profile"]
    listed = hw("profile", "list").stdout
    assert [line.split("\t")[:2] for line in listed.splitlines()] == [["*", "home"], ["", "office"]]
    assert hw("profile", "delete", "home", "-y").exit_code == 0
    assert settings(hw) == {}
    assert "there is: office" in hw("--profile", "home", "repo", "list").stderr
    assert hw("profile", "delete", "home", "-y").exit_code == 2
    assert hw("profile", "save", "nowhere").exit_code == 2


def test_what_is_said_first_says_it_all(hw: Hw, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".headwater.toml").write_text(
        'endpoint = "http://file"\naccess_key_id = "F"\nsecret_access_key = "f"\ncommitter = "file"\n'
        '[profiles.named]\nlake = "/named"\n'
    )
    assert settings(hw)["endpoint"] == "http://file\tfile"
    elsewhere = settings(hw, "--endpoint", "http://elsewhere")
    assert elsewhere == {"endpoint": "http://elsewhere\toption", "committer": "file\tfile"}, "secrets stay with theirs"
    monkeypatch.setenv("HEADWATER_LAKE", "/environment")
    assert settings(hw) == {"lake": "/environment\tenvironment", "committer": "file\tfile"}
    monkeypatch.setenv("HEADWATER_PROFILE", "named")
    assert settings(hw)["lake"] == "/environment\tenvironment"
    assert settings(hw, "--profile", "named")["lake"] == "/named\tprofile"
    assert settings(hw, "--lake", "/option")["lake"] == "/option\toption"


def test_a_file_that_cannot_be_understood_is_named(hw: Hw, home: Path) -> None:
    (home / ".headwater.toml").write_text('laek = "x"')
    failed = hw("repo", "list")
    assert failed.exit_code == 2
    assert "laek" in failed.stderr
    assert ".headwater.toml" in failed.stderr


def test_without_a_lake_one_is_told_how_to_say_where_it_is(hw: Hw) -> None:
    failed = hw("repo", "list")
    assert failed.exit_code == 2
    assert "--lake" in failed.stderr


def test_a_doctor_looks_at_what_there_is(lake: Lake) -> None:
    findings = lake.documents("doctor")
    assert {finding["state"] for finding in findings} <= {"ok", "note"}
    assert {"headwater", "settings", "repositories"} <= {finding["check"] for finding in findings}


def test_a_doctor_tells_what_is_wrong(hw: Hw, home: Path) -> None:
    (home / ".headwater.toml").write_text(
        'endpoint = "http://127.0.0.1:9"\naccess_key_id = "A"\nsecret_access_key = "s"'
    )
    (home / ".headwater.toml").chmod(0o644)
    told = hw("doctor")
    assert told.exit_code == 7
    assert "chmod 600" in told.stdout
    assert "failed\tlake" in told.stdout
    assert hw("--lake", "/dev/null/x", "doctor").exit_code != 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_what_it_needs(hw: Hw, shell: str) -> None:
    script = hw("completion", shell).stdout
    assert "_HW_COMPLETE" in script


def completed(environment: dict[str, str], *words: str) -> list[str]:
    """What bash is offered behind these words."""
    ran = subprocess.run(
        [HW],
        env={
            **os.environ,
            **environment,
            "_HW_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["hw", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line.partition(",")[2] for line in ran.stdout.splitlines() if line]


@pytest.mark.parametrize("lake", ["embedded"], indirect=True)
def test_commands_and_places_are_completed(lake: Lake) -> None:
    lake.put("raw/a", "1")
    lake.put("raw/b", "1")
    assert completed({}, "cherr") == ["cherry-pick"]
    assert completed({}, "log", f"{lake.repository}/m") == [f"{lake.repository}/main/"]
    assert completed({}, "cat", f"{lake.main}/raw/") == [f"{lake.main}/raw/a", f"{lake.main}/raw/b"]
    assert completed({}, "cat", "nothing-such/main/") == []
    assert completed({"HEADWATER_LAKE": "", "HEADWATER_ENDPOINT": ""}, "cat", "x/") == []


def test_a_secret_is_in_no_help_and_no_option(hw: Hw, server: Headwater) -> None:
    assert "secret-access-key" not in hw("--help").stdout + hw("profile", "save", "--help").stdout
    assert server.secret_access_key not in hw("--endpoint", server.url, "repo", "list").output
