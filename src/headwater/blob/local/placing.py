"""How a file gets into its place, and out: whole, durable, and in turn with all who write to the same directory.

Writers take turns by an exclusive `flock` on the directory that holds the file. It needs no files of its own, works
across threads and processes and for stores opened at different roots, and ends with its holder. A directory may be
pruned between being opened and being locked; so whoever has the lock looks again if the directory is still there.

Durable means: the file is synced, then renamed, then the directory is synced. The directories above are synced by
whoever puts the first file into one, before renaming: hence, where there is a file, the way to it is durable.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from headwater.blob.errors import BlobUnavailable, ConditionFailed, NotSupported
from headwater.blob.local.files import Attributes, etag, explained, write_attributes
from headwater.blob.names import RESERVED
from headwater.blob.store import Condition, IfAbsent, IfMatch

_LOOKED_AT = 64  # entries of a directory that are searched for a file, before it is taken to have none
_TURNS = 1000  # times that a directory may be pruned before the eyes of one who wants to write in it


class Placing:
    """The writing side of a local directory."""

    def __init__(self, root: Path, *, durable: bool) -> None:
        self._root = root
        self._incoming = root / RESERVED / "incoming"
        self.durable = durable

    def prepare(self) -> None:
        """Make the directory, and remove what writers that died have left: what nobody holds a lock on."""
        made = [path for path in (self._root, *self._root.parents) if not path.exists()]
        self._incoming.mkdir(parents=True, exist_ok=True)
        with _locked(self._root):
            pass
        for left in self._incoming.iterdir():
            _remove_if_left(left)
        if self.durable:
            for path in made:
                _sync(path.parent)

    def put(self, name: str, chunks: Iterable[bytes], condition: Condition, attributes: Attributes) -> str:
        """Write the file *name* if *condition* holds; its new etag."""
        path = self._root / name
        with self._new_file(name) as (incoming, descriptor):
            for chunk in chunks:
                with explained(name):
                    _write(descriptor, chunk)
            with explained(name):
                write_attributes(descriptor, attributes.content_type, attributes.metadata)
                self._seal(descriptor, time.time_ns())
                self._place(incoming, descriptor, path, name, condition)
                return etag(os.fstat(descriptor))

    def remove(self, name: str) -> None:
        """Remove the file *name* if there is one, and the directories that are empty then."""
        path = self._root / name
        with explained(name):
            try:
                with _locked(path.parent):
                    path.unlink()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return
            self._prune(path.parent)

    @contextmanager
    def _new_file(self, name: str) -> Iterator[tuple[Path, int]]:
        """A file that nobody sees, locked by its writer and gone in the end, unless it was renamed."""
        with explained(name):
            incoming, descriptor = self._create()
        try:
            yield incoming, descriptor
        finally:
            with suppress(FileNotFoundError):
                incoming.unlink()
            os.close(descriptor)

    def _create(self) -> tuple[Path, int]:
        while True:
            incoming = self._incoming / uuid.uuid4().hex
            try:
                descriptor = os.open(incoming, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
            except FileNotFoundError:
                self._incoming.mkdir(parents=True, exist_ok=True)
                continue
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return incoming, descriptor
            os.close(descriptor)  # taken for left behind, in the moment before it was locked

    def _place(self, incoming: Path, descriptor: int, path: Path, name: str, condition: Condition) -> None:
        with self._directory_for(path, name, condition) as directory:
            old = _status(path)
            _check(name, old, condition)
            if old is not None and stat.S_ISDIR(old.st_mode):
                _remove_empty_tree(path)
            elif old is not None:
                self._make_newer(descriptor, old)
            if self.durable and not _holds_a_file(directory):
                self._sync_above(path.parent)
            incoming.rename(path)
            fcntl.flock(directory, fcntl.LOCK_UN)
            if self.durable:
                os.fsync(directory)

    @contextmanager
    def _directory_for(self, path: Path, name: str, condition: Condition) -> Iterator[int]:
        """The locked directory of *path*, made if need be; but not for a condition that cannot hold in a new one."""
        try:
            directory = _lock(path.parent, create=not isinstance(condition, IfMatch))
        except FileNotFoundError:
            raise _changed(name) from None
        try:
            yield directory
        finally:
            os.close(directory)

    def _make_newer(self, descriptor: int, old: os.stat_result) -> None:
        if os.fstat(descriptor).st_mtime_ns > old.st_mtime_ns:
            return
        self._seal(descriptor, old.st_mtime_ns + 1)
        if os.fstat(descriptor).st_mtime_ns <= old.st_mtime_ns:
            raise NotSupported("this file system keeps the times of files too coarsely to tell two writes apart")

    def _seal(self, descriptor: int, moment: int) -> None:
        """Give the file its time, and make it durable: the time as well, for the etag is made of it."""
        os.utime(descriptor, ns=(moment, moment))
        if self.durable:
            os.fsync(descriptor)

    def _sync_above(self, directory: Path) -> None:
        while directory != self._root:
            directory = directory.parent
            _sync(directory)

    def _prune(self, directory: Path) -> None:
        """Remove *directory* and those above it while they are empty; make the removal of what was in it durable."""
        while directory != self._root and _remove_if_empty(directory):
            directory = directory.parent
        while self.durable:
            try:
                _sync(directory)
            except FileNotFoundError:  # pruned by another, who may not have synced that yet
                directory = directory.parent
            else:
                return


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = _lock(path, create=False)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(path: Path, *, create: bool) -> int:
    """A descriptor of the directory *path*, which only one at a time has, until it is closed."""
    for _ in range(_TURNS):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            if not create:
                raise
            with suppress(FileNotFoundError, FileExistsError):  # pruned, or made by another, while it was being made
                path.mkdir(parents=True)
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            now = _status(path)
            if now is not None and os.path.samestat(now, os.fstat(descriptor)):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise BlobUnavailable(f"{path}: this directory does not stay: is one above it a symbolic link to nowhere?")


def _check(name: str, old: os.stat_result | None, condition: Condition) -> None:
    match condition:
        case IfAbsent() if old is not None and stat.S_ISREG(old.st_mode):
            raise ConditionFailed(f"{name}: it is there already: read it and decide anew")
        case IfMatch(expected) if old is None or etag(old) != expected:
            raise _changed(name)
        case _:
            pass


def _changed(name: str) -> ConditionFailed:
    return ConditionFailed(f"{name}: it is not as it was when it was read: read it again and decide anew")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _holds_a_file(directory: int) -> bool:
    with os.scandir(directory) as entries:
        return any(entry.is_file(follow_symlinks=False) for entry in islice(entries, _LOOKED_AT))


def _remove_if_empty(path: Path) -> bool:
    """Whether there is no such directory any more."""
    try:
        with _locked(path):
            path.rmdir()
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
        return False
    return True


def _remove_empty_tree(path: Path) -> bool:
    """Remove a directory that holds nothing but directories, such as a writer leaves that died early."""
    with suppress(FileNotFoundError), os.scandir(path) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False) or not _remove_empty_tree(Path(entry.path)):
                return False
    return _remove_if_empty(path)


def _remove_if_left(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    except BlockingIOError:
        pass  # its writer lives
    finally:
        os.close(descriptor)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(descriptor: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
