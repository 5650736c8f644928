"""A directory that is kept in step with a place of a branch: what is known of it, and what was changed in it.

What is known is in one file there: the place, the commit that the directory was last in step with, and of each file
its size, time and checksum then. A file whose size and time are the same is taken to be the same; else its content is
looked at. So a status costs a look at every file, and reads those that were touched.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from headwater.cli.limits import CHUNK
from headwater.cli.places import Place
from headwater.cli.target import Target, Written
from headwater.cli.trees import files_below
from headwater.errors import HeadwaterError

FILE = ".hw-local"

Type: TypeAlias = Literal["added", "changed", "removed"]


class NotAWorkingCopy(HeadwaterError):
    """The directory is not kept in step with anything, or what is known of it cannot be read."""


class Base(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a directory was last in step with: the *commit* of *place*, and its files by their names here."""

    place: Place
    commit: str
    files: dict[str, Written]


class WorkingCopy:
    """A directory, and what it was last in step with."""

    def __init__(self, directory: Path, base: Base) -> None:
        self.directory = directory
        self.base = base
        self.target = Target(directory)

    def changes(self) -> dict[str, Type]:
        """What was changed here since, by name, in order."""
        found: dict[str, Type] = {}
        present: set[str] = set()
        for file, name in self._files():
            present.add(name)
            known = self.base.files.get(name)
            if known is None:
                found[name] = "added"
            elif not _same(file, known):
                found[name] = "changed"
        found |= dict.fromkeys(self.base.files.keys() - present, "removed")
        return dict(sorted(found.items()))

    def written(self, name: str) -> Written:
        """A file as it is here now."""
        return written(self.directory / name)

    def save(self, commit: str, files: Mapping[str, Written]) -> None:
        """Remember that the directory is in step with *commit*, with these files."""
        self.base = Base(self.base.place, commit, dict(sorted(files.items())))
        save(self.directory, self.base)

    def _files(self) -> Iterator[tuple[Path, str]]:
        return ((file, name) for file, name in files_below(self.directory) if name != FILE)


def find(directory: Path) -> WorkingCopy:
    """The working copy that *directory* is, or is in."""
    for place in (directory.absolute(), *directory.absolute().parents):
        if (place / FILE).is_file():
            return WorkingCopy(place, _read(place / FILE))
    raise NotAWorkingCopy(f"{directory} is no working copy: make one with hw local clone, or hw local init")


def is_one(directory: Path) -> bool:
    return (directory / FILE).exists()


def save(directory: Path, base: Base) -> None:
    """Write what is known, at once or not at all."""
    growing = directory / f"{FILE}-{secrets.token_hex(8)}"
    growing.write_bytes(msgspec.json.encode(base))
    growing.replace(directory / FILE)


def written(file: Path) -> Written:
    """A file as it is now, with the checksum of what is in it."""
    with file.open("rb") as content:
        before = os.fstat(content.fileno())
        digest = hashlib.md5(usedforsecurity=False)
        while piece := content.read(CHUNK):
            digest.update(piece)
        return Written(content.tell(), digest.hexdigest(), before.st_mtime_ns)


def _same(file: Path, known: Written) -> bool:
    status = file.stat()
    if (status.st_size, status.st_mtime_ns) == (known.size, known.time):
        return True
    return status.st_size == known.size and written(file).checksum == known.checksum


def _read(file: Path) -> Base:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Base)
    except msgspec.MsgspecError as error:
        raise NotAWorkingCopy(f"{file} cannot be read ({error}): clone anew, beside this directory") from None
