"""In an append repository a path is a file or a directory: a commit that would make one both is refused."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.errors import PathConflict
from headwater.engine.paths import FILES, path_of
from headwater.engine.repository import Repository
from headwater.index import Entry, Index


async def check_nesting(repository: Repository, parent: str, index: Index) -> None:
    """Raise `PathConflict` if *index*, made of that of the commit *parent*, has a file where it has a directory.

    It is told at the commit because a write reads nothing. Only paths that *parent* has not are looked at, unless they
    are too many to be told one by one: then all are, vectorised.
    """
    if not repository.grows:
        return
    if index.own is None:
        await _check_all(index)
        return
    written = [key for key, edit in index.own.items() if isinstance(edit, Entry) and key.startswith(FILES)]
    before = await (await repository.index_of(parent)).get_many(written)
    added = [key for key, entry in zip(written, before, strict=True) if entry is None]
    above = sorted({directory for key in added for directory in directories_of(key)})
    for directory, entry in zip(above, await index.get_many(above), strict=True):
        if entry is not None:
            _refuse(directory, min(key for key in added if key.startswith(f"{directory}/")))
    for key in added:
        for below in await index.entries(prefix=f"{key}/", amount=1):
            _refuse(key, below.key)


def directories_of(key: str) -> Iterable[str]:
    """What must be directories if there is a file at *key*."""
    return (key[:place] for place in range(len(FILES) + 1, len(key)) if key[place] == "/")


async def _check_all(index: Index) -> None:
    keys = pa.concat_arrays([pa.array([], pa.string()), *[rows.column("key") async for rows in index.batches(FILES)]])
    above = keys
    while len(above):
        above = above.filter(pc.match_substring_regex(above, f"^{FILES}.+/"))
        above = pc.unique(pc.replace_substring_regex(above, "/[^/]*$", ""))
        both = keys.filter(pc.is_in(keys, value_set=above))
        if len(both):
            directory = both[0].as_py()
            below = await index.entries(prefix=f"{directory}/", amount=1)
            _refuse(directory, below[0].key)


def _refuse(directory: str, below: str) -> None:
    raise PathConflict(
        f"{path_of(directory)!r} would be a file, and a directory with {path_of(below)!r} in it: "
        "in an append repository a path is one or the other; delete one of them first"
    )
