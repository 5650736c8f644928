"""One open LMDB environment per directory and process, however many stores use it.

LMDB forbids opening a directory twice in one process, and using what is open after a fork; this is where both are taken
care of.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

import lmdb

from headwater.kv.drivers.lmdb.group_commit import GroupCommit
from headwater.kv.drivers.lmdb.long_keys import LONGEST
from headwater.kv.errors import CannotOpen, StoreUnavailable

ADDRESS_SPACE = 1 << 40
"""Bytes of address space reserved for the map, and so the most that a store can hold. Reserving is free, the file grows
only as pages are written; a map that grew in steps would have to stop all readers of the process at each step."""

LEAST_ADDRESS_SPACE = 1 << 28
"""Where to give up halving the reservation when the process may not have that much (`ulimit -v`)."""

READERS = 2048
"""Reading transactions at once, over all processes: one a thread, 64 bytes each."""

_AFTER_FORK = "it was open when this process was forked: open it after forking, or start processes by `spawn`"

_environments: dict[tuple[int, int], Environment] = {}
_registry = Lock()


class Environment:
    """An open environment, with the count of those who use it. Made by `acquire`, ended by the last `release`."""

    def __init__(self, directory: Path, *, durable: bool) -> None:
        self.directory = directory
        self.durable = durable
        self.group_commit = GroupCommit(self.begin, directory, durable=durable)
        self._users = 0
        self._inherited = False
        self._handle = _open(directory, durable=durable)
        self._handle.reader_check()  # frees what killed processes still hold, so that old pages can be used again

    @staticmethod
    def acquire(directory: Path, *, durable: bool) -> Environment:
        """The environment of *directory*, made if need be. All users in a process must want the same durability."""
        try:
            directory.mkdir(parents=True, exist_ok=True)
            status = directory.stat()
        except OSError as error:
            raise CannotOpen(f"lmdb: {directory} cannot be the directory of a store: {error.strerror}") from error
        with _registry:
            known = _environments.get((status.st_dev, status.st_ino))
            if known is None:
                known = Environment(directory, durable=durable)
                _environments[status.st_dev, status.st_ino] = known
            elif known._inherited:
                raise CannotOpen(f"lmdb: {directory}: {_AFTER_FORK}")
            elif known.durable != durable:
                raise CannotOpen(
                    f"lmdb: {directory} is open in this process with the other durability; use one of them"
                )
            known._users += 1
            return known

    def begin(self, *, write: bool = False) -> lmdb.Transaction:
        """A transaction that gives views of what is stored."""
        self._check_not_inherited()
        return self._handle.begin(write=write, buffers=True)

    def begin_copying(self) -> lmdb.Transaction[bytes]:
        """A transaction that reads, and gives copies of what is stored."""
        self._check_not_inherited()
        return self._handle.begin()

    def _check_not_inherited(self) -> None:
        if self._inherited:
            raise StoreUnavailable(f"lmdb: {self.directory}: {_AFTER_FORK}")

    def leave_to_the_parent(self) -> None:
        """In a forked child: each use is an error from now on. The thread and the locks were left behind, too."""
        self._inherited = True
        self.group_commit = GroupCommit(self.begin, self.directory, durable=self.durable)

    def release(self) -> None:
        """Give up one use. The last one commits what is waiting and closes the environment."""
        with _registry:
            self._users -= 1
            if self._users == 0 and not self._inherited:
                for place in [place for place, known in _environments.items() if known is self]:
                    del _environments[place]
                self.group_commit.close()
                self._handle.close()


def _open(directory: Path, *, durable: bool) -> lmdb.Environment:
    size = ADDRESS_SPACE
    while True:
        try:
            handle = lmdb.open(
                str(directory),
                map_size=size,
                sync=durable,
                max_readers=READERS,
                readahead=False,
                meminit=False,
                mode=0o600,
            )
        except (lmdb.Error, MemoryError) as error:
            if isinstance(error, lmdb.MemoryError | MemoryError) and size > LEAST_ADDRESS_SPACE:
                size //= 2
                continue
            raise CannotOpen(f"lmdb: {directory} cannot be opened: {error}") from error
        if handle.max_key_size() < LONGEST:
            handle.close()
            raise CannotOpen(f"lmdb: this build takes keys of {handle.max_key_size()} bytes; {LONGEST} are needed")
        return handle


def _after_fork() -> None:
    global _registry  # noqa: PLW0603  (another thread may have held it at the fork)
    _registry = Lock()
    for environment in _environments.values():
        environment.leave_to_the_parent()


os.register_at_fork(after_in_child=_after_fork)
