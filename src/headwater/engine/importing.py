"""Importing: objects that are somewhere already become entries of a branch, in one commit, and no byte of them is read.

What is imported is added to what the branch has, and replaces it where the paths are the same; nothing is removed. Of
two imported objects for one path the later one counts. What is staged on the branch stays staged, on top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headwater.blob import NotFound, Stat
from headwater.blob.limits import MAX_PAGE as BLOB_PAGE
from headwater.drive import together
from headwater.engine.addresses import escaped, is_foreign, located
from headwater.engine.advance import Made, advance
from headwater.engine.commit import Check, Description, told_by_a_diff
from headwater.engine.errors import BadRequest
from headwater.engine.limits import IMPORT_STEP, MAX_IMPORT, MAX_PATH, STATS_TOGETHER
from headwater.engine.paths import FILES, prefix_of
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.index import Index, Kind, apply
from headwater.index.schema import EDITS
from headwater.refs.branch import Branch
from headwater.staging.errors import NothingToCommit

COLUMNS = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("address", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("checksum", pa.string()),
        pa.field("modified", pa.int64()),
        pa.field("content_type", pa.string()),
        pa.field("metadata", pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False))),
    ]
)
"""What a table of entries may have. The first three it must have; *modified* is in milliseconds since 1970, or a
timestamp, and now if it is not told."""

_REQUIRED = COLUMNS.names[:3]


class ImportPrefix(msgspec.Struct, frozen=True):
    """Every object whose URI begins with *source*; what follows that in the URI follows *destination* in the path."""

    source: str
    destination: str = ""


class ImportObject(msgspec.Struct, frozen=True):
    """The object at the URI *source*, at the path *destination*."""

    source: str
    destination: str


async def import_objects(
    repository: Repository,
    branch: str,
    sources: Sequence[ImportPrefix | ImportObject],
    description: Description,
    *,
    gathered: Callable[[int], None] = lambda _: None,
    check: Check | None = None,
) -> Commit:
    """Import *sources*, the later ones replacing the earlier, as one commit on *branch*.

    *gathered* is called with a number of objects whenever so many more have been found in the stores. *check* may
    refuse the commit before it lands.

    A prefix costs its listing, an object one request. Checksums are the etags that the stores tell. URIs are as
    `headwater.blob.open` takes them, with a host and without options: how a place is reached the lake must know.
    """
    repository.check_writable()
    for source in sources:
        check_source(source.source)
    tables = [await listed_under(repository, each, gathered) for each in sources if isinstance(each, ImportPrefix)]
    objects = [each for each in sources if isinstance(each, ImportObject)]
    if objects:
        tables.append(await _told(repository, objects))
        gathered(len(objects))
    if not tables:
        raise BadRequest("nothing to import: name a prefix or an object")
    return await import_table(repository, branch, pa.concat_tables(tables), description, check)


async def import_table(
    repository: Repository, branch: str, entries: Any, description: Description, check: Check | None = None
) -> Commit:
    """Import *entries*, a table with the `COLUMNS`, as one commit on *branch*. What is told of them is believed.

    A table is anything that Arrow understands: a `pyarrow` table or reader, a Polars or pandas frame, a DuckDB
    relation. Rows may come in any order; if they come in the order of their paths, nothing need be sorted.
    `NothingToCommit` if the branch has all of it already.
    """
    repository.check_writable()
    steps = steps_of(as_table(entries), repository.outside.now())

    nothing = f"branch {branch!r} has all that was to be imported already"

    async def make(ground: Branch) -> Made:
        index = await repository.index_of(ground.commit)
        return [ground.commit], await applied(index, steps, nothing)

    return await advance(repository, branch, description, make, check)


async def applied(index: Index, steps: Sequence[pa.RecordBatch], nothing: str) -> Index:
    """*index* after the edits of all *steps*; `NothingToCommit`, saying *nothing*, if they change nothing."""
    changed = 0
    for step in steps:
        index = await apply(index, step)
        changed += index.record.own_count
    if not changed:
        raise NothingToCommit(nothing)
    return index if len(steps) == 1 else told_by_a_diff(index)


def steps_of(table: pa.Table, now: int) -> list[pa.RecordBatch]:
    """The rows of *table*, which has `COLUMNS`, as edits in the order of paths, in parts that are applied at once."""
    return [_edits(step, now) for step in _steps(table, _order(table.column("path")))]


def as_table(entries: Any) -> pa.Table:
    """*entries* as a table that can be imported, or `BadRequest`."""
    try:
        table = entries.read_all() if isinstance(entries, pa.RecordBatchReader) else pa.table(entries)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise BadRequest(f"entries to import are a table, not a {type(entries).__name__}: {error}") from None
    missing = [name for name in _REQUIRED if name not in table.column_names]
    unknown = [name for name in table.column_names if name not in COLUMNS.names]
    if missing or unknown or len(set(table.column_names)) < table.num_columns:
        raise BadRequest(
            f"a table of entries has the columns {', '.join(_REQUIRED)}, and maybe "
            f"{', '.join(COLUMNS.names[3:])}; it has {', '.join(table.column_names)}"
        )
    if table.num_rows > MAX_IMPORT:
        raise BadRequest(f"{table.num_rows} entries to import; {MAX_IMPORT} at most: import them in several parts")
    for place, field in enumerate(table.schema):
        if field.type == pa.string_view():  # what Polars gives, and what Arrow cannot take rows of
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    for name in _REQUIRED:
        if table.column(name).null_count:
            raise BadRequest(f"{table.column(name).null_count} entries have no {name}")
    return table


def _order(paths: pa.ChunkedArray) -> pa.Array | None:
    """The rows in the order of *paths*, the last of equal ones; None if they are so already."""
    import polars as pl  # noqa: PLC0415  (it takes longer to import than most programs take that import no table)

    rows = len(paths)
    keys = pl.Series("path", paths, dtype=pl.String)
    if rows < 2 or bool((keys.slice(1) > keys.slice(0, rows - 1)).all()):
        return None
    ordered = pl.DataFrame({"path": keys}).with_row_index("row").sort("path", "row")
    last = ordered["path"] != ordered["path"].shift(-1, fill_value="")  # no path is empty
    return ordered["row"].filter(last).to_arrow()


def _steps(table: pa.Table, order: pa.Array | None) -> Iterator[pa.Table]:
    """*table* in its *order*, in parts that can be applied at once."""
    rows = table.num_rows if order is None else len(order)
    for start in range(0, rows, IMPORT_STEP):
        yield table.slice(start, IMPORT_STEP) if order is None else table.take(order.slice(start, IMPORT_STEP))


def _edits(step: pa.Table, now: int) -> pa.RecordBatch:
    """The rows of *step* as edits to apply."""
    rows = step.num_rows
    told = {name: _column(step, name) for name in step.column_names}
    paths, sizes = told["path"], told["size"]
    _check_paths(paths)
    if rows and pc.min(sizes).as_py() < 0:
        raise BadRequest(f"an object has 0 bytes or more: {pc.min(sizes)} is the size of one")
    columns = {
        **told,
        "key": pc.binary_join_element_wise(pa.scalar(FILES), paths, ""),
        "kind": pa.repeat(pa.scalar(str(Kind.OBJECT)), rows),
        "modified": pc.fill_null(told["modified"], now) if "modified" in told else pa.repeat(pa.scalar(now), rows),
        "removed": pa.repeat(pa.scalar(value=False), rows),
    }
    arrays = [columns[field.name] if field.name in columns else pa.nulls(rows, field.type) for field in EDITS]
    return pa.RecordBatch.from_arrays(arrays, schema=EDITS)


def _column(step: pa.Table, name: str) -> pa.Array:
    column, kind = step.column(name), COLUMNS.field(name).type
    try:
        if name == "modified" and pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms", column.type.tz), safe=False)
        chunks = column.chunks if column.type == kind else column.cast(kind).chunks
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays([pa.array([], kind), *chunks])
    except pa.ArrowException as error:
        raise BadRequest(f"column {name} of the entries: {error}") from None


def _check_paths(paths: pa.Array) -> None:
    if not len(paths):
        return
    sizes = pc.min_max(pc.binary_length(paths)).as_py()
    if not 1 <= sizes["min"] <= sizes["max"] <= MAX_PATH:
        raise BadRequest(f"paths to import have {sizes['min']} to {sizes['max']} bytes; they must have 1 to {MAX_PATH}")
    if pc.any(pc.match_substring(paths, "\0")).as_py():
        raise BadRequest("a path to import has a NUL character, which no path may have")


def check_source(source: str) -> None:
    if not is_foreign(source):
        raise BadRequest(f"{source!r}: a source is a URI, as s3://bucket/prefix/ or file:///directory/")
    if "?" in source or "#" in source:
        raise BadRequest(f"{source.partition('?')[0]!r}: a source has no options; write ? as %3F and # as %23")


async def listed_under(
    repository: Repository, prefix: ImportPrefix, gathered: Callable[[int], None] = lambda _: None
) -> pa.Table:
    """What is under *prefix*, page by page."""
    prefix_of(prefix.destination)  # raises unless a path may begin so
    directory, _, beginning = prefix.source.rpartition("/")
    beginning = unquote(beginning)
    blobs = await repository.open_blobs(directory)
    batches: list[pa.RecordBatch] = []
    count = 0
    async for page in blobs.list(beginning, page=BLOB_PAGE):
        stats = [each for each in page if isinstance(each, Stat)]
        names = pa.array([each.name for each in stats], pa.string())
        rest = pc.binary_join_element_wise(prefix.destination, pc.utf8_slice_codeunits(names, len(beginning)), "")
        addresses = pc.binary_join_element_wise(directory, escaped(names), "/")
        batches.append(_batch(rest, addresses, stats))
        count += len(stats)
        gathered(len(stats))
        if count > MAX_IMPORT:
            raise BadRequest(f"{prefix.source!r} has more than {MAX_IMPORT} objects: import it in several parts")
    return pa.Table.from_batches(batches, schema=_LISTED)


async def _told(repository: Repository, objects: Sequence[ImportObject]) -> pa.Table:
    """What the stores know of *objects*, some asked for at a time."""
    stats: list[Stat] = []
    for start in range(0, len(objects), STATS_TOGETHER):
        some = objects[start : start + STATS_TOGETHER]
        stats += await together([partial(_stat, repository, each.source) for each in some])
    paths = pa.array([each.destination for each in objects], pa.string())
    addresses = pa.array([each.source for each in objects], pa.string())
    return pa.Table.from_batches([_batch(paths, addresses, stats)], schema=_LISTED)


async def _stat(repository: Repository, source: str) -> Stat:
    blobs, name = await located(repository, source)
    found = await blobs.stat(name)
    if found is None:
        raise NotFound(f"there is no object at {source!r} to import")
    return found


_LISTED = pa.schema([COLUMNS.field(name) for name in COLUMNS.names[:5]])


def _batch(paths: pa.Array, addresses: pa.Array, stats: Sequence[Stat]) -> pa.RecordBatch:
    columns = [
        paths,
        addresses,
        pa.array([each.size for each in stats], pa.int64()),
        pc.utf8_trim(pa.array([each.etag for each in stats], pa.string()), '"'),
        pa.array([each.modified for each in stats], pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_LISTED)
