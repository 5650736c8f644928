"""`spark.read.format("headwater")`: entries, differences, history and references for who writes SQL.

Filters on `path` choose segments: `path LIKE 'a/b/%'` opens those of that prefix, `path = 'a'` one. Tasks read segments
themselves and hand Arrow batches to the JVM. `headwater.pipeline.entries` has the JVM read them, and is faster still.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    In,
    InputPartition,
    StringStartsWith,
)

from headwater.engine.errors import BadRequest
from headwater.index import Index, IndexStore, diff_batches
from headwater.index.comparing import Aligned
from headwater.index.joining import lay_over
from headwater.index.keys import after_prefix
from headwater.index.rows import Rows
from headwater.index.schema import EDITS, NO_ROWS
from headwater.pipeline.describing import COMMITS, REFS, log_at, refs_at
from headwater.pipeline.frames import COLUMNS, ENTRIES, FILES
from headwater.pipeline.limits import SEGMENTS_A_TASK
from headwater.pipeline.place import Objects, Place, opened
from headwater.pipeline.reading import indexes_of
from headwater.pipeline.remote import served
from headwater.pipeline.snapshots import Snapshot, snapshot, snapshot_of
from headwater.sdk.sync.running import Runner

SIDE = T.StructType([*ENTRIES.fields[1:]])
CHANGES = T.StructType(
    [
        T.StructField("path", T.StringType()),
        T.StructField("change", T.StringType()),
        T.StructField("left", SIDE),
        T.StructField("right", SIDE),
    ]
)
VIEWS: Final = {"entries": ENTRIES, "diff": CHANGES, "log": COMMITS, "refs": REFS}

_PLACES: Final = ("repo", "lake", "kv", "storage", "endpoint")
_CREDENTIALS: Final = ("access_key_id", "secret_access_key", "session_token")


def register(spark: SparkSession) -> None:
    """Make the format `headwater` known to *spark*, and have it hand filters down."""
    spark.dataSource.register(HeadwaterSource)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")


class HeadwaterSource(DataSource):
    """Options: `repo`; `lake`, or `kv` and `storage`, or `endpoint`, with `key` and `secret`, and maybe `storage`.

    And `ref` (`main`), `view` (`entries`); of a diff `left` and `right`. `staged` (`false`) adds what is staged to
    entries, `prefix` limits them. Keys of the object store are `access_key_id`, `secret_access_key`, `session_token`.
    """

    @classmethod
    def name(cls) -> str:
        return "headwater"

    def schema(self) -> T.StructType:
        return VIEWS[self._view()]

    def reader(self, schema: T.StructType) -> DataSourceReader:  # noqa: ARG002  (it is ours)
        view = self._view()
        return _Reader(view, self._place(), {name: str(value) for name, value in self.options.items()})

    def _view(self) -> str:
        view = self.options.get("view", "entries")
        if view not in VIEWS:
            raise BadRequest(f"view={view!r}: it is one of {', '.join(VIEWS)}")
        return str(view)

    def _place(self) -> Place:
        if "repo" not in self.options:
            raise BadRequest("repo: name the repository")
        keys: dict[str, str] = {name: self.options[name] for name in _CREDENTIALS if name in self.options}
        return Place(
            **{name: self.options.get(name) for name in _PLACES},  # type: ignore[arg-type]  # repo is there
            storage_credentials=keys,
            key=self.options.get("key", ""),
            secret=self.options.get("secret", ""),
        )


class _Range(msgspec.Struct, frozen=True):
    """What a filter asks for: keys from *start* up to *stop*; or with *below*, those that begin with *start*."""

    start: str
    stop: str
    below: bool = False

    @property
    def prefix(self) -> str:
        """What all of these keys begin with."""
        if self.below:
            return self.start
        pairs = zip(self.start, self.stop, strict=False)
        return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


class _Part(InputPartition):
    """What one task reads: some segments, and the edits between their first and last key."""

    def __init__(self, objects: Objects, segments: tuple[str, ...], edits: bytes) -> None:
        super().__init__(0)
        self.objects = objects
        self.segments = segments
        self.edits = edits


class _Listing(InputPartition):
    """What one task asks a server for: entries whose keys begin with *prefix*."""

    def __init__(self, ref: str, prefix: str) -> None:
        super().__init__(0)
        self.ref = ref
        self.prefix = prefix


class _Reader(DataSourceReader):
    def __init__(self, view: str, place: Place, options: dict[str, str]) -> None:
        self._view = view
        self._place = place
        self._options = options
        self._start = FILES + options.get("prefix", "")
        self._keys: list[_Range] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802  (Spark's name)
        """Note what filters say of the path. Spark applies all of them all the same: ours open fewer segments."""
        for each in filters:
            if self._view == "entries" and (found := _range_of(each)) is not None:
                self._keys.append(found)
            yield each

    def partitions(self) -> list[InputPartition]:
        if self._view != "entries":
            return [InputPartition(0)]
        if self._place.endpoint is not None:
            return self._parts_on_server()
        with opened(self._place) as driver:
            found = driver.run(snapshot(driver.repository, self._ref, prefix=self._prefix(), staged=self._staged))
            return list(_parts(driver.objects, found))

    def _parts_on_server(self) -> list[InputPartition]:
        """Tasks that read segments, where they are in reach; else one, which asks the server for a listing."""
        with served(self._place) as remote:
            if self._staged:
                return [_Listing(self._ref, self._prefix())]
            told = remote.made_of(self._ref)
            if not remote.in_reach:
                return [_Listing(told.commit, self._prefix())]
            found = remote.run(snapshot_of(remote.index(told), told.commit, self._prefix()))
            return list(_parts(remote.objects(), found))

    @property
    def _ref(self) -> str:
        return self._options.get("ref", "main")

    @property
    def _staged(self) -> bool:
        return self._options.get("staged", "false").lower() == "true"

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, _Part):
            yield from self._read_entries(partition)
            return
        if isinstance(partition, _Listing):
            with served(self._place) as remote:
                rows = remote.listing(partition.ref, partition.prefix.removeprefix(FILES), staged=True)
            for batch in rows.to_batches():
                yield from _shown(batch, partition.prefix)
            return
        match self._view:
            case "log":
                yield from log_at(self._place, self._ref, None).to_batches()
            case "refs":
                yield from refs_at(self._place).to_batches()
            case _:
                yield from map(_changes_shown, self._changes())

    def _prefix(self) -> str:
        """The longest prefix that every key which is asked for has."""
        prefix = self._start
        for each in self._keys:
            if each.prefix.startswith(prefix):
                prefix = each.prefix
        return prefix

    def _read_entries(self, part: _Part) -> Iterator[pa.RecordBatch]:
        """Rows of segments that no edit tells otherwise; a task without segments gives what the edits add."""
        edits = pa.ipc.open_stream(part.edits).read_all().combine_chunks().to_batches()
        told = edits[0] if edits else None
        if not part.segments:
            if told is not None:
                yield from _shown(lay_over(NO_ROWS, told), self._prefix())
            return
        runner = Runner()
        try:
            blobs = runner.run_on_loop(part.objects.open())
            store = IndexStore(blobs)
            for name in part.segments:
                rows = runner.run_on_loop(store.rows(name)).batch
                if told is not None:
                    rows = rows.filter(pc.invert(pc.is_in(rows.column("key"), value_set=told.column("key"))))
                yield from _shown(rows, self._prefix())
            runner.run_on_loop(blobs.aclose())
        finally:
            runner.close()

    def _changes(self) -> list[Aligned]:
        for name in ("left", "right"):
            if name not in self._options:
                raise BadRequest(f"{name}: a diff has a left and a right")
        sides = self._options["left"], self._options["right"]
        if self._place.endpoint is None:
            with opened(self._place) as driver:
                left, right = driver.run(indexes_of(driver.repository, *sides))
                return driver.run(_differing(left, right, self._start))
        with served(self._place) as remote:
            if remote.in_reach:
                left, right = (remote.index(remote.made_of(ref)) for ref in sides)
                return remote.run(_differing(left, right, self._start))
            return [_aligned(*remote.changes(*sides, self._start.removeprefix(FILES)))]


async def _differing(left: Index, right: Index, prefix: str) -> list[Aligned]:
    return [each.filter(pc.starts_with(each.keys, prefix)) async for each in diff_batches(left, right)]


def _aligned(left: pa.RecordBatch, right: pa.RecordBatch) -> Aligned:
    """The rows of both sides, by key."""
    keys = pc.unique(pa.concat_arrays([left.column("key"), right.column("key")]))
    keys = keys.take(pc.sort_indices(keys))
    ours, theirs = (side.take(pc.index_in(keys, value_set=side.column("key"))) for side in (left, right))
    return Aligned(keys, ours, theirs)


def _changes_shown(changes: Aligned) -> pa.RecordBatch:
    left, right = _struct(changes.left), _struct(changes.right)
    change = pc.if_else(left.is_null(), "added", pc.if_else(right.is_null(), "removed", "changed"))
    path = pc.utf8_slice_codeunits(changes.keys, len(FILES))
    return pa.RecordBatch.from_arrays([path, change, left, right], names=CHANGES.names)


def _parts(objects: Objects, found: Snapshot) -> Iterator[_Part]:
    """Tasks of some segments each. Each has all edits, as there are few; one more gives what they add."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, EDITS) as stream:
        stream.write_batch(found.edits)
    edits = sink.getvalue().to_pybytes()
    for start in range(0, len(found.segments), SEGMENTS_A_TASK):
        yield _Part(objects, found.segments[start : start + SEGMENTS_A_TASK], edits)
    if len(found.edits):
        yield _Part(objects, (), edits)


def _range_of(each: Filter) -> _Range | None:
    """The keys that a filter on the path lets through."""
    match each:
        case StringStartsWith(("path",), str(value)):
            return _Range(FILES + value, FILES + value, below=True)
        case EqualTo(("path",), str(value)):
            return _Range(FILES + value, FILES + value)
        case In(("path",), values) if values and all(isinstance(value, str) for value in values):
            return _Range(FILES + min(values), FILES + max(values))
        case _:
            return None


def _shown(rows: pa.RecordBatch, prefix: str) -> Iterator[pa.RecordBatch]:
    """*rows* as users see them, those with the key *prefix* alone."""
    places = Rows(rows)
    stop = after_prefix(prefix)
    first, last = places.position(prefix), len(rows) if stop is None else places.position(stop)
    rows = rows.slice(first, last - first)
    if len(rows):
        path = pc.utf8_slice_codeunits(rows.column("key"), len(FILES))
        yield pa.RecordBatch.from_arrays([path, *_columns(rows)], names=["path", *COLUMNS])


def _columns(rows: pa.RecordBatch) -> list[pa.Array]:
    found = []
    for name in COLUMNS:
        column = rows.column(name)
        if name == "modified":
            column = column.cast(pa.timestamp("ms")).cast(pa.timestamp("us", "UTC"))
        found.append(column.cast(pa.binary()) if name == "content_id" else column)
    return found


def _struct(side: pa.RecordBatch) -> pa.Array:
    return pa.StructArray.from_arrays(_columns(side), names=list(COLUMNS), mask=side.column("kind").is_null())
