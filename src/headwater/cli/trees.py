"""Files and whole trees between this machine and a lake: which are to be sent or fetched, and how one is."""

from __future__ import annotations

import mimetypes
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from headwater.cli.limits import CHUNK, WHOLE
from headwater.cli.places import Place
from headwater.cli.session import session
from headwater.cli.target import Target, Written
from headwater.cli.transfer import Count
from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from headwater.sdk.results import Entry
    from headwater.sdk.sync import Branch, Ref


class NotAFile(HeadwaterError):
    """What is to be sent is not there, or neither a file nor a directory."""


class Sent(msgspec.Struct, frozen=True):
    """A file of this machine, and the path that it gets."""

    file: Path
    path: str


class Fetched(msgspec.Struct, frozen=True):
    """A path of a lake, how much is there, and the name that it gets below a target."""

    path: str
    size: int
    name: str


def to_send(sources: Sequence[Path], place: Place, *, follow: bool) -> Iterator[Sent]:
    """The files of *sources* and the paths that they get at *place*.

    What is in a directory goes below it. One file gets the path, or, where that ends in a slash or is empty, its own
    name there; so does each of several sources.
    """
    if len(sources) == 1:
        (source,) = sources
        yield from _sent(source, place.path if _is_file(source, follow=True) else place.directory, follow=follow)
        return
    for source in sources:
        name = source.resolve().name
        if _is_file(source, follow=True):
            yield Sent(source, place.directory + name)
        else:
            yield from _tree(source, f"{place.directory}{name}/", follow=follow)


def files_below(directory: Path, *, follow: bool = False) -> Iterator[tuple[Path, str]]:
    """Each file below *directory*, in order, and its path from there. What is no file is passed over, and told of."""
    for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
        path = Path(entry.path)
        if entry.is_symlink() and not follow:
            session().warn(f"{path}: a symbolic link, which is not followed")
        elif entry.is_dir():
            yield from ((file, f"{entry.name}/{name}") for file, name in files_below(path, follow=follow))
        elif entry.is_file():
            yield path, entry.name
        else:
            session().warn(f"{path}: no file, and passed over")


def send(branch: Branch, sent: Sent, count: Count, *, follow: bool, content_type: str | None = None) -> int:
    """Write a file of this machine to *branch*: how many bytes that were."""
    flags = os.O_RDONLY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    with os.fdopen(os.open(sent.file, flags), "rb") as file:
        return put(branch, sent.path, file, count, content_type=content_type or guessed_type(sent.file.name))


def put(branch: Branch, path: str, file: BinaryIO, count: Count, *, content_type: str | None = None) -> int:
    """Write what *file* has to *path*: at once if it is little, else streamed."""
    start = file.read(WHOLE)
    if len(start) < WHOLE:
        branch.put(path, start, content_type=content_type)
        count(len(start))
        return len(start)
    return branch.put(path, _pieces(start, file, count), content_type=content_type).size


def content_of(file: BinaryIO) -> bytes | Iterator[bytes]:
    """What *file* has: at once if it is little, else piece by piece."""
    start = file.read(WHOLE)
    return start if len(start) < WHOLE else _pieces(start, file, lambda _: None)


def to_fetch(entries: Iterable[Entry], prefix: str) -> Iterator[Fetched]:
    """*entries* by their names below *prefix*."""
    return (Fetched(entry.path, entry.size, entry.path.removeprefix(prefix)) for entry in entries)


def fetch(ref: Ref, fetched: Fetched, target: Target, count: Count) -> Written:
    """Write what is at a path of *ref* below *target*."""
    return target.write(fetched.name, counted(content(ref, fetched.path, fetched.size), count))


def content(ref: Ref, path: str, size: int) -> Iterator[bytes]:
    """What is at *path*: at once if it is little, else piece by piece."""
    if size < WHOLE:
        yield ref.get(path)
        return
    with ref.open(path) as file:
        while piece := file.read(CHUNK):
            yield piece


def counted(pieces: Iterable[bytes], count: Count) -> Iterator[bytes]:
    for piece in pieces:
        count(len(piece))
        yield piece


def guessed_type(name: str) -> str | None:
    """What a file of this name has in it, probably."""
    return mimetypes.guess_type(name)[0]


def _sent(source: Path, path: str, *, follow: bool) -> Iterator[Sent]:
    if not _is_file(source, follow=True):
        return _tree(source, path, follow=follow)
    return iter([Sent(source, path if path and not path.endswith("/") else path + source.resolve().name)])


def _tree(source: Path, prefix: str, *, follow: bool) -> Iterator[Sent]:
    return (Sent(file, prefix + name) for file, name in files_below(source, follow=follow))


def _is_file(source: Path, *, follow: bool) -> bool:
    """Whether *source* is a file. Raises if it is no directory, either."""
    try:
        mode = source.stat(follow_symlinks=follow).st_mode
    except FileNotFoundError:
        raise NotAFile(f"{source}: there is no such file or directory") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotAFile(f"{source} is neither a file nor a directory; use - for what comes through a pipe")
    return stat.S_ISREG(mode)


def _pieces(start: bytes, file: BinaryIO, count: Count) -> Iterator[bytes]:
    piece = start
    while piece:
        yield piece
        count(len(piece))
        piece = file.read(CHUNK)
