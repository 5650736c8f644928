"""The index: sorted, immutable maps from key to entry, as Parquet segments below small deltas.

    index = Index(IndexStore(blobs), record)                # the index of a commit
    entry = await index.get("f/reports/a.csv")
    page = await index.list(prefix="f/", delimiter="/")
    child = await apply(index, {"f/reports/a.csv": TOMBSTONE})

How it works and what it costs is in `docs/index.md`, the bytes are in `docs/formats.md`.
"""

from headwater.index.applying import apply, relocate
from headwater.index.boundaries import Cutting
from headwater.index.cache import CacheDirectory, SegmentCache
from headwater.index.diff import Change, diff, diff_batches, diff_overlays
from headwater.index.edits import NO_EDITS, Edits
from headwater.index.entry import TOMBSTONE, Block, Edit, Entry, Kind, Tombstone, identity, same_content
from headwater.index.errors import Corrupt, IndexFault, LimitExceeded, Missing, OutOfOrder
from headwater.index.index import EMPTY, Index, IndexRecord
from headwater.index.layers import Layer
from headwater.index.merge import Behaviour, Conflict, Merged, Strategy, merge
from headwater.index.paging import CommonPrefix
from headwater.index.runs import Listing, Piece, Run
from headwater.index.store import IndexStore
from headwater.index.stored import check_key, decode_edit, encode_edit

__all__ = [
    "EMPTY",
    "NO_EDITS",
    "TOMBSTONE",
    "Behaviour",
    "Block",
    "CacheDirectory",
    "Change",
    "CommonPrefix",
    "Conflict",
    "Corrupt",
    "Cutting",
    "Edit",
    "Edits",
    "Entry",
    "Index",
    "IndexFault",
    "IndexRecord",
    "IndexStore",
    "Kind",
    "Layer",
    "LimitExceeded",
    "Listing",
    "Merged",
    "Missing",
    "OutOfOrder",
    "Piece",
    "Run",
    "SegmentCache",
    "Strategy",
    "Tombstone",
    "apply",
    "check_key",
    "decode_edit",
    "diff",
    "diff_batches",
    "diff_overlays",
    "encode_edit",
    "identity",
    "merge",
    "relocate",
    "same_content",
]
