"""`hw://repository/ref/path`: a lake as an fsspec file system, for pandas, Polars, DuckDB, PyArrow and many more.

A ref is a branch, a tag, a commit or an expression; of a slash in one, write `%2F`. Branches can be written to; what is
written is staged until somebody commits it.
"""

from __future__ import annotations

import errno
import io
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from glob import has_magic
from typing import Any, NoReturn, TypeAlias

import msgspec
from fsspec import AbstractFileSystem
from fsspec.compression import compr
from fsspec.core import get_compression

from headwater.engine.errors import BadRequest, PathNotFound, PreconditionFailed, RepositoryNotFound
from headwater.history import BadExpression
from headwater.refs.errors import RefNotFound
from headwater.sdk import sync
from headwater.sdk.opening import Durability
from headwater.sdk.results import CommonPrefix, Entry
from headwater.sdk.sync.files import CompressedFile, WriteText

Row: TypeAlias = dict[str, Any]
"""What fsspec calls info, and has as a dictionary."""

_NO_TRANSACTIONS = "what is written to a branch is staged: committing the branch is the transaction"


class Place(msgspec.Struct, frozen=True):
    """The parts of a path, of which the last may be empty."""

    repository: str = ""
    ref: str = ""
    path: str = ""

    @property
    def name(self) -> str:
        """The whole of it, as fsspec writes paths."""
        return "/".join(filter(None, (self.repository, self.ref.replace("/", "%2F"), self.path)))


def place_of(name: str) -> Place:
    repository, _, rest = name.partition("/")
    ref, _, path = rest.partition("/")
    return Place(repository, ref.replace("%2F", "/"), path)


class HeadwaterFileSystem(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A lake in the directory *lake*, or the one that the other arguments describe, as `headwater.open` takes them.

    With an *endpoint*, it is that of the server there, asked with *key* and *secret*, as by `headwater.connect`.
    Nothing that was listed is kept: what somebody else writes is seen at once. Directories are there while something is
    in them, and need not be made.
    """

    protocol = "hw"

    def __init__(
        self,
        lake: str | os.PathLike[str] | sync.Lake | None = None,
        *,
        kv: str | None = None,
        storage: str | None = None,
        cache: str | None = None,
        kv_credentials: Mapping[str, str] | None = None,
        storage_credentials: Mapping[str, str] | None = None,
        durability: Durability = "fsync",
        committer: str = "",
        endpoint: str | None = None,
        key: str | None = None,
        secret: str | None = None,
        timeout: float | None = None,
        ca: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if isinstance(lake, sync.Lake):
            self.lake = lake
            return
        if endpoint is not None:
            if (lake, kv, storage) != (None, None, None):
                raise BadRequest("a lake is on a server, in a directory or in stores: give endpoint=, or the others")
            if key is None or secret is None:
                raise BadRequest("endpoint= is that of a server: give key= and secret=, by which it knows who asks")
            self.lake = sync.connect(endpoint, key, secret, timeout=timeout, ca=ca)
            return
        self.lake = sync.open(
            lake,
            kv=kv,
            storage=storage,
            cache=cache,
            kv_credentials=kv_credentials,
            storage_credentials=storage_credentials,
            durability=durability,
            committer=committer,
        )

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Row] | list[str]:  # noqa: FBT001, FBT002  (fsspec's)
        """What is in the directory *path*, or the file itself."""
        place = place_of(self._strip_protocol(path))
        with _in_words_of_files(path):
            rows = [*self._rows(place)]
            if not rows and place.path:
                rows = [self.info(path)]
        return rows if detail else [row["name"] for row in rows]

    def info(self, path: str, **_: Any) -> Row:
        name = self._strip_protocol(path)
        place = place_of(name)
        with _in_words_of_files(path):
            if not place.path:
                self._check_directory(place)
                return _directory(name)
            ref = self._ref(place)
            try:
                return _file(place, ref.stat(place.path))
            except PathNotFound:
                if next(ref.list(f"{place.path}/"), None) is None:
                    raise
                return _directory(name)

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,  # noqa: FBT001, FBT002  (fsspec's)
        detail: bool = False,  # noqa: FBT001, FBT002
        **options: Any,
    ) -> list[str] | dict[str, Row]:
        """All files below *path*: one listing, whatever the depth."""
        place = place_of(self._strip_protocol(path))
        if maxdepth is not None or withdirs or not place.ref:
            found: list[str] | dict[str, Row] = super().find(path, maxdepth, withdirs, detail, **options)
            return found
        try:
            with _in_words_of_files(path):
                rows = [_file(place, entry) for entry in self._ref(place).list(_below(place))]
                rows = rows or [self.info(path)]
        except FileNotFoundError:
            rows = []
        files = {row["name"]: row for row in rows if row["type"] == "file"}
        return files if detail else [*files]

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        with self._open(self._strip_protocol(path)) as file:
            first, last = slice(start, end).indices(file.seek(0, io.SEEK_END))[:2]
            file.seek(first)
            content: bytes = file.read(max(0, last - first))
            return content

    def rm(self, path: str | list[str], recursive: bool = False, maxdepth: int | None = None) -> None:  # noqa: FBT001, FBT002
        """Stage that there is nothing at *path*; if it is *recursive*, nor below."""
        for given in [path] if isinstance(path, str) else path:
            if not place_of(self._strip_protocol(given)).ref:
                raise BadRequest(f"{given}: files are deleted here; repositories and branches are not")
            if not has_magic(given) and self.info(given)["type"] == "directory" and not recursive:
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), given)
        doomed: defaultdict[Place, list[str]] = defaultdict(list)
        for name in self.expand_path(path, recursive=recursive, maxdepth=maxdepth):
            place = place_of(name)
            if place.path:
                doomed[Place(place.repository, place.ref)].append(place.path)
        for root, paths in doomed.items():
            with _in_words_of_files(root.name):
                self._branch(root).delete(paths)

    def rm_file(self, path: str) -> None:
        self.rm(path)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file: within a repository, its bytes stay where they are."""
        source, target = place_of(self._strip_protocol(path1)), place_of(self._strip_protocol(path2))
        if self.isdir(path1):  # what is in it comes one by one
            return
        with _in_words_of_files(path1):
            branch = self._branch(target)
            if source.repository == target.repository:
                branch.copy(source.path, target.path, source_ref=source.ref)
                return
            with self._open(source.name) as file:
                branch.put(target.path, file)

    def modified(self, path: str) -> datetime:
        time: datetime = self.info(path)["modified"]
        return time

    def checksum(self, path: str) -> str | None:
        """The MD5 of the content, if it is known."""
        checksum: str | None = self.info(path)["checksum"]
        return checksum

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        """Write *value* to *path*; `FileExistsError` if there is something and *mode* is `create`."""
        place = self._file_at(self._strip_protocol(path))
        with _in_words_of_files(path):
            self._branch(place).put(place.path, value, if_absent=mode == "create")

    @property
    def transaction(self) -> NoReturn:
        raise NotImplementedError(_NO_TRANSACTIONS)

    def start_transaction(self) -> NoReturn:
        raise NotImplementedError(_NO_TRANSACTIONS)

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: Mapping[str, Any] | None = None,
        compression: str | None = None,
        **options: Any,
    ) -> Any:
        """The file at *path*. What is written, text or compressed even, is there when it is closed; a block that fails
        writes nothing, and neither does a file that is dropped."""
        if mode.startswith("r"):
            return super().open(path, mode, block_size, cache_options, compression, **options)
        if not options.get("autocommit", True):
            raise NotImplementedError(_NO_TRANSACTIONS)
        name = self._strip_protocol(path)
        file = self._open(name, f"{mode.replace('t', '').replace('b', '')}b")
        if (method := get_compression(name, compression)) is not None:
            file = CompressedFile(file, partial(compr[method], mode="w"))
        if "b" in mode:
            return file
        return WriteText(file, **{key: options[key] for key in ("encoding", "errors", "newline") if key in options})

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        place = self._file_at(path)
        with _in_words_of_files(path):
            match mode:
                case "rb":
                    return self._ref(place).open(place.path)
                case "wb":
                    return self._branch(place).open(place.path, "wb")
                case "xb":
                    file = self._branch(place).open(place.path, "wb", if_absent=True)
                    if self._ref(place).exists(place.path):
                        raise PreconditionFailed(f"there is something at {path!r} already")
                    return file
        raise NotImplementedError(
            f"mode {mode!r}: files here are read ('rb') and written as a whole ('wb'), or only if there is none ('xb')"
        )

    def _file_at(self, path: str) -> Place:
        place = place_of(path)
        if not place.path:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return place

    def _rows(self, place: Place) -> Iterator[Row]:
        if not place.repository:
            return map(_directory, self.lake.repos())
        if not place.ref:
            repository = self.lake.repo(place.repository)
            names = [*(branch.name for branch in repository.branches()), *(tag.name for tag in repository.tags())]
            return (_directory(Place(place.repository, name).name) for name in sorted(names))
        found = self._ref(place).list(_below(place), delimiter="/")
        return (_row(place, each) for each in found if each.path != _below(place))

    def _check_directory(self, place: Place) -> None:
        """Raise if there is no such repository or reference."""
        if place.repository:
            repository = self.lake.repo(place.repository)
            if place.ref:
                repository.ref(place.ref).head()

    def _ref(self, place: Place) -> sync.Ref:
        return self.lake.repo(place.repository).ref(place.ref)

    def _branch(self, place: Place) -> sync.Branch:
        return self.lake.repo(place.repository).branch(place.ref)


@contextmanager
def _in_words_of_files(path: str) -> Iterator[None]:
    """What is not there, or is there already, as callers of file systems know it."""
    try:
        yield
    except (PathNotFound, RefNotFound, RepositoryNotFound, BadExpression) as error:
        raise FileNotFoundError(errno.ENOENT, str(error), path) from error
    except PreconditionFailed as error:
        raise FileExistsError(errno.EEXIST, str(error), path) from error


def _below(place: Place) -> str:
    """What paths begin with that are in the directory *place*."""
    return f"{place.path}/" if place.path else ""


def _row(place: Place, found: Entry | CommonPrefix) -> Row:
    if isinstance(found, CommonPrefix):
        return _directory(Place(place.repository, place.ref, found.path.removesuffix("/")).name)
    return _file(place, found)


def _file(place: Place, entry: Entry) -> Row:
    return {
        "name": Place(place.repository, place.ref, entry.path).name,
        "type": "file",
        "size": entry.size,
        "checksum": entry.checksum,
        "modified": entry.modified,
        "mtime": entry.modified.timestamp(),
        "content_type": entry.content_type,
        "metadata": dict(entry.metadata),
    }


def _directory(name: str) -> Row:
    return {"name": name, "type": "directory", "size": 0}
