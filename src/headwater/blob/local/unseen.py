"""A file under a name that nobody knows yet is written where it stands: there is no turn to wait for, and no renaming.

What pruning does to directories meanwhile does no harm: one that holds a file is not removed, and one that is gone
before the file is in it is made anew.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from headwater.blob.errors import BlobUnavailable
from headwater.blob.local.files import etag, explained

_FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
_TURNS = 1000  # times that the directory may be pruned between being made and being written to


def write_unseen(root: str, name: str, body: bytes) -> str:
    """Write the file *name* below *root*; its etag. Nothing is left of it if this fails. Nothing is synced."""
    path = f"{root}/{name}"
    with explained(name):
        descriptor = _create(path)
        try:
            written = os.write(descriptor, body)
            while written < len(body):
                written += os.write(descriptor, memoryview(body)[written:])
            return etag(os.fstat(descriptor))
        except BaseException:
            Path(path).unlink()
            raise
        finally:
            os.close(descriptor)


def _create(path: str) -> int:
    for _ in range(_TURNS):
        with suppress(FileNotFoundError):
            return os.open(path, _FLAGS, 0o666)
        with suppress(FileNotFoundError):  # pruned while it was being made
            Path(path).parent.mkdir(parents=True, exist_ok=True)
    raise BlobUnavailable(f"{path}: its directory does not stay: is one above it a symbolic link to nowhere?")
