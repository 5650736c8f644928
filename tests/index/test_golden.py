"""The formats, byte for byte as they were once written: what is out there must stay readable, under the same names."""

from __future__ import annotations

from pathlib import Path

from headwater.index import TOMBSTONE, Block, Edit, Edits, Entry, Kind, decode_edit, encode_edit
from headwater.index.delta import decode_inherited, decode_own, encode_inherited, encode_own
from headwater.index.schema import entries_of
from headwater.index.segment import make_segment, read_segment
from headwater.index.tree import NO_TREE, Stripe, read_tree
from tests.index.world import bulk

GOLDEN = Path(__file__).parent / "golden"

SEGMENT = "1c5c23b7f3889f3f825502be26cde82ec8e594273670715c54a36a2599aea831"
TREE = "e46b8a18da00b73b5431ce7874ba299e61145f9fdcb9d64f22a4e46835486dd1"

FILE = Entry(
    "f/reports/2024/Köln.csv",
    blocks=(Block("data/e6b07c/0c1f", 0, 1234),),
    size=1234,
    checksum="9a0364b9e99bb480dd25e1f0284c8555",
    modified=1_700_000_000_123,
    content_type="text/csv",
    metadata={"owner": "ada", "job": "42"},
)
GROWING = Entry(
    "f/reports/growing.log",
    Kind.APPEND,
    blocks=(Block("data/e6b07c/1", 0, 5), Block("data/e6b07c/2", 7, 11)),
    size=16,
    modified=1_700_000_000_124,
)
TABLE = Entry(
    "c/sales/orders",
    Kind.TABLE,
    blocks=(Block("tables/orders/metadata/00001.json", 0, 99),),
    size=99,
    checksum="d41d8cd98f00b204e9800998ecf8427e",
    modified=1_700_000_000_125,
    content_id=bytes(range(16)),
    payload=b'{"snapshot":1}',
)
EMPTY = Entry("f/zero", checksum="", content_type="")

ENTRIES = [TABLE, FILE, GROWING, EMPTY]
EDITS: dict[str, Edit] = {entry.key: entry for entry in ENTRIES} | {"f/reports/gone.csv": TOMBSTONE}


def test_the_segment_reads_as_what_it_holds_and_has_its_name() -> None:
    assert entries_of(read_segment(SEGMENT, (GOLDEN / "segment.parquet").read_bytes())) == ENTRIES
    assert make_segment(bulk({entry.key: entry for entry in ENTRIES}).drop_columns(["removed"])).id == SEGMENT


def test_the_tree_reads_as_what_it_holds_and_has_its_name() -> None:
    stripes = [Stripe(SEGMENT, "c/sales/orders", "f/zero", 4, 5_000), Stripe("ab" * 32, "g", "h", 2, 77)]
    tree = read_tree(TREE, (GOLDEN / "tree.parquet").read_bytes())
    assert tree.rows.to_pylist() == [
        {"segment": each.segment, "first": each.first, "last": each.last, "count": each.count, "bytes": each.bytes}
        for each in stripes
    ]
    assert NO_TREE.with_stripes(stripes).id == TREE


def test_both_parts_of_a_delta_are_these_bytes() -> None:
    own, inherited = (GOLDEN / "own.delta").read_bytes(), (GOLDEN / "inherited.delta").read_bytes()
    assert decode_own(own) == decode_inherited(inherited) == Edits(EDITS)
    assert (encode_own(EDITS), encode_inherited(EDITS)) == (own, inherited)


def test_a_staged_entry_is_these_bytes() -> None:
    staged = (GOLDEN / "staged.entry").read_bytes()
    assert decode_edit(FILE.key, staged) == FILE
    assert encode_edit(FILE.key, FILE) == staged
    assert encode_edit(FILE.key, TOMBSTONE) == b"\xc0"
