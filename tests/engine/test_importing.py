"""Importing what is somewhere already: prefixes, objects and tables of entries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater import blob
from headwater.blob import NotFound
from headwater.drive import drive
from headwater.engine import diff, importing, read
from headwater.engine.check import check
from headwater.engine.errors import BadRequest, ReadOnly
from headwater.engine.importing import ImportObject, ImportPrefix, import_objects, import_table
from headwater.engine.log import log
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.staging.errors import NothingToCommit
from tests.engine.lakes import commit, description, files_at, lake_in, put, text_at, told

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["mem", "lmdb"])
async def repository(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Repository]:
    lake, namespace = await lake_in(request.param, tmp_path)
    repository = await lake.create("sales", namespace)
    yield repository
    report = await check(repository)
    await lake.aclose()
    assert report.findings == ()


@pytest.fixture
async def source(tmp_path: Path) -> str:
    """The URI of a directory with objects of odd names."""
    uri = f"file://{tmp_path}/source"
    async with await blob.open(uri) as store:
        for name in ("a b.csv", "c%20d.csv", "e/f#1.csv", "e/g?.csv", "é.csv"):
            await store.put(name, name.encode())
    return uri


def table(**columns: list[Any]) -> pa.Table:
    rows = len(columns["path"])
    return pa.table({"address": ["s3://bucket/x"] * rows, "size": [1] * rows, **columns})


async def listed(repository: Repository) -> dict[str, Entry]:
    entries = await read.list_entries(repository, "main")
    return {path_of(entry.key): entry for entry in entries if isinstance(entry, Entry)}


async def test_an_imported_prefix_is_read_from_where_it_is(repository: Repository, source: str) -> None:
    await import_objects(repository, "main", [ImportPrefix(f"{source}/", "raw/")], description())
    names = ["a b.csv", "c%20d.csv", "e/f#1.csv", "e/g?.csv", "é.csv"]
    assert await files_at(repository, "main") == {f"raw/{name}": name for name in sorted(names)}
    async with await blob.open(source) as store:
        stat = await store.stat("e/f#1.csv")
    entry = (await listed(repository))["raw/e/f#1.csv"]
    assert stat is not None
    assert (entry.size, entry.checksum, entry.modified) == (stat.size, stat.etag.strip('"'), stat.modified)


async def test_what_follows_the_source_follows_the_destination(repository: Repository, source: str) -> None:
    await import_objects(repository, "main", [ImportPrefix(f"{source}/e/f", "x")], description())
    assert await files_at(repository, "main") == {"x#1.csv": "e/f#1.csv"}


async def test_single_objects_are_imported_and_the_later_source_replaces_the_earlier(
    repository: Repository, source: str
) -> None:
    sources: list[ImportPrefix | ImportObject] = [
        ImportPrefix(f"{source}/e/", ""),
        ImportObject(f"{source}/é.csv", "f#1.csv"),
    ]
    await import_objects(repository, "main", sources, description())
    assert await files_at(repository, "main") == {"f#1.csv": "é.csv", "g?.csv": "e/g?.csv"}


async def test_an_import_adds_and_replaces_and_removes_nothing(repository: Repository, source: str) -> None:
    await commit(repository, **{"raw/f#1.csv": "old", "raw/z": "kept"})
    await import_objects(repository, "main", [ImportPrefix(f"{source}/e/", "raw/")], description())
    assert await files_at(repository, "main") == {
        "raw/f#1.csv": "e/f#1.csv",
        "raw/g?.csv": "e/g?.csv",
        "raw/z": "kept",
    }


async def test_what_is_staged_stays_staged_on_top(repository: Repository, source: str) -> None:
    await put(repository, **{"g?.csv": "mine", "other": "mine"})
    landed = await import_objects(repository, "main", [ImportPrefix(f"{source}/e/")], description())
    assert await text_at(repository, "main", "g?.csv") == "mine"
    assert await files_at(repository, landed.id) == {"f#1.csv": "e/f#1.csv", "g?.csv": "e/g?.csv"}
    assert told(await diff.uncommitted(repository, "main")) == {"g?.csv": "changed", "other": "added"}


async def test_an_object_that_is_not_there_is_not_imported(repository: Repository, source: str) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await import_objects(repository, "main", [ImportObject(f"{source}/nowhere", "x")], description())


async def test_importing_the_same_again_is_no_commit(repository: Repository, source: str) -> None:
    await import_objects(repository, "main", [ImportPrefix(f"{source}/")], description())
    with pytest.raises(NothingToCommit, match="already"):
        await import_objects(repository, "main", [ImportPrefix(f"{source}/")], description())


@pytest.mark.parametrize("source", ["bucket/x", "s3://bucket/x?region=eu", "s3://bucket/x#y"])
async def test_a_source_is_a_uri_without_options(repository: Repository, source: str) -> None:
    with pytest.raises(BadRequest):
        await import_objects(repository, "main", [ImportPrefix(source)], description())


async def test_nothing_to_import_is_refused(repository: Repository) -> None:
    with pytest.raises(BadRequest, match="nothing to import"):
        await import_objects(repository, "main", [], description())


async def test_a_table_brings_all_that_an_entry_has(repository: Repository) -> None:
    entries = table(
        path=["b", "a"],
        size=[7, 8],
        checksum=["five", None],
        modified=[datetime(2024, 1, 2, tzinfo=UTC), None],
        content_type=["text/csv", None],
    ).append_column(
        "metadata",
        pa.array([[("job", "42")], None], pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False))),
    )
    await import_table(repository, "main", entries, description())
    a, b = (await listed(repository)).values()
    assert (b.size, b.checksum, b.content_type, b.metadata) == (7, "five", "text/csv", {"job": "42"})
    assert b.modified == 1_704_153_600_000
    assert (a.size, a.checksum, a.content_type, a.metadata) == (8, None, None, {})
    assert a.modified > b.modified


async def test_a_frame_of_polars_or_pandas_is_a_table_too(repository: Repository) -> None:
    entries = table(path=["b", "a", "b"], size=[1, 2, 3])
    await import_table(repository, "main", pl.DataFrame(pl.from_arrow(entries)), description())
    assert {path: entry.size for path, entry in (await listed(repository)).items()} == {"a": 2, "b": 3}
    frame = entries.to_pandas()
    frame["size"] = [4, 5, 6]
    await import_table(repository, "main", frame, description())
    assert {path: entry.size for path, entry in (await listed(repository)).items()} == {"a": 5, "b": 6}


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ({"path": ["a"], "size": [1]}, "has the columns"),
        ({"path": ["a"], "address": ["s3://b/x"], "size": [1], "colour": ["red"]}, "has the columns"),
        ({"path": [""], "address": ["s3://b/x"], "size": [1]}, "0 to 0 bytes"),
        ({"path": ["a" * 1023], "address": ["s3://b/x"], "size": [1]}, "1023"),
        ({"path": ["a\0b"], "address": ["s3://b/x"], "size": [1]}, "NUL"),
        ({"path": ["a"], "address": ["s3://b/x"], "size": [-1]}, "0 bytes or more"),
        ({"path": ["a", None], "address": ["s3://b/x"] * 2, "size": [1, 1]}, "no path"),
        ({"path": ["a"], "address": ["s3://b/x"], "size": ["many"]}, "column size"),
        ("a,b", "a table"),
    ],
)
async def test_a_table_that_cannot_be_is_refused(repository: Repository, entries: object, complaint: str) -> None:
    head = await log(repository, "main")
    with pytest.raises(BadRequest, match=complaint):
        await import_table(repository, "main", entries, description())
    assert await log(repository, "main") == head


async def test_a_read_only_repository_imports_nothing(tmp_path: Path) -> None:
    lake, namespace = await lake_in("mem", tmp_path)
    locked = await lake.create("locked", namespace, read_only=True)
    with pytest.raises(ReadOnly):
        await import_table(locked, "main", table(path=["a"]), description())


async def test_an_import_in_several_steps_makes_the_same_index_and_is_told_by_its_paths(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = range(9_000)
    entries = table(
        path=[f"x/{number * 7919 % 9001:05d}" for number in numbers], size=list(numbers), modified=list(numbers)
    )
    one = await import_table(repository, "main", entries, description())
    lake, namespace = await lake_in("mem", Path())
    other = await lake.create("other", namespace)
    monkeypatch.setattr(importing, "IMPORT_STEP", 2_500)
    several = await import_table(other, "main", entries, description("in steps"))
    assert several.tree == one.tree
    assert [each.message for each in (await log(other, "main", paths=["x/08000"])).commits] == ["in steps"]
    assert [each.message for each in (await log(other, "main", paths=["y/"])).commits] == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4),
            st.integers(0, 9),
        )
    ),
    st.dictionaries(st.sampled_from("abc"), st.integers(10, 19), max_size=3),
)
def test_an_import_is_as_if_each_row_were_put_in_turn(rows: list[tuple[str, int]], before: dict[str, int]) -> None:
    async def imported() -> dict[str, int]:
        lake, namespace = await lake_in("mem", Path())
        repository = await lake.create("sales", namespace)
        for part in (list(before.items()), rows):
            if part:
                entries = table(path=[path for path, _ in part], size=[size for _, size in part])
                await import_table(repository, "main", entries, description())
        return {path: entry.size for path, entry in (await listed(repository)).items()}

    model = {**before, **dict(rows)}
    found = drive(imported())
    assert found == model
    assert list(found) == sorted(model)
