"""Segments: named by what they hold, readable by anybody, never served when they are not what was written."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from headwater.index import Block, Corrupt, Edit, Entry, OutOfOrder
from headwater.index.rows import Rows
from headwater.index.schema import SCHEMA, batch_of_edits, entries_of
from headwater.index.segment import make_segment, read_segment
from headwater.index.tree import NO_TREE, Stripe, read_tree
from tests.index.world import PATIENTLY, bulk, kept, numbered, plain, some_edits


def rows_of(*entries: Entry) -> pa.RecordBatch:
    return bulk({entry.key: entry for entry in entries}).select(SCHEMA.names)


PARTS = Entry("c/parts", blocks=(Block("x", 1, 2), Block("y", 0, 7)), size=9, metadata={"b": "2", "a": "1"})
ROWS = rows_of(plain("f/a", 1), plain("f/b", 2), PARTS, Entry("f/c", content_id=bytes(16), payload=b"{}"))


@PATIENTLY
@given(some_edits())
def test_a_segment_reads_back_as_it_was_written(edits: dict[str, Edit]) -> None:
    entries = kept(edits)
    if entries:
        segment = make_segment(rows_of(*entries))
        assert entries_of(read_segment(segment.id, segment.file)) == entries
        assert (segment.first, segment.last) == (entries[0].key, entries[-1].key)


def test_the_name_does_not_depend_on_how_the_rows_lie_in_memory() -> None:
    copied = pa.RecordBatch.from_pylist(ROWS.slice(1, 2).to_pylist(), schema=SCHEMA)
    assert make_segment(ROWS.slice(1, 2)).id == make_segment(copied).id
    below_null = pa.Array.from_buffers(
        pa.string(), 1, [pa.py_buffer(b"\0"), pa.py_buffer(bytes(4) + b"\5\0\0\0"), pa.py_buffer(b"trash")]
    )
    one = rows_of(Entry("f/a"))
    with_trash = one.set_column(4, SCHEMA.field("checksum"), below_null)
    assert make_segment(with_trash).id == make_segment(one).id


@PATIENTLY
@given(some_edits(numbered), some_edits(numbered))
def test_other_rows_have_another_name(left: dict[str, Edit], right: dict[str, Edit]) -> None:
    ours, theirs = kept(left), kept(right)
    if ours and theirs:
        same = make_segment(rows_of(*ours)).id == make_segment(rows_of(*theirs)).id
        assert same == (ours == theirs)


def test_unsorted_or_doubled_keys_are_refused_before_anything_is_written() -> None:
    for keys in (["b", "a"], ["a", "a"]):
        rows = pa.concat_batches([rows_of(plain(key)) for key in keys])
        with pytest.raises(OutOfOrder):
            make_segment(rows)


def test_corruption_of_any_byte_is_detected_or_harmless() -> None:
    segment = make_segment(ROWS)
    detected = 0
    for position in range(len(segment.file)):
        broken = bytearray(segment.file)
        broken[position] ^= 0x55
        try:
            assert read_segment(segment.id, bytes(broken)).equals(ROWS)
        except Corrupt as error:
            assert segment.id in str(error)  # noqa: PT017  (whichever of the two it is)
            detected += 1
    assert detected > len(segment.file) // 2


@pytest.mark.parametrize("length", [0, 1, 4, 100, -100, -8, -1])
def test_a_truncated_segment_is_detected(length: int) -> None:
    segment = make_segment(ROWS)
    with pytest.raises(Corrupt, match=segment.id):
        read_segment(segment.id, segment.file[:length])


def test_a_whole_segment_under_the_wrong_name_is_not_served() -> None:
    segment = make_segment(ROWS)
    other = make_segment(ROWS.slice(1))
    with pytest.raises(Corrupt, match=f"{other.id}.*does not hash"):
        read_segment(other.id, segment.file)


def test_a_tree_is_checked_like_a_segment() -> None:
    tree = NO_TREE.with_stripes([Stripe("1" * 64, "a", "b", 3, 99), Stripe("2" * 64, "c", "d", 4, 98)])
    file = tree.encode()
    assert read_tree(tree.id, file).rows.equals(tree.rows)
    for position in range(len(file)):
        broken = bytearray(file)
        broken[position] ^= 0x55
        try:
            assert read_tree(tree.id, bytes(broken)).rows.equals(tree.rows)
        except Corrupt as error:
            assert tree.id in str(error)  # noqa: PT017  (whichever of the two it is)


def test_who_wrote_the_files_does_not_change_the_name_of_a_tree() -> None:
    stripe = Stripe("1" * 64, "a", "b", 3, 99)
    assert NO_TREE.with_stripes([stripe]).id == NO_TREE.with_stripes([Stripe("1" * 64, "a", "b", 3, 77)]).id
    assert NO_TREE.with_stripes([stripe]).id != NO_TREE.with_stripes([Stripe("1" * 64, "a", "b", 4, 99)]).id


def test_others_read_a_segment_without_our_code(tmp_path: Path) -> None:
    path = tmp_path / "segment.parquet"
    path.write_bytes(make_segment(ROWS).file)
    expected = [("c/parts", 9, None), ("f/a", 1, "data/f/a"), ("f/b", 2, "data/f/b"), ("f/c", 0, None)]

    ducks = duckdb.execute(f"select key, size, address from '{path}' order by key").fetchall()  # noqa: S608  (our own path)
    bears = pl.read_parquet(path, columns=["key", "size", "address"]).rows()
    arrows = [tuple(row.values()) for row in pq.read_table(path, columns=["key", "size", "address"]).to_pylist()]
    assert ducks == bears == arrows == expected

    [(blocks, metadata)] = duckdb.execute(f"select blocks, metadata from '{path}' where key = 'c/parts'").fetchall()  # noqa: S608  (our own path)
    assert [tuple(block.values()) for block in blocks] == [("x", 1, 2), ("y", 0, 7)]
    assert metadata == {"a": "1", "b": "2"}
    assert pl.scan_parquet(path).filter(pl.col("key").str.starts_with("f/")).collect().height == 3


def large(count: int) -> pa.RecordBatch:
    """Rows as a lake has them: keys of 90 bytes, random checksums and addresses."""
    chance = random.Random(7)  # noqa: S311  (the same rows in every run)
    entries: dict[str, Edit] = {}
    for number in range(count):
        directory = f"f/warehouse/sales/events/year=2024/month={number * 12 // count:02d}"
        key = f"{directory}/part-{number:06d}-{chance.getrandbits(96):024x}.parquet"
        address, checksum = f"data/{chance.getrandbits(128):032x}", f"{chance.getrandbits(128):032x}"
        size, moment = chance.randrange(2**26), 1_700_000_000_000 + chance.randrange(10**9)
        entries[key] = Entry(key, blocks=(Block(address, 0, size),), size=size, checksum=checksum, modified=moment)
    return batch_of_edits(entries).select(SCHEMA.names)


def test_an_entry_takes_at_most_60_bytes() -> None:
    rows = large(6_000)
    assert sum(map(len, rows["key"].to_pylist())) / len(rows) >= 88
    assert len(make_segment(rows).file) / len(rows) <= 60


def test_a_prefix_reads_few_pages() -> None:
    file = make_segment(large(6_000)).file
    group = pq.ParquetFile(pa.BufferReader(file)).metadata.row_group(0)
    key = group.column(0)
    assert key.has_column_index
    assert key.has_offset_index
    assert "DELTA_BYTE_ARRAY" in key.encodings
    assert "DELTA_BINARY_PACKED" in group.column(2).encodings
    assert key.compression == "ZSTD"


def test_every_key_is_found_and_no_other() -> None:
    rows = Rows(large(300))
    entries = entries_of(rows.batch)
    for entry in entries:
        assert rows.get(entry.key) == entry
        assert rows.get(entry.key + "\0") is None
        assert rows.get(entry.key[:-1]) is None
    assert rows.get("") is None
    assert rows.entries(100, 200) == entries[100:200]
