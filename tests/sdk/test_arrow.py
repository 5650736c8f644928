"""The listing as an Arrow table."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headwater
from headwater.sdk.results import Entry
from headwater.sdk.sync import Branch, Repository

PATHS = st.sampled_from([f"{folder}{name}" for folder in ("", "a/", "a/é/", "b/", "\U0001f30a/") for name in "xyz"])
STEPS = st.lists(st.one_of(PATHS.map(lambda path: (path, True)), PATHS.map(lambda path: (path, False)), st.none()))


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    columns = ("path", "size", "checksum", "modified", "content_type")
    return [tuple(row[name] for name in columns) for row in table.select(columns).to_pylist()]


def row(entry: Entry) -> tuple[object, ...]:
    return entry.path, entry.size, entry.checksum, entry.modified, entry.content_type


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, prefix=st.sampled_from(["", "a/", "a/é/", "b", "c", "\U0001f30a"]))
def test_it_has_what_the_listing_has(steps: list[tuple[str, bool] | None], prefix: str) -> None:
    with headwater.open(kv="mem://", storage="mem://") as lake:
        repo = lake.create_repo("sales")
        main = repo.branch("main")
        for number, step in enumerate(steps):
            match step:
                case None:
                    main.commit("a step", allow_empty=True)
                case path, True:
                    main.put(path, str(number).encode(), content_type="text/plain")
                case path, _:
                    main.delete(path)
        for ref in (main, repo.ref("main@")):
            assert rows(ref.as_arrow(prefix)) == [row(entry) for entry in ref.list(prefix)]


def test_it_has_what_is_staged_over_many_segments() -> None:
    with headwater.open(kv="mem://", storage="mem://") as lake:
        repo = lake.create_repo("sales")
        compare_staged_with_committed(repo, repo.branch("main"))


def compare_staged_with_committed(repo: Repository, main: Branch) -> None:
    def link(numbers: range, size: int) -> None:
        for number in numbers:
            main.link(f"n/{number:06}", "file:///nowhere/at/all", size=size)

    link(range(0, 40_000, 2), 1)
    main.commit("the even ones")
    link(range(1, 40_000, 100), 2)
    main.delete(f"n/{number:06}" for number in range(0, 40_000, 50))
    main.put("a", b"before all")
    main.put("z", b"behind all")
    staged, committed = main.as_arrow(), repo.ref("main@").as_arrow()
    assert committed.num_rows == 20_000
    assert rows(staged) == [row(entry) for entry in main.list()]
    assert rows(main.as_arrow("n/005")) == [row(entry) for entry in main.list("n/005")]
    assert staged.schema == committed.schema


def test_its_columns_have_the_types_that_people_look_for(main: Branch) -> None:
    empty = main.as_arrow()
    assert empty.num_rows == 0
    main.put("a", b"1", metadata={"k": "v"})
    table = main.as_arrow()
    assert table.schema == empty.schema
    assert table.schema.field("path").type == pa.string()
    assert table.schema.field("modified").type == pa.timestamp("ms", "UTC")
    assert dict(table.column("metadata").to_pylist()[0]) == {"k": "v"}
