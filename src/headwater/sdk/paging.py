"""Results that are fetched a page at a time, beneath an iterator."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from headwater.sdk.limits import PAGE

Item = TypeVar("Item")

Fetch: TypeAlias = Callable[[str], Awaitable[tuple[Sequence[Item], str | None]]]
"""A page after some cursor, which is empty at first, and the cursor of the next page; None if there is none."""


class Pages(AsyncIterator[Item], Generic[Item]):
    """An asynchronous iterator. Nothing is asked before it is iterated; nothing is held between two pages."""

    def __init__(self, fetch: Fetch[Item]) -> None:
        self._fetch = fetch
        self._after: str | None = ""
        self._page: deque[Item] = deque()

    async def __anext__(self) -> Item:
        if not self._page:
            self._page.extend(await self.next_page())
        if not self._page:
            raise StopAsyncIteration
        return self._page.popleft()

    async def next_page(self) -> Sequence[Item]:
        """Some more, at one go; none if there are no more."""
        page: Sequence[Item] = list(self._page)
        self._page.clear()
        while not page and self._after is not None:
            page, self._after = await self._fetch(self._after)
        return page


def gathered(items: AsyncIterator[Item], amount: int = PAGE) -> Pages[Item]:
    """*items* as they come, up to *amount* of them in a page."""

    async def fetch(_: str) -> tuple[Sequence[Item], str | None]:
        page: list[Item] = []
        async for item in items:
            page.append(item)
            if len(page) == amount:
                return page, _MORE
        return page, None

    return Pages(fetch)


_MORE = "more"
"""The cursor of what knows by itself where to go on."""
