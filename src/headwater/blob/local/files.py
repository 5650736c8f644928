"""What a file is as an object: its etag, and the content type and metadata that it carries along."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

import msgspec

from headwater.blob.errors import BlobError, BlobUnavailable, LimitExceeded, NotSupported, PermissionDenied
from headwater.blob.store import Stat

_ATTRIBUTE = "user.headwater"

_UNFIT_PLACE = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY})
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class Attributes(msgspec.Struct, frozen=True, omit_defaults=True):
    """What goes into the one extended attribute of a file, as JSON. A file without any has none."""

    content_type: str | None = None
    metadata: dict[str, str] = {}


def etag(status: os.stat_result) -> str:
    """Changes with every write: the writer makes the time strictly newer than that of the file it replaces."""
    return f'"{status.st_mtime_ns:x}-{status.st_ino:x}-{status.st_size:x}"'


def described(name: str, status: os.stat_result, attributes: Attributes) -> Stat:
    return Stat(
        name=name,
        size=status.st_size,
        etag=etag(status),
        modified=status.st_mtime_ns // 1_000_000,
        content_type=attributes.content_type,
        metadata=attributes.metadata,
    )


def write_attributes(descriptor: int, content_type: str | None, metadata: Mapping[str, str]) -> None:
    attributes = Attributes(content_type, dict(metadata))
    if attributes == Attributes():
        return
    unsupported = NotSupported("there are no extended attributes on this file system: put without metadata")
    if not hasattr(os, "setxattr"):  # macOS
        raise unsupported
    try:
        os.setxattr(descriptor, _ATTRIBUTE, msgspec.json.encode(attributes))
    except OSError as error:
        raise unsupported if error.errno == errno.ENOTSUP else error from None


def read_attributes(descriptor: int) -> Attributes:
    if not hasattr(os, "getxattr"):  # macOS
        return Attributes()
    try:
        encoded = os.getxattr(descriptor, _ATTRIBUTE)
    except OSError as error:
        if error.errno in {errno.ENODATA, errno.ENOTSUP}:
            return Attributes()
        raise
    return msgspec.json.decode(encoded, type=Attributes)


class explained:  # noqa: N801  (it is used as the functions of contextlib are, and costs a third of what they do)
    """Within it, the system's errors on *path* become what they mean to a caller."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise _meaning(error, self._path) from error


def _meaning(error: OSError, path: str) -> BlobError:
    if error.errno in _UNFIT_PLACE:
        return NotSupported(f"{path}: a directory cannot hold both an object and others below its name")
    if error.errno in _REFUSED:
        return PermissionDenied(f"{path}: {error.strerror}")
    if error.errno == errno.ENAMETOOLONG:
        return LimitExceeded(f"{path}: {error.strerror}: shorten the name or the directory's path")
    return BlobUnavailable(f"{path}: {error.strerror}")
