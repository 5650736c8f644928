"""How far a job of Spark is: on a terminal, a bar for each stage that runs. Spark's own status tracker tells."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from headwater.cli.session import session

if TYPE_CHECKING:
    from pyspark import StatusTracker
    from pyspark.sql import SparkSession
    from rich.progress import Progress, TaskID

EVERY = 0.2
"""Seconds between two looks: a bar that moves five times a second moves, and a look asks the JVM for little."""


@contextmanager
def stage_bars(spark: SparkSession) -> Iterator[None]:
    """Draw bars while *spark* works within; nothing where nobody looks, or a machine does."""
    if session().json or not sys.stderr.isatty():
        yield
        return
    tracker, over = spark.sparkContext.statusTracker(), Event()
    with _progress() as progress:
        drawing = Thread(target=_draw, args=[tracker, progress, over], name="stages of Spark", daemon=True)
        drawing.start()
        try:
            yield
        finally:
            over.set()
            drawing.join()


def _draw(tracker: StatusTracker, progress: Progress, over: Event) -> None:
    """Until it is *over*. A stage that ended has no bar any more: what it was for, the next one goes on with."""
    bars: dict[int, TaskID] = {}
    while not over.wait(EVERY):
        active = sorted(tracker.getActiveStageIds())
        for stage in bars.keys() - set(active):
            progress.remove_task(bars.pop(stage))
        for stage in active:
            told = tracker.getStageInfo(stage)
            if told is None:
                continue
            if stage not in bars:
                bars[stage] = progress.add_task(f"stage {stage}", total=told.numTasks)
            progress.update(bars[stage], completed=told.numCompletedTasks, total=told.numTasks)


def _progress() -> Progress:
    from rich.console import Console  # noqa: PLC0415  (only a terminal needs it)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True, no_color=not session().colored)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tasks"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True)
