"""All work on very many entries at once, as Spark jobs over the files that a repository keeps: `docs/pipeline.md`.

Nothing of Spark is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.pipeline.checking import check_objects as check_objects
    from headwater.pipeline.committing import commit_entries as commit_entries
    from headwater.pipeline.counting import count_entries as count_entries
    from headwater.pipeline.data import read as read
    from headwater.pipeline.deduplicating import deduplicate as deduplicate
    from headwater.pipeline.describing import commits as commits
    from headwater.pipeline.describing import log as log
    from headwater.pipeline.describing import refs as refs
    from headwater.pipeline.errors import BadFrame as BadFrame
    from headwater.pipeline.errors import PipelineError as PipelineError
    from headwater.pipeline.exporting import export as export
    from headwater.pipeline.garbage import collect_garbage as collect_garbage
    from headwater.pipeline.garbage import plan_garbage as plan_garbage
    from headwater.pipeline.place import Place as Place
    from headwater.pipeline.reading import diff as diff
    from headwater.pipeline.reading import entries as entries
    from headwater.pipeline.reading import search as search
    from headwater.pipeline.source import register as register
    from headwater.pipeline.statistics import stats as stats
    from headwater.pipeline.sweeping import sweep_garbage as sweep_garbage
    from headwater.pipeline.writing import stream_into as stream_into
    from headwater.pipeline.writing import write as write

_HOMES = {
    "source": ("register",),
    "statistics": ("stats",),
    "garbage": (
        "collect_garbage",
        "plan_garbage",
    ),
    "sweeping": ("sweep_garbage",),
    "exporting": ("export",),
    "deduplicating": ("deduplicate",),
    "checking": ("check_objects",),
    "committing": ("commit_entries",),
    "counting": ("count_entries",),
    "data": ("read",),
    "describing": ("commits", "log", "refs"),
    "errors": ("BadFrame", "PipelineError"),
    "place": ("Place",),
    "reading": ("diff", "entries", "search"),
    "writing": ("stream_into", "write"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"headwater.pipeline.{home}"), name)
    raise AttributeError(f"module 'headwater.pipeline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for names in _HOMES.values() for name in names)})
