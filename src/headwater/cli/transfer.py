"""Doing something with very many files: several at a time, with a bar that shows how far it is.

A file that fails is told of, and the others go on: who has sent 99,999 files has not failed because of one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import click
import msgspec

from headwater.cli.exits import Exit, in_a_line
from headwater.cli.limits import AHEAD, FAILURES
from headwater.cli.session import session
from headwater.cli.showing import many
from headwater.cli.sizes import readable
from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from rich.progress import Progress

Task = TypeVar("Task")

Count = Callable[[int], None]
"""Told of so many bytes more."""


class Failure(msgspec.Struct, frozen=True):
    """A file that something went wrong with."""

    path: str
    error: str


class Transferred(msgspec.Struct, frozen=True):
    """What came of it."""

    files: int
    bytes: int
    failed: list[Failure]


def transfer(
    what: str, tasks: Iterable[Task], do: Callable[[Task, Count], int], *, name: Callable[[Task], str], jobs: int
) -> Transferred:
    """*do* every task, *jobs* at a time; it answers how many bytes that were. *what* is said beside the bar."""
    files = total = 0
    failed: list[Failure] = []
    with _bar(what) as bar, ThreadPoolExecutor(jobs) as pool:
        for task, done in _completed(pool, tasks, lambda task: do(task, bar.count), jobs * AHEAD):
            try:
                total += done.result()
                files += 1
                bar.say(files)
            except (HeadwaterError, OSError, UnicodeError) as error:
                failed.append(Failure(name(task), in_a_line(error)))
                if len(failed) <= FAILURES:
                    session().warn(f"{name(task)}: {in_a_line(error)}")
    if len(failed) > FAILURES:
        session().warn(f"and {len(failed) - FAILURES} more")
    return Transferred(files, total, failed)


def tell(result: Transferred, verb: str) -> None:
    """Show what came of it, and end with a status that tells if something failed."""
    sentence = f"{verb} {many(result.files, 'file')}, {readable(result.bytes)}"
    if result.failed:
        sentence += f"; {len(result.failed)} failed"
    session().output.done(result, sentence)
    if result.failed:
        click.get_current_context().exit(Exit.FAILED)


def _completed(
    pool: ThreadPoolExecutor, tasks: Iterable[Task], do: Callable[[Task], int], ahead: int
) -> Iterator[tuple[Task, Future[int]]]:
    """Tasks as they are done, at most *ahead* of which wait or run at any time."""
    remaining = iter(tasks)
    running = {pool.submit(do, task): task for task in islice(remaining, ahead)}
    try:
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future
            running |= {pool.submit(do, task): task for task in islice(remaining, len(done))}
    finally:
        for future in running:
            future.cancel()


class _Bar(msgspec.Struct, frozen=True):
    """Is told how it goes: of bytes as they come and go, and of how many files are done."""

    count: Count
    say: Count


@contextmanager
def _bar(what: str) -> Iterator[_Bar]:
    """How much there was so far, and how fast, on a terminal; nothing elsewhere.

    There is no end to draw it towards: a tree is not gone through twice to know how much is in it.
    """
    if session().json or not sys.stderr.isatty():
        yield _Bar(lambda _: None, lambda _: None)
        return
    with _progress() as progress:
        task = progress.add_task(what, total=None)
        yield _Bar(
            lambda more: progress.advance(task, more),
            lambda files: progress.update(task, description=f"{what}: {many(files, 'file')}"),
        )


@contextmanager
def listing(what: str) -> Iterator[Count]:
    """Is told how many objects were listed so far, and shows it on a terminal; nothing elsewhere."""
    if session().json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  (only a terminal needs it)

    with Console(stderr=True, no_color=not session().colored).status(what) as shown:
        yield lambda count: shown.update(f"{what}: {many(count, 'object')}")


def _progress() -> Progress:
    from rich.console import Console  # noqa: PLC0415  (only a terminal needs it)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True, no_color=not session().colored)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True)
