"""The listing of open uploads: in order, in pages, and at the cost of a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater import blob, kv
from headwater.drive import drive
from headwater.engine import uploads
from headwater.engine.lake import Lake
from headwater.engine.open_uploads import Beginning, OpenUpload, list_open
from headwater.engine.repository import Repository
from headwater.outside import real_outside
from headwater.testing.counting import CountingStore, Trips


async def repository_with(names: list[str]) -> tuple[Repository, CountingStore]:
    """A repository in which an upload to each of *names* is open."""
    store = CountingStore(await kv.open("mem://"))
    repository = await Lake(store, blob.open, real_outside()).create("rivers", "mem://")
    for name in names:
        where, _, path = name.partition("/")
        await uploads.begin(repository, where, path, by="me", content_type=None, metadata={})
    return repository, store


def told(page: list[OpenUpload | Beginning]) -> list[tuple[str, str | None]]:
    return [(each.name, each.id if isinstance(each, OpenUpload) else None) for each in page]


async def in_pages(repository: Repository, prefix: str, delimiter: str, amount: int) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    after: tuple[str, str | None] = ("", None)
    while True:
        page = told(
            await list_open(
                repository, prefix=prefix, delimiter=delimiter, after=after[0], after_id=after[1], amount=amount
            )
        )
        assert len(page) <= amount
        if not page:
            return found
        found += page
        after = page[-1]


LONG = "main/" + "l" * 975
names = st.lists(
    st.one_of(
        st.sampled_from(["main/a", "main/a/b", "main/a/c", "main/ab", "main/ü", "x%2Fy/a", LONG]),
        st.text("ab/ü!\x01😀", min_size=1, max_size=5).map(lambda text: f"main/{text}"),
        st.text("ab/", max_size=5).map(lambda text: LONG + "l" * 10 + text),
    ),
    max_size=12,
)


@given(names, st.sampled_from(["", "main/", "main/a", "main/a/", LONG, LONG + "l" * 10 + "a", "nowhere"]), st.data())
def test_any_pages_are_the_sorted_names_rolled_up(opened: list[str], prefix: str, data: st.DataObject) -> None:
    delimiter = data.draw(st.sampled_from(["", "/", "a/", "b"]))
    repository, _ = drive(repository_with(opened))
    everything = told(drive(list_open(repository)))
    assert everything == sorted(everything)
    assert [name for name, _ in everything] == sorted(opened)
    expected: list[tuple[str, str | None]] = []
    for name, identity in everything:
        if name.startswith(prefix):
            end = name.find(delimiter, len(prefix)) if delimiter else -1
            item = (name, identity) if end < 0 else (name[: end + len(delimiter)], None)
            expected += [item] if item not in expected else []
    for amount in (1, 2, 1000):
        assert drive(in_pages(repository, prefix, delimiter, amount)) == expected


@pytest.mark.parametrize("opened", [10, 3000])
def test_a_page_costs_the_page(opened: int) -> None:
    repository, store = drive(repository_with([f"main/{number % 7}/{number:05}" for number in range(opened)]))
    with store.counted() as trips:
        assert len(drive(list_open(repository, after="main/3/00003", amount=3))) == 3
    assert trips == Trips(scan=1)
    with store.counted() as trips:
        assert len(drive(list_open(repository, prefix="main/", delimiter="/"))) == 7
    assert trips.total <= 8


def test_beginning_one_is_a_trip_and_what_is_ended_is_not_listed() -> None:
    repository, store = drive(repository_with([]))
    with store.counted() as trips:
        upload = drive(uploads.begin(repository, "main", "a", by="me", content_type=None, metadata={}))
    assert trips == Trips(pipeline=1)
    assert told(drive(list_open(repository))) == [("main/a", upload.id)]
    drive(uploads.abort(repository, upload.id))
    assert drive(list_open(repository)) == []
