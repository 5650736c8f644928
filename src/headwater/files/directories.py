"""Directories: what is in one, and walking through them. A directory is there as long as it holds something.

They are not stored. The index is in the order of paths, so the children of a directory are found by seeking from each
to the next, past all that is below it: that costs as much as there are children, whatever they hold.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.bulk import batches
from headwater.engine.errors import PathNotFound
from headwater.engine.limits import MAX_PAGE
from headwater.engine.paths import FILES, path_of
from headwater.engine.read import list_entries
from headwater.engine.repository import Repository
from headwater.index import CommonPrefix, Entry


class Directory(msgspec.Struct, frozen=True):
    """A directory; and, where they were asked for, the bytes and number of the files in it and below."""

    path: str
    size: int | None = None
    count: int | None = None


Child: TypeAlias = Entry | Directory


class Walked(msgspec.Struct, frozen=True):
    """A directory, and what is in it: the paths of directories, and files."""

    path: str
    directories: tuple[str, ...]
    files: tuple[Entry, ...]


async def list_dir(
    repository: Repository,
    ref: str,
    path: str = "",
    *,
    totals: bool = False,
    after: str = "",
    amount: int = MAX_PAGE,
) -> list[Child]:
    """A page of what is in the directory *path*, in order: files and directories. `PathNotFound` if there is none.

    With *totals*, directories come with what all in them amounts to, which costs a look at all of it. *after* is the
    path of the last child of the page before, with a slash behind it if that is a directory.
    """
    prefix = prefix_of_directory(path)
    page = await list_entries(repository, ref, prefix=prefix, delimiter="/", after=after or prefix, amount=amount)
    if not page and not after and prefix:
        raise PathNotFound(f"there is no directory {path!r} in {ref!r} of repository {repository.name!r}")
    amounts = await _totals(repository, ref, prefix) if totals else {}
    return [_child(item, amounts, totals=totals) for item in page]


async def walk(repository: Repository, ref: str, path: str = "") -> AsyncIterator[Walked]:
    """*path* and all directories below it, each before those in it, as `os.walk` does."""
    waiting = [path.strip("/")]
    while waiting:
        directory = waiting.pop()
        children = [child async for child in children_of(repository, ref, directory)]
        below = [child.path for child in children if isinstance(child, Directory)]
        yield Walked(directory, tuple(below), tuple(child for child in children if isinstance(child, Entry)))
        waiting += reversed(below)


async def children_of(repository: Repository, ref: str, path: str) -> AsyncIterator[Child]:
    """All that is in a directory, a page at a time."""
    after = ""
    while page := await list_dir(repository, ref, path, after=after):
        for child in page:
            yield child
        if len(page) < MAX_PAGE:
            return
        last = page[-1]
        after = f"{last.path}/" if isinstance(last, Directory) else path_of(last.key)


def prefix_of_directory(path: str) -> str:
    """What the paths of all in the directory *path* begin with. The root is the empty path."""
    path = path.strip("/")
    return f"{path}/" if path else ""


def _child(item: Entry | CommonPrefix, amounts: Mapping[str, tuple[int, int]], *, totals: bool) -> Child:
    if isinstance(item, Entry):
        return item
    path = path_of(item.key).removesuffix("/")
    size, count = amounts.get(path, (0, 0))
    return Directory(path, size, count) if totals else Directory(path)


async def _totals(repository: Repository, ref: str, prefix: str) -> dict[str, tuple[int, int]]:
    """For each directory right below *prefix*, the bytes and number of all files in it."""
    found: dict[str, tuple[int, int]] = {}
    async for rows in batches(repository, ref, prefix=prefix):
        inside = pc.utf8_slice_codeunits(rows.column("key"), len(FILES) + len(prefix))
        places = pc.find_substring(inside, "/")
        below = pc.greater(places, 0)
        names = pc.list_element(pc.split_pattern(inside.filter(below), "/", max_splits=1), 0)
        table = pa.table({"name": names, "size": rows.column("size").filter(below)})
        for row in table.group_by("name").aggregate([("size", "sum"), ("size", "count")]).to_pylist():
            path = prefix + row["name"]
            size, count = found.get(path, (0, 0))
            found[path] = (size + row["size_sum"], count + row["size_count"])
    return found
