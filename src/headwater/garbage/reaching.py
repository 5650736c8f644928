"""What trees and addresses lead to in the object store alone: segments, and what is in lists of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headwater.drive import together
from headwater.engine.addresses import is_foreign
from headwater.engine.block_lists import BlockLists, is_list
from headwater.garbage.limits import TOGETHER
from headwater.index import IndexStore


class Reaching:
    """Makes names in a namespace of addresses as entries have them. Each list of blocks it reads once."""

    def __init__(self, namespace: str, lists: BlockLists) -> None:
        self._own = namespace.partition("?")[0].rstrip("/") + "/"
        self._lists = lists
        self._read: set[str] = set()

    async def names(self, addresses: pa.Array) -> pa.Array:
        """Those of *addresses* that are in the namespace, as names there, and what is in lists of blocks among them."""
        names = _in_namespace(addresses, self._own)
        inner: list[str] = []
        waiting = [each for each in names.filter(pc.starts_with(names, "meta/")).unique().to_pylist() if is_list(each)]
        while waiting:
            address = waiting.pop()
            if address in self._read:
                continue
            self._read.add(address)
            pieces = [piece.address for piece in await self._lists.read(address)]
            waiting += [each for each in pieces if is_list(each)]
            inner += [each for each in pieces if not is_foreign(each)]
        return pa.concat_arrays([names, pa.array(inner, pa.string())]) if inner else names


async def segments_of(store: IndexStore, trees: Sequence[str]) -> dict[str, int]:
    """The distinct segments of *trees*, and how many rows each has."""
    counts: dict[str, int] = {}
    for start in range(0, len(trees), TOGETHER):
        for tree in await together([partial(store.tree, name) for name in trees[start : start + TOGETHER]]):
            counts.update(zip(tree.segments, tree.rows.column("count").to_pylist(), strict=True))
    return counts


def _in_namespace(addresses: pa.Array, own: str) -> pa.Array:
    """Those of *addresses* that are names in the namespace, or URIs of objects there, as names."""
    foreign = pc.match_substring(addresses, "://")
    if not pc.any(foreign).as_py():
        return addresses
    ours = addresses.filter(pc.starts_with(addresses, own))
    names = pc.utf8_slice_codeunits(ours, len(own))
    for escape, character in (("%25", "%"), ("%3F", "?"), ("%23", "#")):
        names = pc.replace_substring(names, escape, character)
    return pa.concat_arrays([addresses.filter(pc.invert(foreign)), names])
