"""The clock index: from (incarnation, n) to the commit, so that a range of a history is one scan.

A commit is indexed by its child, in the pipeline that lands the child. Until then it may be one of several that raced
for the same clock; the parent of a commit has won for certain. So there is nothing to repair after a crash, and the one
commit that is not indexed, the head, is the one that everybody knows from the branch record.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

from headwater.history.clock import Component, Span, clock_key
from headwater.history.commit import Commit
from headwater.kv import Set, Store
from headwater.kv.limits import MAX_PAGE


class ClockIndex:
    """The clock index of one repository. Ids are as it has them; whoever reads the commits checks that they agree."""

    def __init__(self, store: Store, partition: bytes) -> None:
        self._store = store
        self._partition = partition

    def entry(self, parent: Commit) -> Set:
        """What indexes *parent*, a commit that has landed. To be run ahead of the swap that lands its child."""
        return Set(self._partition, clock_key(parent.clock.last), bytes.fromhex(parent.id))

    async def at(self, component: Component) -> str | None:
        """The id of the commit with this last component, if it has a child that landed, or was about to."""
        found = await self._store.get(self._partition, clock_key(component))
        return None if found is None else found.value.hex()

    async def within(self, spans: Sequence[Span]) -> list[str]:
        """The ids in *spans*, as far as they are indexed, in order.

        One trip: a scan for one span, and for several a `get_many`, since the clock tells every key.
        """
        if len(spans) == 1:
            return [commit async for page in self.scan(spans[0]) for commit in page]
        keys = [clock_key(component) for component in _components(spans)]
        if not keys:
            return []
        return [found.value.hex() for found in await self._store.get_many(self._partition, keys) if found is not None]

    async def scan(self, span: Span) -> AsyncIterator[list[str]]:
        """The ids in *span*, newest first, in pages: one trip for as many as a page of the store may hold."""
        first = clock_key(Component(span.incarnation, span.newest))
        last = clock_key(Component(span.incarnation, span.oldest))
        async for page in self._store.scan(self._partition, first, page=min(len(span), MAX_PAGE)):
            yield [entry.value.hex() for entry in page if entry.key <= last]
            if page[-1].key >= last:
                return


def _components(spans: Iterable[Span]) -> Iterable[Component]:
    for span in spans:
        for n in range(span.newest, span.oldest - 1, -1):
            yield Component(span.incarnation, n)
