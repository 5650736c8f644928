"""Patterns of paths: `*`, `?` and `[…]` within a name, and `**` for any number of directories.

A pattern is looked into part by part. A part without a wildcard is one step down, one with a wildcard is a listing of
one directory behind what it begins with; only from a `**` on is all that lies below looked at, vectorised.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import pyarrow.compute as pc

from headwater.engine.bulk import batches
from headwater.engine.errors import PathNotFound
from headwater.engine.limits import MAX_PAGE
from headwater.engine.paths import FILES, path_of
from headwater.engine.patterns import check_pattern, of_part, regex
from headwater.engine.read import list_entries, stat
from headwater.engine.repository import Repository
from headwater.index import CommonPrefix, Entry
from headwater.index.schema import entries_of

_WILD = re.compile(r"[*?\[]")


async def glob(repository: Repository, ref: str, pattern: str) -> AsyncIterator[Entry]:
    """The files at *ref* whose paths match *pattern*, in the order of paths within each directory."""
    check_pattern(pattern)
    async for entry in _below(repository, ref, "", pattern.split("/")):
        yield entry


async def _below(repository: Repository, ref: str, prefix: str, parts: Sequence[str]) -> AsyncIterator[Entry]:
    """The files under *prefix*, which ends a directory, whose paths match *parts* from there on."""
    part, *rest = parts
    if part == "**":
        found = _anywhere(repository, ref, prefix, parts)
    elif _WILD.search(part):
        found = _matching(repository, ref, prefix, part, rest)
    elif rest:
        found = _below(repository, ref, f"{prefix}{part}/", rest)
    else:
        found = _exactly(repository, ref, prefix + part)
    async for entry in found:
        yield entry


async def _exactly(repository: Repository, ref: str, path: str) -> AsyncIterator[Entry]:
    if path:
        with suppress(PathNotFound):
            yield await stat(repository, ref, path)


async def _matching(
    repository: Repository, ref: str, prefix: str, part: str, rest: Sequence[str]
) -> AsyncIterator[Entry]:
    """What matches *part* right under *prefix*: files; or, if there is a *rest*, what matches that further below."""
    async for item in _children(repository, ref, prefix, part):
        if isinstance(item, Entry):
            if not rest:
                yield item
        elif rest:
            async for entry in _below(repository, ref, path_of(item.key), rest):
                yield entry


async def _children(repository: Repository, ref: str, prefix: str, part: str) -> AsyncIterator[Entry | CommonPrefix]:
    """What is right under *prefix* and matches *part*: only what begins as *part* does is listed."""
    matching = re.compile(f"^{of_part(part)}/?$", re.DOTALL)
    beginning = prefix + part[: match.start() if (match := _WILD.search(part)) else len(part)]
    after = ""
    while page := await list_entries(repository, ref, prefix=beginning, delimiter="/", after=after, amount=MAX_PAGE):
        for item in page:
            if matching.match(path_of(item.key)[len(prefix) :]):
                yield item
        after = path_of(page[-1].key)
        if len(page) < MAX_PAGE:
            return


async def _anywhere(repository: Repository, ref: str, prefix: str, parts: Sequence[str]) -> AsyncIterator[Entry]:
    expression = f"^{re.escape(FILES + prefix)}{regex('/'.join(parts)).removeprefix('^')}"
    async for rows in batches(repository, ref, prefix=prefix):
        for entry in entries_of(rows.filter(pc.match_substring_regex(rows.column("key"), f"(?s){expression}"))):
            yield entry
