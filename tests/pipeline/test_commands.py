"""`hw spark` and the program for a cluster: a session of their own, in a process of their own."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

import headwater
from headwater.cli.exits import Exit
from headwater.cli.main import main
from headwater.pipeline import submit

HW = Path(sys.executable).parent / "hw"
LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "512m"}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    with headwater.open(tmp_path / "lake", durability="os") as lake:
        main_branch = lake.create_repo("sales").branch("main")
        main_branch.put("a/x.csv", b"one")
        main_branch.put("b", b"three")
        main_branch.commit("first")
    return tmp_path / "lake"


def on_terminal(*command: str | Path) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run *command* with its standard error on a terminal, and what was to be read there."""
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read() -> None:
        with suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 4096):
                shown.extend(piece)

    reading = Thread(target=read)
    reading.start()
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=False)
    finally:
        os.close(theirs)
        reading.join()
        os.close(ours)
    return ran, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))


def test_a_terminal_shows_the_stages_and_standard_output_the_answer(lake: Path) -> None:
    conf = [part for name, value in LOCAL.items() for part in ("--conf", f"{name}={value}")]
    ran, shown = on_terminal(HW, "--lake", lake, "spark", "check", "--master", "local[1]", *conf, "sales", "main")
    assert ran.returncode == 0, shown
    assert re.search(r"stage \d+.*\d+/\d+ tasks", shown)
    assert "entries" in ran.stdout
    assert "tasks" not in ran.stdout


def test_hw_spark_runs_a_job_and_its_status_tells_what_a_check_found(lake: Path) -> None:
    conf = [part for name, value in LOCAL.items() for part in ("--conf", f"{name}={value}")]
    [damaged] = [file for file in lake.glob("objects/sales/data/*/*") if file.read_bytes() == b"three"]
    damaged.unlink()
    ran, shown = on_terminal(
        HW, "--lake", lake, "--json", "spark", "check", "--master", "local[1]", *conf, "sales", "main"
    )
    assert ran.returncode == Exit.DAMAGED, shown
    assert "tasks" not in shown
    told = json.loads(ran.stdout)
    assert (told["entries"], told["problems"]) == (2, 1)
    assert told["some"][0]["path"] == "b"


def test_the_module_is_a_program_that_answers_with_a_document(lake: Path) -> None:
    conf = [part for name, value in LOCAL.items() for part in ("--conf", f"{name}={value}")]
    submitting = Path(sys.executable).parent / "spark-submit"
    ran = subprocess.run(
        [submitting, "--master", "local[1]", *conf, submit.__file__, "--lake", lake, "stats", "sales", "main"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert (told["objects"], told["bytes"]) == (2, 8)


def test_every_job_has_a_command() -> None:
    shown = CliRunner().invoke(main, ["spark", "--help"], prog_name="hw").stdout
    for name, (summary, _) in submit.JOBS.items():
        assert f"  {name} " in shown
        assert summary in shown
