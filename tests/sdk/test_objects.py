"""Objects: put, read, listed, copied, linked and deleted."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import headwater
from headwater.sdk.bodies import Content
from headwater.sdk.results import CommonPrefix, Entry
from headwater.sdk.sync import Branch, Repository

LARGE = bytes(range(256)) * 80_000  # 20 MB: more than is held, or sent, at once

CONTENTS: dict[str, Callable[[], Content]] = {
    "bytes": lambda: LARGE,
    "bytearray": lambda: bytearray(LARGE),
    "memoryview": lambda: memoryview(LARGE),
    "file": lambda: io.BytesIO(LARGE),
    "list": lambda: [LARGE[:1000], b"", LARGE[1000:]],
    "generator": lambda: (LARGE[start : start + 999_999] for start in range(0, len(LARGE), 999_999)),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_content_comes_as_bytes_as_a_file_or_in_chunks(main: Branch, kind: str) -> None:
    entry = main.put("large", CONTENTS[kind]())
    assert (entry.path, entry.size, entry.checksum) == ("large", len(LARGE), hashlib.md5(LARGE).hexdigest())  # noqa: S324
    assert main.get("large") == LARGE


@pytest.mark.parametrize("text_as", [str, io.StringIO, list])
def test_text_is_refused_with_a_word_on_what_to_do(main: Branch, text_as: Callable[[str], Content]) -> None:
    with pytest.raises(headwater.BadRequest, match="encode"):
        main.put("a", text_as("text"))
    assert not main.exists("a")


def test_content_that_fails_half_way_leaves_nothing(main: Branch) -> None:
    main.put("a", b"before")
    with pytest.raises(ZeroDivisionError):
        main.put("a", (LARGE[: 1_000_000 // left] for left in (1, 1, 0)))
    assert main.get("a") == b"before"


def test_a_part_is_read_by_its_bounds(main: Branch) -> None:
    main.put("a", b"0123456789")
    assert main.get("a", start=3) == b"3456789"
    assert main.get("a", start=3, end=5) == b"34"
    assert main.get("a", end=100) == b"0123456789"
    main.put("empty", b"")
    assert main.get("empty") == b""


def test_what_is_known_of_an_object_without_reading_it(main: Branch) -> None:
    main.put("a.csv", b"1", content_type="text/csv", metadata={"rows": "0"})
    entry = main.stat("a.csv")
    assert (entry.size, entry.content_type, entry.metadata) == (1, "text/csv", {"rows": "0"})
    assert abs(datetime.now(UTC) - entry.modified) < timedelta(minutes=5)
    assert main.exists("a.csv")
    assert not main.exists("a")


def test_what_is_not_there_is_an_error_that_names_it(repo: Repository, main: Branch) -> None:
    with pytest.raises(headwater.PathNotFound, match=r"nowhere\.csv"):
        main.get("nowhere.csv")
    with pytest.raises(headwater.RefNotFound, match="nobranch"):
        repo.branch("nobranch").get("a")
    with pytest.raises(headwater.RefNotFound, match="nobranch"):
        list(repo.branch("nobranch").list())


def test_a_listing_has_entries_and_common_prefixes_in_one_order(main: Branch) -> None:
    for path in ("b", "a/1", "a/2", "c/x/1", "d"):
        main.put(path, path.encode())
    assert [entry.path for entry in main.list()] == ["a/1", "a/2", "b", "c/x/1", "d"]
    shown = list(main.list(delimiter="/"))
    assert [each.path for each in shown] == ["a/", "b", "c/", "d"]
    assert [type(each) for each in shown] == [CommonPrefix, Entry, CommonPrefix, Entry]
    assert [each.path for each in main.list("c/", delimiter="/")] == ["c/x/"]
    assert [entry.path for entry in main.list("a/", after="a/1")] == ["a/2"]


def test_a_listing_goes_on_over_many_pages_and_is_an_iterator(main: Branch, tmp_path: Path) -> None:
    address = f"file://{tmp_path}/all"
    paths = [f"n/{number:05}" for number in range(1100)]
    for path in paths[:700]:
        main.link(path, address, size=1)
    main.commit("half of it")
    for path in paths[700:]:
        main.link(path, address, size=1)
    listing = main.list("n/")
    assert next(listing).path == "n/00000"
    assert [entry.path for entry in listing] == paths[1:]
    assert [change.path for change in main.diff()] == paths[700:]


def test_deleting_takes_one_path_or_many_and_absent_ones(main: Branch) -> None:
    for path in ("a", "b", "c", "d"):
        main.put(path, b"1")
    main.delete("a")
    main.delete(["b", "nowhere"])
    main.delete(path for path in ("c",))
    assert [entry.path for entry in main.list()] == ["d"]


def test_a_copy_takes_content_and_metadata_but_no_bytes(repo: Repository, main: Branch) -> None:
    main.put("a", b"1", content_type="text/plain", metadata={"k": "v"})
    main.commit("first")
    main.put("a", b"2")
    main.copy("a", "now")
    copied = main.copy("a", "then", source_ref="main@")
    assert (main.get("now"), main.get("then")) == (b"2", b"1")
    assert (copied.content_type, copied.metadata) == ("text/plain", {"k": "v"})
    assert copied.blocks == repo.ref("main@").stat("a").blocks


def test_an_object_that_is_somewhere_already_is_linked_by_its_address(main: Branch, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.csv").write_bytes(b"from outside")
    main.link("in/a.csv", f"file://{tmp_path}/outside/a.csv", size=12)
    assert main.get("in/a.csv") == b"from outside"


def test_a_write_may_depend_on_what_is_there(main: Branch) -> None:
    first = main.put("a", b"1", if_absent=True)
    with pytest.raises(headwater.PreconditionFailed):
        main.put("a", b"2", if_absent=True)
    main.put("a", b"2", if_match=first.checksum)
    with pytest.raises(headwater.PreconditionFailed):
        main.put("a", b"3", if_match=first.checksum)
    assert main.get("a") == b"2"
    with pytest.raises(headwater.BadRequest):
        main.put("a", b"3", if_absent=True, if_match=first.checksum)


def test_objects_that_are_somewhere_already_are_imported_in_one_commit(main: Branch, tmp_path: Path) -> None:
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    (tmp_path / "outside" / "a.csv").write_bytes(b"a")
    (tmp_path / "outside" / "deep" / "b.csv").write_bytes(b"bb")
    made = main.import_prefix(f"file://{tmp_path}/outside/", "in/", metadata={"job": "42"})
    assert [entry.path for entry in main.list()] == ["in/a.csv", "in/deep/b.csv"]
    assert main.get("in/deep/b.csv") == b"bb"
    assert (main.head(), made.metadata) == (made, {"job": "42"})
    table = pl.DataFrame({"path": ["t/a"], "address": [f"file://{tmp_path}/outside/a.csv"], "size": [1]})
    table = table.with_columns(checksum=pl.lit(None, pl.String))
    assert main.import_table(table, "from a table").parents == (made.id,)
    assert main.get("t/a") == b"a"


def test_compacting_what_is_staged_changes_nothing_that_is_seen(main: Branch) -> None:
    for name in "abc":
        main.put(name, b"1")
    before = list(main.list())
    main.compact()
    assert list(main.list()) == before
    assert [change.path for change in main.diff()] == ["a", "b", "c"]
