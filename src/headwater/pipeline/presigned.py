"""Data by URLs that a server had signed: for a cluster without rights of its own on the object store.

Spark has no reader for them. So executors read Parquet through Arrow: of a file its footer, and of the row groups in
which the conditions may hold, by their statistics, the columns that are asked for; in a request for each run of bytes.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from urllib.parse import urlsplit

import httpcore
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from headwater.engine.errors import BadRequest
from headwater.pipeline.conditions import Condition, as_expression
from headwater.pipeline.errors import NotInPlace
from headwater.pipeline.limits import BATCH_ROWS, PRESIGNED_TASKS

FILE = "_file"
"""The column of the path that a row is from."""

FILES_SCHEMA = "path string, url string, size long"

_PARTIAL = 206
_FORBIDDEN = 403


def read_presigned(
    spark: SparkSession,
    files: Sequence[tuple[str, str, int]],
    *,
    columns: Collection[str] | None = None,
    where: Sequence[Condition] = (),
) -> DataFrame:
    """The rows of Parquet *files*: paths, URLs, sizes. All have the columns of the first, or null; and `FILE`.

    Of the *columns* those that the first file has, or all of them. Row groups in which *where* holds of no row, as far
    as their statistics tell, are not read; of the others come all rows.
    """
    for path, url, _ in files:
        if urlsplit(url).scheme not in {"http", "https"}:
            raise NotInPlace(f"the storage of {path!r} signs no URLs: give executors rights on it, without presigned=")
    _, url, size = files[0]
    with Ranges(url, size) as file:
        fragment = _fragment(file)
        try:
            _row_groups(fragment, where)
        except pa.ArrowException as error:
            raise BadRequest(f"where: {str(error).splitlines()[0]}") from None
        fields = from_arrow_schema(fragment.metadata.schema.to_arrow_schema()).fields
    wanted_fields = [field for field in fields if columns is None or field.name in columns]
    schema = T.StructType([*wanted_fields, T.StructField(FILE, T.StringType())])
    wanted = to_arrow_schema(schema)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                with Ranges(row["url"], row["size"]) as source:
                    yield from _rows(source, row["path"], wanted, where)

    tasks = min(len(files), PRESIGNED_TASKS)
    return spark.createDataFrame(list(files), FILES_SCHEMA).repartition(tasks).mapInArrow(read, schema)


def _rows(source: Ranges, path: str, wanted: pa.Schema, where: Sequence[Condition]) -> Iterator[pa.RecordBatch]:
    fragment = _fragment(source)
    groups = _row_groups(fragment, where)
    if not groups:
        return
    metadata = fragment.metadata
    names = [name for name in metadata.schema.to_arrow_schema().names if name in wanted.names]
    file = pq.ParquetFile(source, metadata=metadata, pre_buffer=True)
    for rows in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=names):
        yield _as(wanted, rows, path)


def _fragment(source: Ranges) -> ds.ParquetFileFragment:
    return ds.ParquetFileFormat().make_fragment(source)


def _row_groups(fragment: ds.ParquetFileFragment, where: Sequence[Condition]) -> list[int]:
    """The row groups in which *where* may hold."""
    expression = as_expression(where, fragment.metadata.schema.to_arrow_schema().names)
    if expression is None:
        return list(range(fragment.num_row_groups))
    return [group.id for part in fragment.split_by_row_group(expression) for group in part.row_groups]


def _as(schema: pa.Schema, rows: pa.RecordBatch, path: str) -> pa.RecordBatch:
    columns = []
    for field in schema:
        if field.name == FILE:
            columns.append(pa.array([path] * len(rows), field.type))
        elif field.name in rows.schema.names:
            columns.append(rows.column(field.name).cast(field.type))
        else:
            columns.append(pa.nulls(len(rows), field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class Ranges(io.RawIOBase):
    """An object behind a URL, as a file of *size* bytes: what is read is asked for, over one connection."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        self._size = size
        self._at = 0
        self._pool = httpcore.ConnectionPool(max_connections=1)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        end = self._size if size is None or size < 0 else min(self._at + size, self._size)
        if end <= self._at:
            return b""
        answer = self._pool.request("GET", self._url, headers={"range": f"bytes={self._at}-{end - 1}"})
        if answer.status == _FORBIDDEN:
            raise NotInPlace("the object store refused a presigned URL: it has expired, so read the path again")
        if answer.status != _PARTIAL or len(answer.content) != end - self._at:
            raise NotInPlace(f"the object store answered {answer.status} where a range of bytes was asked for")
        self._at = end
        return answer.content

    def close(self) -> None:
        self._pool.close()
        super().close()
