"""Checking trees and segments: read anew from the object store, whatever a cache holds, and each only once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob import BlobError, BlobStore
from headwater.blob.namespace import segment_name, tree_name
from headwater.drive import together
from headwater.engine.findings import Findings
from headwater.index import Cutting, IndexFault, Kind
from headwater.index.limits import MAX_KEY, TOGETHER
from headwater.index.segment import read_segment
from headwater.index.tree import Tree, read_tree

_SPACES = ("f/", "c/")
_KINDS = tuple(str(kind) for kind in Kind)


class ToldSegment(msgspec.Struct, frozen=True):
    """What a tree tells of a segment."""

    segment: str
    first: str
    last: str
    count: int
    final: bool
    """It is the last one, which may end anywhere."""


class TreeCheck:
    """Checks trees and the segments below them, some at a time."""

    def __init__(self, blobs: BlobStore, cutting: Cutting, findings: Findings) -> None:
        self._blobs = blobs
        self._cutting = cutting
        self._findings = findings
        self._segments: dict[tuple[str, bool], ToldSegment] = {}
        self.segments: set[str] = set()

    async def check(self, trees: Mapping[str, str]) -> None:
        """Check *trees*, each named by a commit, and every segment of theirs."""
        names = list(trees)
        for start in range(0, len(names), TOGETHER):
            some = names[start : start + TOGETHER]
            await together([partial(self._check_tree, name, trees[name]) for name in some])
        segments = list(self._segments.values())
        for start in range(0, len(segments), TOGETHER):
            some_segments = segments[start : start + TOGETHER]
            await together([partial(self._check_segment, told) for told in some_segments])

    async def _check_tree(self, name: str, commit: str) -> None:
        try:
            tree = read_tree(name, await self._blobs.read(tree_name(name)))
        except (BlobError, IndexFault) as error:
            self._findings.add("tree", name, f"{error} (commit {commit} needs it)")
            return
        for problem in overlaps(tree):
            self._findings.add("tree", tree.id, problem)
        for told in told_segments(tree):
            self.segments.add(told.segment)
            if self._segments.setdefault((told.segment, told.final), told) != told:
                self._findings.add("tree", name, f"tells other keys of segment {told.segment} than another tree does")

    async def _check_segment(self, told: ToldSegment) -> None:
        name = told.segment
        try:
            rows = read_segment(name, await self._blobs.read(segment_name(name)))
        except (BlobError, IndexFault) as error:
            self._findings.add("segment", name, error)
            return
        for problem in faults_of(rows, told, self._cutting):
            self._findings.add("segment", name, problem)


def told_segments(tree: Tree) -> list[ToldSegment]:
    """What *tree* tells of its segments, in order."""
    final = len(tree) - 1
    rows = zip(tree.segments, tree.firsts, tree.lasts, tree.rows.column("count").to_pylist(), strict=True)
    return [ToldSegment(*row, final=position == final) for position, row in enumerate(rows)]


def overlaps(tree: Tree) -> list[str]:
    """What is wrong with the order of segments: they follow each other, and each begins no later than it ends."""
    firsts, lasts = tree.rows.column("first"), tree.rows.column("last")
    found: list[str] = []
    if pc.any(pc.greater(firsts, lasts), min_count=0).as_py():
        found.append("has a segment that ends before it begins")
    if pc.any(pc.greater_equal(lasts.slice(0, max(len(tree) - 1, 0)), firsts.slice(1)), min_count=0).as_py():
        found.append("has segments that overlap")
    return found


def faults_of(rows: pa.RecordBatch, told: ToldSegment, cutting: Cutting) -> list[str]:
    """What is wrong with the *rows* of a segment that a tree has *told* of."""
    keys = rows.column("key")
    if len(rows) == 0 or (keys[0].as_py(), keys[-1].as_py(), len(rows)) != (told.first, told.last, told.count):
        return [f"is not the {told.count} rows from {told.first!r} to {told.last!r} that a tree tells of"]
    if cutting.ends(rows, final=told.final) != [len(rows)]:
        return ["ends where no segment may end: equal content would be cut otherwise", *_problems(rows)]
    return _problems(rows)


def _problems(rows: pa.RecordBatch) -> list[str]:
    """What no entry may be, and some are."""
    keys = rows.column("key")
    known = pc.or_(*(pc.starts_with(keys, space) for space in _SPACES))
    told = [
        (pc.invert(known), "a key in no key space"),
        (pc.greater(pc.binary_length(keys), MAX_KEY), "a key that is too long"),
        (pc.invert(pc.is_in(rows.column("kind"), value_set=pa.array(_KINDS))), "an entry of no known kind"),
        (pc.less(rows.column("size"), 0), "an entry of a negative size"),
        (pc.and_(rows.column("address").is_valid(), rows.column("blocks").is_valid()), "an entry in two places"),
    ]
    return [f"has {what}: {keys.filter(where)[0]}" for where, what in told if pc.any(where, min_count=0).as_py()]
