"""Listing a directory tree in the order of names, which is not the order of a tree walk by plain names.

A directory sorts as its name and a slash: `a.txt` < `a/b` < `a0`. One directory at a time is read and sorted whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from headwater.blob.local.files import Attributes, described
from headwater.blob.names import RESERVED, is_fit
from headwater.blob.store import Listed, Prefix


def walk(root: str, prefix: str, start_after: str, *, delimiter: bool) -> Iterator[Listed]:
    """What `BlobStore.list` says, one by one. Directories before *start_after* or beside *prefix* are not read."""
    directory, slash, _ = prefix.rpartition("/")
    above = [_sorted(root, directory + slash)]
    while above:
        found = next(above[-1], None)
        if found is None:
            above.pop()
            continue
        name, entry = found
        if not name.endswith("/"):
            if name > start_after and name.startswith(prefix):
                yield from _stat(name, entry)
        elif not _may_hold(name, prefix, start_after):
            continue
        elif delimiter and name.startswith(prefix):
            if name > start_after and any(walk(root, name, "", delimiter=False)):
                yield Prefix(name)
        else:
            above.append(_sorted(root, name))


def _sorted(root: str, base: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The entries of the directory *base* by name; what is no object or directory of objects is left out."""
    try:
        with os.scandir(f"{root}/{base}") as entries:
            named = [(base + entry.name + _kind(entry), entry) for entry in entries if _counts(entry)]
    except (FileNotFoundError, NotADirectoryError):
        named = []
    named.sort(key=lambda pair: pair[0])
    return iter(named)


def _counts(entry: os.DirEntry[str]) -> bool:
    if entry.name == RESERVED or not is_fit(entry.name):
        return False
    return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)


def _kind(entry: os.DirEntry[str]) -> str:
    return "/" if entry.is_dir(follow_symlinks=False) else ""


def _may_hold(directory: str, prefix: str, start_after: str) -> bool:
    if not directory.startswith(prefix) and not prefix.startswith(directory):
        return False
    return directory > start_after or start_after.startswith(directory)


def _stat(name: str, entry: os.DirEntry[str]) -> Iterator[Listed]:
    try:
        yield described(name, entry.stat(follow_symlinks=False), Attributes())
    except FileNotFoundError:
        return  # deleted since the directory was read
