"""How many files there are, by the tree, beside a listing of all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import headwater
from headwater import pipeline
from headwater.pipeline import Place
from tests.pipeline.lakes import place_in, rows_of, table


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A tree of several segments, and on it a commit that adds, removes and changes files."""
    directory = tmp_path_factory.mktemp("lake")
    place = place_in(directory)
    with headwater.open(directory, durability="os") as lake:
        main = lake.repo("sales").branch("main")
        main.import_table(table(40_000), message="many")
        main.put("p3/new", b"new")
        main.put("p1/0000001", b"changed")
        main.delete(["p1/0000008", "p6/0000006", "z/never"])
        main.commit("on top")
        main.put("p3/staged", b"staged")
    return place


@pytest.mark.parametrize("prefix", ["", "p", "p1/", "p3/", "p3/00300", "p3/new", "p6/0000006", "a", "z"])
def test_the_tree_tells_how_many_files_there_are(place: Place, prefix: str) -> None:
    committed = [path for path in rows_of(place, "main") if path.startswith(prefix) and path != "p3/staged"]
    assert pipeline.count_entries(place, "main", prefix=prefix) == len(committed)


def test_nothing_is_counted_in_an_empty_repository(tmp_path: Path) -> None:
    assert pipeline.count_entries(place_in(tmp_path), "main") == 0
