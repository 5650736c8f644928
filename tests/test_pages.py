"""The pages tell the truth: what the README prints is what its program prints, and no link leads nowhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
"""A link to a place in this repository: its path, which may be empty, and its heading."""


def test_the_program_in_the_readme_prints_what_is_printed_below_it(tmp_path: Path) -> None:
    shown = re.search(
        r"^```python\n(.*?)^```\n\n```\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert shown is not None
    program, output = shown.groups()
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == (output, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    leading_nowhere = []
    for path, heading in LINK.findall(without_code(page.read_text())):
        target = page.parent / path if path else page
        if not target.exists() or (heading and heading not in headings(target)):
            leading_nowhere.append(f"{path}#{heading}")
    assert leading_nowhere == []


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made where repositories are shown."""
    found = re.findall(r"^#+ (.*)$", without_code(page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
