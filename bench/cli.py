"""What `hw` costs: its start beside Python's own, and files sent and fetched beside `cp` of the same tree.

Time on the processor, of all that a command runs: what else the machine does meanwhile does not count. Each figure is
the median of some rounds, and a multiple of a peer measured in the same run.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

HW = Path(sys.executable).parent / "hw"
ROUNDS = 5
FILES = 2000
CONTENT = bytes(1024)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        environment = {"HEADWATER_LAKE": str(directory / "lake"), "HEADWATER_DURABILITY": "os"}
        starts(directory, environment)
        trees(directory, environment)


def starts(directory: Path, environment: Mapping[str, str]) -> None:
    """What it takes to be told of, and to look at a lake."""
    run([HW, "repo", "create", "bench"], directory, environment)
    commands: dict[str, Sequence[str | Path]] = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "hw --help": [HW, "--help"],
        "hw log --help": [HW, "log", "--help"],
        "hw ls bench/main": [HW, "ls", "bench/main"],
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            spent[name].append(run(command, directory, environment))
    medians = {name: statistics.median(rounds) for name, rounds in spent.items()}
    bare = medians["python -c pass"]
    print(f"{'':20}{'ms':>8}{'x python':>10}")
    for name, seconds in medians.items():
        print(f"{name:20}{seconds * 1000:8.0f}{seconds / bare:10.1f}")


def trees(directory: Path, environment: Mapping[str, str]) -> None:
    """What a file of 1 KiB takes, of a tree of many: sent, fetched, looked at."""
    tree = directory / "tree"
    for number in range(FILES):
        file = tree / f"{number % 20:02}" / f"{number:04}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(CONTENT)
    idle = run([HW, "ls", "bench/main"], directory, environment)
    commands: dict[str, Sequence[str | Path]] = {
        "cp -r": ["cp", "-r", tree, directory / "copy"],
        "fs upload": [HW, "fs", "upload", tree, "bench/main/tree"],
        "fs download": [HW, "fs", "download", "bench/main/tree", directory / "fetched"],
        "commit": [HW, "commit", "bench/main", "-m", "all of it"],
        "local clone": [HW, "local", "clone", "bench/main/tree", directory / "clone"],
        "local status": [HW, "local", "status", directory / "clone"],
    }
    print(f"\n{f'{FILES} files':20}{'us a file':>11}{'x cp':>8}")
    bare = 0.0
    for name, command in commands.items():
        seconds = run(command, directory, environment) - (0 if name == "cp -r" else idle)
        bare = bare or seconds
        print(f"{name:20}{seconds / FILES * 1e6:11.0f}{seconds / bare:8.1f}")


def run(command: Sequence[str | Path], directory: Path, environment: Mapping[str, str]) -> float:
    """Seconds of the processor that *command* takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603  (ours)
        command, cwd=directory, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, check=True
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
