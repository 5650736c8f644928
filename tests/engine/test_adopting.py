"""Trees that somebody else wrote: the engine's own is taken, and one that is otherwise in any way is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headwater.blob.namespace import segment_name, tree_name
from headwater.engine import importing
from headwater.engine.adopting import Proposal, adopt
from headwater.engine.check import check
from headwater.engine.errors import BadRequest, UnfitTree
from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.engine.workspaces.errors import ConcurrentCommit
from headwater.history import Commit
from headwater.index import Block, Edit, Entry, Kind, apply
from headwater.index.schema import SCHEMA, batch_of_edits
from headwater.index.segment import make_segment
from headwater.index.tree import NO_TREE, Stripe
from headwater.staging.errors import NothingToCommit
from tests.engine.lakes import commit, description, files_at, lake_in, text_at

pytestmark = pytest.mark.anyio

ROWS = 20_000


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def repository(tmp_path: Path) -> Repository:
    """With a tree of several segments, and a delta on top."""
    lake, namespace = await lake_in("mem", tmp_path)
    repository = await lake.create("sales", namespace)
    await importing.import_table(repository, "main", table(range(ROWS)), description())
    await commit(repository, few="text", same="text")
    return repository


def table(numbers: Sequence[int], salt: str = "") -> pa.Table:
    return pa.table(
        {
            "path": [f"x/{number:06d}" for number in numbers],
            "address": [f"s3://bucket/{number}{salt}" for number in numbers],
            "size": [1] * len(numbers),
            "checksum": [f"c{number}{salt}" for number in numbers],
        }
    )


def anywhere(addresses: pa.Array) -> None:
    """Lets everything in."""


async def rows_at(repository: Repository, ref: str = "main") -> pa.RecordBatch:
    index = await repository.index_of((await commit_of(repository, ref)).id)
    return pa.concat_batches([rows async for rows in index.batches()])


async def written(repository: Repository, rows: pa.RecordBatch, ends: Sequence[int] | None = None) -> str | None:
    """The name of a tree of *rows*, which is written as executors do."""
    cutting = repository.empty_index().store.cutting
    ends = cutting.ends(rows, final=True) if ends is None else ends
    stripes = []
    for start, end in zip([0, *ends], ends, strict=False):
        segment = make_segment(rows.slice(start, end - start))
        await repository.blobs.put(segment_name(segment.id), segment.file)
        stripes.append(Stripe(segment.id, segment.first, segment.last, len(segment.rows), len(segment.file)))
    tree = NO_TREE.with_stripes(stripes)
    if tree.name is not None:
        await repository.blobs.put(tree_name(tree.id), tree.encode())
    return tree.name


async def propose(repository: Repository, tree: str | None, base: str = "main", **options: Any) -> Commit:
    proposal = Proposal(base, tree, relocated=options.pop("relocated", False))
    return await adopt(repository, "main", proposal, description(), **{"importable": anywhere, **options})


def entry(key: str, address: str = "s3://bucket/new", **fields: Any) -> Entry:
    return Entry(key, blocks=(Block(address, 0, 3),), size=3, checksum="new", modified=1, **fields)


async def with_entries(repository: Repository, *entries: Entry) -> pa.RecordBatch:
    """The rows of the branch, with *entries* added or put in the place of others."""
    added = batch_of_edits({each.key: each for each in entries}).select(SCHEMA.names)
    rows = await rows_at(repository)
    rows = rows.filter(pc.invert(pc.is_in(rows.column("key"), value_set=added.column("key"))))
    together = pa.concat_batches([rows, added])
    return together.take(pc.sort_indices(together.column("key")))


async def test_a_tree_of_somebody_else_becomes_the_commit_that_the_engine_would_have_made(
    repository: Repository,
) -> None:
    base = (await commit_of(repository, "main")).id
    rows = await with_entries(repository, entry("f/x/000007"), entry("f/z/new", metadata={"b": "1", "a": "2"}))
    rows = rows.filter(pc.not_equal(rows.column("key"), "f/x/000009"))
    made = await propose(repository, await written(repository, rows))
    assert made.parents == (base,)
    assert (await rows_at(repository)).equals(rows)
    assert await text_at(repository, "main", "few") == "text"
    report = await check(repository)
    assert report.findings == ()
    with pytest.raises(NothingToCommit):
        await propose(repository, made.tree)
    looked: list[int] = []
    tree = await written(repository, await with_entries(repository, entry("f/z/newer")))
    await propose(repository, tree, looked=looked.append)
    assert 0 < sum(looked) < ROWS, "what the base has is not looked at again"


async def test_what_others_committed_meanwhile_stays(repository: Repository) -> None:
    base = (await commit_of(repository, "main")).id
    tree = await written(repository, await with_entries(repository, entry("f/ours")))
    await commit(repository, theirs="1")
    await propose(repository, tree, base)
    keys = (await rows_at(repository)).column("key").to_pylist()
    assert {"f/ours", "f/theirs", "f/few"} <= set(keys)


async def test_all_may_go(repository: Repository) -> None:
    await propose(repository, None)
    assert await files_at(repository, "main") == {}


Change = Callable[[pa.RecordBatch], pa.RecordBatch]


def column(name: str, value: Any, key: str = "f/few") -> Change:
    """Another *value* in one row."""

    def change(rows: pa.RecordBatch) -> pa.RecordBatch:
        place = SCHEMA.names.index(name)
        values = rows.column(place).to_pylist()
        values[rows.column("key").to_pylist().index(key)] = value
        return rows.set_column(place, SCHEMA.field(place), pa.array(values, SCHEMA.field(place).type))

    return change


def other_content_at(address: str) -> Change:
    return lambda rows: column("checksum", "other")(column("address", address)(rows))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (column("key", "f/" + "x" * 1025, "f/x/019999"), "too long"),
        (column("key", "f/z\0", "f/x/019999"), "NUL"),
        (column("key", "z/new", "f/x/019999"), "no key space"),
        (column("kind", "table"), "another kind"),
        (column("kind", "nothing"), "no known kind"),
        (column("size", -1), "negative size"),
        (column("modified", -1), "before 1970"),
        (column("modified", 1 << 60), "after 9999"),
        (column("address", None), "lie nowhere"),
        (other_content_at("meta/segments/ab"), "below data/"),
        (other_content_at("../../secret"), "below data/"),
        (other_content_at(""), "below data/"),
        (column("blocks", [{"address": "data/a", "offset": 0, "length": 4}]), "two places"),
        (column("metadata", [("b", "1"), ("a", "1")]), "not sorted"),
        (column("metadata", [("a", "1"), ("a", "2")]), "not sorted"),
        (column("metadata", []), "metadata that are none"),
        (column("content_type", "x" * 500_000), "too large"),
        (column("address", "s3://elsewhere/x"), "content of its base, and lies elsewhere"),
    ],
)
async def test_an_entry_that_the_engine_would_not_write_is_not_committed(
    repository: Repository, change: Change, why: str
) -> None:
    base = (await commit_of(repository, "main")).id
    rows = change(await rows_at(repository))
    with pytest.raises(UnfitTree, match=why):
        await propose(repository, await written(repository, rows))
    assert (await commit_of(repository, "main")).id == base


async def test_segments_that_end_elsewhere_are_not_committed(repository: Repository) -> None:
    rows = await with_entries(repository, entry("f/z/new"))
    with pytest.raises(UnfitTree, match="ends where no segment may end"):
        await propose(repository, await written(repository, rows, [100, len(rows)]))


async def test_a_tree_that_is_not_there_or_is_another_is_not_committed(repository: Repository) -> None:
    rows = await with_entries(repository, entry("f/z/new"))
    good = await written(repository, rows)
    assert good is not None
    other = await written(repository, await with_entries(repository, entry("f/z/other")))
    assert other is not None
    await repository.blobs.put(tree_name(other), await repository.blobs.read(tree_name(good)))
    for name in (other, "ab" * 32, "../../../secret"):
        with pytest.raises(UnfitTree):
            await propose(repository, name)
    stripes = [Stripe("../../../secret", "f/a", "f/b", 1, 1)]
    odd = NO_TREE.with_stripes(stripes)
    await repository.blobs.put(tree_name(odd.id), odd.encode())
    with pytest.raises(UnfitTree):
        await propose(repository, odd.name)


async def test_a_segment_that_does_not_hash_to_its_name_is_not_committed(repository: Repository) -> None:
    segment = make_segment(batch_of_edits({"f/a": entry("f/a")}).select(SCHEMA.names))
    other = make_segment(batch_of_edits({"f/a": entry("f/a", "s3://bucket/other")}).select(SCHEMA.names))
    await repository.blobs.put(segment_name(segment.id), other.file)
    tree = NO_TREE.with_stripes([Stripe(segment.id, "f/a", "f/a", 1, 1)])
    await repository.blobs.put(tree_name(tree.id), tree.encode())
    with pytest.raises(UnfitTree, match="hash"):
        await propose(repository, tree.name)
    for told in (Stripe(other.id, "f/a", "f/b", 1, 1), Stripe(other.id, "f/a", "f/a", 2, 1)):
        await repository.blobs.put(segment_name(other.id), other.file)
        tree = NO_TREE.with_stripes([told])
        await repository.blobs.put(tree_name(tree.id), tree.encode())
        with pytest.raises(UnfitTree, match="tells of"):
            await propose(repository, tree.name)


async def test_tables_stay_as_they_are(repository: Repository) -> None:
    """They are in the index beside files, and what may be done to them is decided elsewhere."""
    tables: dict[str, Edit] = {"c/orders": Entry("c/orders", Kind.TABLE, content_id=bytes(16), payload=b"{}")}

    async def with_table() -> str:
        from headwater.engine.advance import Made, advance  # noqa: PLC0415
        from headwater.refs.branch import Branch  # noqa: PLC0415

        async def make(ground: Branch) -> Made:
            return [ground.commit], await apply(await repository.index_of(ground.commit), tables)

        return (await advance(repository, "main", description(), make)).id

    await with_table()
    rows = await with_entries(repository, entry("f/z/new"))
    for change in (
        rows.filter(pc.not_equal(rows.column("key"), "c/orders")),
        column("payload", b"[]", "c/orders")(rows),
        column("key", "c/others", "c/orders")(rows),
    ):
        with pytest.raises(UnfitTree, match="no file"):
            await propose(repository, await written(repository, change))
    await propose(repository, await written(repository, rows))


async def test_nothing_comes_from_where_the_caller_may_not_import_from(repository: Repository) -> None:
    asked: list[str] = []

    def nowhere(addresses: pa.Array) -> None:
        asked.extend(addresses.to_pylist())
        if len(addresses):
            raise BadRequest("nothing from there")

    pieces = tuple(Block(address, 0, 3) for address in ("s3://there/one", "data/000000/x", "s3://there/two"))
    grown = Entry("f/z/grown", Kind.APPEND, blocks=pieces, size=9, checksum="grown", modified=1)
    for new in (entry("f/z/new"), grown):
        with pytest.raises(BadRequest, match="nothing from there"):
            await propose(
                repository, await written(repository, await with_entries(repository, new)), importable=nowhere
            )
    assert asked == ["s3://bucket/new", "s3://there/one", "s3://there/two"]
    inside = entry("f/z/new", "data/000000/new")
    await propose(repository, await written(repository, await with_entries(repository, inside)), importable=nowhere)


async def test_the_base_is_a_commit_of_the_branch(repository: Repository) -> None:
    from headwater.engine import branches  # noqa: PLC0415

    await branches.create_branch(repository, "side", "main~1")
    side = await commit(repository, "side", aside="1")
    tree = await written(repository, await with_entries(repository, entry("f/z/new")))
    with pytest.raises(UnfitTree, match="no commit of branch"):
        await propose(repository, tree, side.id)


def moved(rows: pa.RecordBatch, key: str, there: str) -> pa.RecordBatch:
    """*rows* in which the bytes of *key* lie where those of *there* do."""
    keys, addresses = rows.column("key").to_pylist(), rows.column("address").to_pylist()
    return column("address", addresses[keys.index(there)], key)(rows)


async def test_entries_that_lie_elsewhere_are_committed_where_the_base_has_their_content(
    repository: Repository,
) -> None:
    before = await rows_at(repository)
    rows = moved(before, "f/few", "f/same")
    made = await propose(repository, await written(repository, rows), relocated=True)
    assert (await rows_at(repository)).equals(rows)
    assert made.parents != ()
    stale = await written(repository, before)
    with pytest.raises(ConcurrentCommit):
        await propose(repository, stale, made.parents[0], relocated=True)


async def test_no_entry_is_given_other_bytes_by_moving_it(repository: Repository) -> None:
    rows = await rows_at(repository)
    others = await with_entries(repository, entry("f/z/new"))
    for change, why in (
        (moved(rows, "f/few", "f/x/000001"), "no entry of the base has their content"),
        (column("address", "data/000000/other")(rows), "no entry of the base has their content"),
        (column("checksum", "other")(rows), "another content"),
        (others, "another content"),
        (rows.slice(0, len(rows) - 1), "other content than its base"),
    ):
        with pytest.raises(UnfitTree, match=why):
            await propose(repository, await written(repository, change), relocated=True)
