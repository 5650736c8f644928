"""Where a segment ends: after keys that say so themselves, so that equal data is cut alike, however it was written.

A cut depends on nothing but the rows since the cut before it. After an edit, the old cuts therefore come again as soon
as one of them falls together with a new one.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from headwater.index.limits import BLOCK_WEIGHT, CUT_BITS, MAX_ROWS, MAX_WEIGHT, MIN_ROWS

SEED = 42
"""That of Spark's `xxhash64`: executors cut where we cut."""


class Cutting(msgspec.Struct, frozen=True):
    """How long segments are. It is part of the format: another cutting makes other segments of equal data."""

    min_rows: int = MIN_ROWS
    bits: int = CUT_BITS
    max_rows: int = MAX_ROWS
    max_weight: int = MAX_WEIGHT

    def ends(self, rows: pa.RecordBatch, *, final: bool, candidates: list[int] | None = None) -> list[int]:
        """The rows after which segments end, as counts from the first, which begins one.

        Unless *final*, what lies behind the last cut is not yet known to be a segment, and ends nowhere. *candidates*
        are the counts of rows after which the last key's hash allows a cut, where somebody else has computed them.
        """
        candidates = self._candidates(rows.column("key")) if candidates is None else candidates
        weights = _weights(rows)
        ends: list[int] = []
        start = 0
        while start < len(rows):
            end = self._next(start, candidates, weights)
            if end > len(rows):
                if not final:
                    break
                end = len(rows)
            ends.append(end)
            start = end
        return ends

    def _next(self, start: int, candidates: list[int], weights: memoryview | None) -> int:
        """Where the segment from *start* on ends: maybe beyond the rows there are."""
        end = start + self.max_rows
        first = bisect_left(candidates, start + self.min_rows)
        if first < len(candidates):
            end = min(end, candidates[first])
        if weights is not None:
            before = weights[start - 1] if start else 0
            end = min(end, bisect_left(weights, before + self.max_weight, start) + 1)
        return end

    def _candidates(self, keys: pa.Array) -> list[int]:
        """Counts of rows after which the last key's hash allows a cut."""
        _, places, content = keys.buffers()
        ends = memoryview(places or bytes(4)).cast("B").cast("i")[keys.offset : keys.offset + len(keys) + 1].tolist()
        text, digest, mask = memoryview(content or b""), xxhash.xxh64_intdigest, (1 << self.bits) - 1
        return [row for row, (start, end) in enumerate(pairwise(ends), 1) if not digest(text[start:end], SEED) & mask]


def _weights(rows: pa.RecordBatch) -> memoryview | None:
    """What the rows up to each one weigh together, in bytes; None where there is nothing heavy.

    Only payloads and blocks weigh anything: all else is bounded by `MAX_ROWS`.
    """
    blocks, payload = rows.column("blocks"), rows.column("payload")
    if blocks.null_count == payload.null_count == len(rows):
        return None
    extents = pc.multiply(pc.fill_null(pc.list_value_length(blocks), 0).cast(pa.int64()), BLOCK_WEIGHT)
    weight = pc.add(extents, pc.fill_null(pc.binary_length(payload), 0).cast(pa.int64()))
    total = pc.cumulative_sum(weight)
    return memoryview(total.buffers()[1]).cast("B").cast("q")[: len(total)]
