"""A DataFrame of entries becomes one commit: executors write its segments, the driver the tree and the commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from headwater.engine.errors import BadRequest
from headwater.engine.limits import MAX_PATH
from headwater.index.schema import batch_of_edits
from headwater.index.tree import Tree
from headwater.pipeline.errors import BadFrame
from headwater.pipeline.frames import COLUMNS, ENTRY, FILES, entry_struct, same_content
from headwater.pipeline.grounds import Ground, ground_of
from headwater.pipeline.mending import mended
from headwater.pipeline.place import Place
from headwater.pipeline.reading import rows_at
from headwater.pipeline.segmenting import write_segments
from headwater.pipeline.touching import Touched, touched

Mode = Literal["merge", "replace"]

REQUIRED: Final = ("path", "address", "size")
"""Columns that a DataFrame of entries must have; of `blocks` instead of an address there may be some, too."""

NO_METADATA: Final[Mapping[str, str]] = {}


class Committed(msgspec.Struct, frozen=True):
    """What was committed."""

    commit: str
    tree: str
    entries: int
    """How many there are at the commit."""

    segments: int
    written: int
    """Segments that are new with this commit: those that rows fell into. The others are as they were."""


def commit_entries(
    frame: DataFrame,
    place: Place,
    branch: str,
    *,
    message: str,
    mode: Mode = "merge",
    prefix: str = "",
    metadata: Mapping[str, str] = NO_METADATA,
    tasks: int | None = None,
) -> Committed:
    """Commit *frame*, a row an entry, to *branch*. Equal entries give the tree that the engine would make of them.

    It has the columns of `ENTRIES`, of which `path`, `address` and `size` are required; *modified* is now if it is not
    told. With `merge` the rows are added to what the branch has, or take its place path by path; with `replace` they
    are all that there is below *prefix* afterwards. What is the same content already stays as it was. A path that
    comes twice is an error, as it says nothing which is meant.

    The frame is read three times: which segments its rows fall into, which range of keys each of *tasks* tasks gets,
    and the rows. Segments that no row falls into are neither read nor written. Nothing shows until the commit has
    landed; run again after a failure, the same segments are written again.
    """
    if mode not in {"merge", "replace"}:
        raise BadRequest(f"mode={mode!r}: it is merge or replace")
    with ground_of(place, branch, frame.sparkSession) as ground:
        rows = rows_of(frame, ground.now(), prefix)
        base = _touched(ground, rows, [FILES + prefix] if mode == "replace" else [])
        if len(base.tree) or len(base.delta):
            rows = _over(_before(ground, frame, base), rows, mode, prefix)
        tree, written = _segmented(ground, rows, base, tasks)
        landed = ground.land(tree.name, message, metadata=metadata)
        return Committed(landed.commit, landed.tree, tree.count, len(tree), written)


def relocate_entries(frame: DataFrame, place: Place, branch: str, *, message: str) -> Committed:
    """Commit entries of *branch* whose bytes lie elsewhere, and of which nothing else is new.

    To `commit_entries` that would be no change. If the branch goes on meanwhile, `ConcurrentCommit`: what the entries
    were made of may not be there any more.
    """
    with ground_of(place, branch, frame.sparkSession) as ground:
        rows = rows_of(frame, ground.now())
        base = _touched(ground, rows)
        before = _before(ground, frame, base).select("key", entry_struct("old"))
        joined = before.join(rows.select("key", entry_struct("new")), "key", "left")
        moved = F.col("new").isNotNull() & same_content("old", "new")
        chosen = F.when(moved, F.col("new")).otherwise(F.col("old")).alias("entry")
        rows = joined.select("key", chosen).select("key", *(F.col(f"entry.{name}").alias(name) for name in COLUMNS))
        tree, written = _segmented(ground, rows, base)
        landed = ground.land(tree.name, message, relocated=True)
        return Committed(landed.commit, landed.tree, tree.count, len(tree), written)


def _touched(ground: Ground, rows: DataFrame, prefixes: Sequence[str] = ()) -> Touched:
    tree = ground.run(ground.index.tree())
    return touched(tree, batch_of_edits(ground.index.delta), rows, prefixes)


def _before(ground: Ground, frame: DataFrame, base: Touched) -> DataFrame:
    """What there is so far where *base* is touched."""
    return rows_at(frame.sparkSession, ground.objects.root, base.before)


def _segmented(ground: Ground, rows: DataFrame, base: Touched, tasks: int | None = None) -> tuple[Tree, int]:
    """The tree that has *rows* in place of what is touched, and how many segments were written for it."""
    tasks = tasks or base.tasks(int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200))
    told = write_segments(rows, ground.objects, tasks, base.bounds)
    tree = ground.run(mended(ground.index.store, told, base.tree, base.kept))
    return tree, len(set(tree.segments) - set(base.tree.segments))


def rows_of(frame: DataFrame, now: int, prefix: str = "") -> DataFrame:
    """*frame* as rows of `ROWS`; a row that no entry can be ends the job, with what is wrong with it."""
    unknown = [name for name in frame.columns if name not in {"path", *COLUMNS}]
    missing = [
        name for name in REQUIRED if name not in frame.columns and not (name == "address" and "blocks" in frame.columns)
    ]
    if unknown or missing:
        raise BadFrame(
            f"a DataFrame of entries has the columns {', '.join(REQUIRED)}, and maybe {', '.join(COLUMNS)}; "
            f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}"
        )
    return frame.select(_key(prefix).alias("key"), *(_told(frame, name, now) for name, _ in ENTRY))


def _key(prefix: str) -> Column:
    path = F.col("path")
    size = F.octet_length(path)
    bad = F.col("path").isNull() | (size < 1) | (size > MAX_PATH) | path.contains("\0") | ~path.startswith(prefix)
    bad = bad | F.col("size").isNull() | (F.col("size") < 0)
    told = F.concat(
        F.lit(
            f"an entry needs a path of 1 to {MAX_PATH} bytes below {prefix!r} without NUL, and a size of 0 or more: "
        ),
        F.coalesce(F.substring(path, 1, 200), F.lit("null")),
    )
    return F.when(bad, F.raise_error(told)).otherwise(F.concat(F.lit(FILES), path))


def _told(frame: DataFrame, name: str, now: int) -> Column:
    kind = dict(ENTRY)[name]
    if name not in frame.columns:
        default: object = {"kind": "object", "modified": now}.get(name)
        return F.lit(default).cast(kind).alias(name)
    column = F.col(name)
    match name:
        case "modified" if dict(frame.dtypes)[name].startswith("timestamp"):
            column = F.coalesce(F.unix_millis(column.cast("timestamp")), F.lit(now))
        case "modified":
            column = F.coalesce(column, F.lit(now))
        case "kind":
            column = F.coalesce(column, F.lit("object"))
    return column.cast(kind).alias(name)


def _over(before: DataFrame, rows: DataFrame, mode: Mode, prefix: str) -> DataFrame:
    """*rows* laid over what was there *before*: the content that is the same stays as it was."""
    joined = before.select("key", entry_struct("old")).join(
        rows.select("key", entry_struct("new")), "key", "full_outer"
    )
    if mode == "replace":
        joined = joined.where(F.col("new").isNotNull() | ~F.col("key").startswith(FILES + prefix))
    keeps = F.col("new").isNull() | (F.col("old").isNotNull() & same_content("old", "new"))
    chosen = F.when(keeps, F.col("old")).otherwise(F.col("new")).alias("entry")
    return joined.select("key", chosen).select("key", *(F.col(f"entry.{name}").alias(name) for name in COLUMNS))
