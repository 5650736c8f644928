"""`make bench` finds every benchmark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_every_benchmark_is_listed_with_what_it_measures() -> None:
    listed = bench("--list").stdout.splitlines()
    files = sorted(file.stem for file in (ROOT / "bench").glob("[!_]*.py"))
    assert [line.split(maxsplit=1)[0] for line in listed] == files
    assert all(len(line.split(maxsplit=1)) == 2 for line in listed)


def test_a_benchmark_that_is_not_there_is_an_error_before_any_runs() -> None:
    ran = bench("kv", "nothing-such")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "nothing-such" in ran.stderr
