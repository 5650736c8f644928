"""The driver that CONTRIBUTING shows is whole: taken from the page, installed as a package, and held to the suite."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.testing.kv_suite import KVStoreSuite

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The page's code blocks as an installed distribution, for this process and the ones that it starts."""
    site = tmp_path_factory.mktemp("site")
    (site / "headwater_sqlite.py").write_text(code_block("python"))
    metadata = site / "headwater_sqlite-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: headwater-sqlite\nVersion: 1.0\n")
    entry_points = (
        code_block("toml").replace('[project.entry-points."headwater.kv"]', "[headwater.kv]").replace('"', "")
    )
    (metadata / "entry_points.txt").write_text(entry_points)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        patch.setenv("PYTHONPATH", str(site))
        yield
    sys.modules.pop("headwater_sqlite", None)


def code_block(language: str) -> str:
    """The first code block of the page in *language*."""
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


class TestSQLite(KVStoreSuite):
    many = 5_000  # each is a transaction of its own: the driver on the page has no bulk calls

    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"sqlite://{tmp_path}/lake.db"


def test_the_driver_on_the_page_has_about_60_lines() -> None:
    statements = [line for line in code_block("python").splitlines() if line.strip()]
    assert len(statements) <= 62
