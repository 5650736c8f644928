"""Writing files below a directory, and nowhere else, whatever they are called.

The names come from whoever wrote to the lake. Each part of one is opened from the directory before it, and never
through a symbolic link; so nothing that is called `../x`, and no link that somebody puts there meanwhile, leads out.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from headwater.errors import HeadwaterError

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class UnsafePath(HeadwaterError):
    """A path of the lake cannot be that of a file below a directory. Nothing was written."""


class Written(msgspec.Struct, frozen=True):
    """A file as it was written: its size, the MD5 of its content in hex, and its time in nanoseconds since 1970."""

    size: int
    checksum: str
    time: int


class Target:
    """The directory that files are written below. It is made if need be, and may itself be reached by links."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def write(self, path: str, chunks: Iterable[bytes]) -> Written:
        """Write the file at *path*. It is there at once with all its content, or stays what it was."""
        *parents, name = parts_of(path)
        with self._opened(parents) as parent:
            _refuse_link(name, parent, path)
            return _replace(name, parent, chunks)

    def remove(self, path: str) -> None:
        """Remove the file at *path*, and the directories that are empty then. Content if there is none."""
        *parents, name = parts_of(path)
        with suppress(FileNotFoundError, NotADirectoryError):
            with self._opened(parents, make=False) as parent:
                os.unlink(name, dir_fd=parent)
            self._prune(parents)

    def _prune(self, parents: list[str]) -> None:
        while parents:
            *above, name = parents
            try:
                with self._opened(above, make=False) as parent:
                    os.rmdir(name, dir_fd=parent)
            except OSError:  # something else is in it
                return
            parents = above

    @contextmanager
    def _opened(self, parents: list[str], *, make: bool = True) -> Iterator[int]:
        """The directory that *parents* lead to, one by one and never through a link."""
        if make:
            self.directory.mkdir(parents=True, exist_ok=True)
        here = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parents:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=here)
                below = self._enter(part, here, "/".join(parents))
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)

    def _enter(self, part: str, here: int, path: str) -> int:
        try:
            return os.open(part, _DIRECTORY, dir_fd=here)
        except OSError:
            _refuse_link(part, here, path)
            raise


def parts_of(path: str) -> list[str]:
    """The names that *path* leads through. `UnsafePath` if it might lead elsewhere, or to no file at all."""
    parts = path.split("/")
    if "\0" in path or any(part in {"", ".", ".."} for part in parts):
        raise UnsafePath(f"{path!r} cannot be a file here: a part of it is empty, '.' or '..', or has a NUL")
    return parts


def _refuse_link(name: str, parent: int, path: str) -> None:
    """Raise if *name* is a link in the directory *parent*: what it leads to is not ours to write to."""
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise UnsafePath(f"{path!r}: {name!r} is a symbolic link here, which is not followed; remove it first")


def _replace(name: str, parent: int, chunks: Iterable[bytes]) -> Written:
    """Write a new file beside *name*, then let it take the name."""
    growing = f".hw-{secrets.token_hex(8)}"
    digest = hashlib.md5(usedforsecurity=False)
    size = 0
    descriptor = os.open(growing, _NEW, 0o666, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
            file.flush()
            time = os.fstat(file.fileno()).st_mtime_ns
        os.replace(growing, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        os.unlink(growing, dir_fd=parent)
        raise
    return Written(size, digest.hexdigest(), time)
