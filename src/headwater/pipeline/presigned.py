"""Data by URLs that a server had signed: for a cluster without rights of its own on the object store.

Spark has no reader for them. So executors read Parquet through Arrow: of a file its footer and its column chunks, in a
request for each run of bytes, row group by row group. What Spark's own reader leaves out by columns or by statistics is
read here all the same.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import httpcore
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from headwater.pipeline.errors import NotInPlace
from headwater.pipeline.limits import BATCH_ROWS, PRESIGNED_TASKS

FILE = "_file"
"""The column of the path that a row is from."""

FILES_SCHEMA = "path string, url string, size long"

_PARTIAL = 206
_FORBIDDEN = 403


def read_presigned(spark: SparkSession, files: Sequence[tuple[str, str, int]]) -> DataFrame:
    """The rows of Parquet *files*: paths, URLs, sizes. All have the columns of the first, or null; and `FILE`."""
    for path, url, _ in files:
        if urlsplit(url).scheme not in {"http", "https"}:
            raise NotInPlace(f"the storage of {path!r} signs no URLs: give executors rights on it, without presigned=")
    _, url, size = files[0]
    with Ranges(url, size) as file:
        fields = from_arrow_schema(pq.ParquetFile(file).schema_arrow).fields
    schema = T.StructType([*fields, T.StructField(FILE, T.StringType())])
    wanted = to_arrow_schema(schema)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                with Ranges(row["url"], row["size"]) as source:
                    for rows in pq.ParquetFile(source, pre_buffer=True).iter_batches(BATCH_ROWS):
                        yield _as(wanted, rows, row["path"])

    tasks = min(len(files), PRESIGNED_TASKS)
    return spark.createDataFrame(list(files), FILES_SCHEMA).repartition(tasks).mapInArrow(read, schema)


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
