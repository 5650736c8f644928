"""What can be read of a branch, a tag, a commit or an expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from io import TextIOWrapper
from typing import Literal, overload

import pyarrow as pa

from headwater.engine.errors import BadRequest
from headwater.engine.merge import Appends
from headwater.sdk import aio
from headwater.sdk.describing import NO_METADATA, NO_PREFIXES, Behaviour, Strategy
from headwater.sdk.results import Child, Commit, Committish, CommonPrefix, Entry, Walked
from headwater.sdk.sync.files import Reader
from headwater.sdk.sync.running import Runner


class Ref:
    """What can be read of a branch, a tag, a commit or an expression. It is first looked at when it is used."""

    def __init__(self, runner: Runner, ref: aio.Ref) -> None:
        self._runner = runner
        self._run = runner.run
        self._ref = ref

    def __repr__(self) -> str:
        return repr(self._ref)

    @property
    def expression(self) -> str:
        return self._ref.expression

    def head(self) -> Commit:
        """The commit that it means; of a branch, the last one."""
        return self._run(self._ref.head())

    def get(self, path: str, *, start: int = 0, end: int | None = None) -> bytes:
        """The bytes at *path*, or those from *start* up to *end*; `PathNotFound` if there is nothing."""
        return self._run(self._ref.get(path, start=start, end=end))

    def stat(self, path: str) -> Entry:
        """What is at *path*, or `PathNotFound`."""
        return self._run(self._ref.stat(path))

    def exists(self, path: str) -> bool:
        return self._run(self._ref.exists(path))

    @overload
    def open(self, path: str, mode: Literal["rb"] = ...) -> Reader: ...
    @overload
    def open(
        self, path: str, mode: Literal["r"], *, encoding: str = ..., newline: str | None = ...
    ) -> TextIOWrapper: ...
    def open(
        self, path: str, mode: Literal["rb", "r"] = "rb", *, encoding: str = "utf-8", newline: str | None = None
    ) -> Reader | TextIOWrapper:
        """The file at *path*, to be read piece by piece: as it is now, whatever is written there meanwhile."""
        if mode not in {"rb", "r"}:
            raise BadRequest(
                f"mode {mode!r}: a file here is opened with 'rb' or 'r'; on a branch also with 'wb' or 'w'"
            )
        file = Reader(self._runner, self._run(self._ref.reading(path)))
        return file if mode == "rb" else TextIOWrapper(file, encoding, newline=newline)

    @overload
    def list(self, prefix: str = ..., *, after: str = ...) -> Iterator[Entry]: ...
    @overload
    def list(self, prefix: str = ..., *, delimiter: str, after: str = ...) -> Iterator[Entry | CommonPrefix]: ...
    def list(
        self, prefix: str = "", *, delimiter: str = "", after: str = ""
    ) -> Iterator[Entry] | Iterator[Entry | CommonPrefix]:
        """What is under *prefix*, in the order of paths; from behind *after*, if that is given.

        With *delimiter*, what has it after the prefix is rolled up into one `CommonPrefix`, at no cost by its size.
        """
        return self._runner.iterate(self._ref.list(prefix, delimiter=delimiter, after=after))

    def list_dir(self, path: str = "", *, totals: bool = False) -> Iterator[Child]:
        """What is in the directory *path*, files and directories, in order; `PathNotFound` if there is none.

        With *totals*, a directory comes with the bytes and number of all files below it: that looks at all of them.
        """
        return self._runner.iterate(self._ref.list_dir(path, totals=totals))

    def walk(self, path: str = "") -> Iterator[Walked]:
        """The directory *path* and all below it, each before those in it, as `os.walk` does."""
        return self._runner.iterate(self._ref.walk(path))

    def glob(self, pattern: str) -> Iterator[Entry]:
        """The files whose paths match *pattern*: `*`, `?` and `[…]` within a name, `**` for any directories."""
        return self._runner.iterate(self._ref.glob(pattern))

    def history(self, path: str) -> Iterator[Commit]:
        """The commits that changed *path*, newest first, along first parents.

        In an append repository it costs as many as there are; in one of objects it is a log that is filtered.
        """
        return self._runner.iterate(self._ref.history(path))

    def log(
        self,
        *,
        paths: Sequence[str] = (),
        first_parents: bool = True,
        since: datetime | None = None,
        until: datetime | None = None,
        stop_at: Committish | None = None,
    ) -> Iterator[Commit]:
        """The commits that led here, newest first.

        With *paths*, only those that changed something there; a path that ends in a slash means all below it. Merged
        histories are left out unless *first_parents* is false. It ends behind *stop_at*.
        """
        pages = self._ref.log(paths=paths, first_parents=first_parents, since=since, until=until, stop_at=stop_at)
        return self._runner.iterate(pages)

    def as_arrow(self, prefix: str = "") -> pa.Table:
        """The listing of all that is under *prefix* as an Arrow table: for what asks about very many entries."""
        return self._run(self._ref.as_arrow(prefix))

    def merge_into(
        self,
        destination: Committish,
        message: str | None = None,
        *,
        strategy: Strategy = "report",
        squash: bool = False,
        prefixes: Mapping[str, Behaviour] = NO_PREFIXES,
        merge_appends: Appends = "conflict",
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> Commit:
        """Bring what was committed here to the branch *destination*, in one commit there.

        `MergeConflict` if both changed a path to different content, unless *strategy* says who wins. *prefixes* say for
        paths below them to take this side's changes whatever the other did (`force`), or none of them (`drop`). A file
        that both appended to is with *merge_appends* `ours-then-theirs` what the destination has, then what this adds.
        """
        merging = self._ref.merge_into(
            destination,
            message,
            strategy=strategy,
            squash=squash,
            prefixes=prefixes,
            merge_appends=merge_appends,
            metadata=metadata,
        )
        return self._run(merging)
