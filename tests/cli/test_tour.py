"""The tour of the README is true: its commands, on a real server and a real terminal, print what stands below them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from dev import terminal
from dev.servers import headwater

ROOT = Path(__file__).parents[2]

ID = re.compile(r"\b[0-9a-f]{12}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")


def test_the_tour_of_the_readme_prints_what_it_says(tmp_path: Path) -> None:
    tour = terminal.session((ROOT / "README.md").read_text())
    work = tmp_path / "work"
    work.mkdir()
    with headwater.serve(tmp_path) as server:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "HEADWATER_ENDPOINT": server.url,
            "HEADWATER_ACCESS_KEY_ID": server.access_key_id,
            "HEADWATER_SECRET_ACCESS_KEY": server.secret_access_key,
        }
        printed = [(command, terminal.shown(command, work, environment)) for command, _ in tour]
    assert len(tour) > 10
    assert without_what_changes(printed) == without_what_changes(tour)


def without_what_changes(tour: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """*tour*, with times blanked and commits numbered as they appear."""
    numbers: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"commit {len(numbers)}")

    return [(command, TIME.sub("TIME", ID.sub(numbered, printed))) for command, printed in tour]
