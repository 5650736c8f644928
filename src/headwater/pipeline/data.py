"""Reading data where it lies: a path of a reference is resolved to objects, which Spark reads itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Unpack
from urllib.parse import quote, unquote

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from headwater.engine.addresses import is_foreign
from headwater.engine.bulk import batches
from headwater.engine.errors import BadRequest, PathNotFound
from headwater.engine.paths import path_of
from headwater.engine.repository import Repository
from headwater.index import Entry
from headwater.index.schema import entries_of
from headwater.pipeline.conditions import Condition, as_column, check_conditions, may_hold
from headwater.pipeline.errors import NotInPlace
from headwater.pipeline.place import Objects, Place, Where, hadoop_path, opened, split_uri
from headwater.pipeline.presigned import FILE, read_presigned
from headwater.pipeline.remote import pages, served
from headwater.sdk.ports import Found

HIVE_NULL: Final = "__HIVE_DEFAULT_PARTITION__"

NOTHING: Final[Mapping[str, str]] = {}


def read(
    spark: SparkSession,
    place: Place | str,
    ref: str = "",
    path: str = "",
    *,
    format: str = "parquet",  # noqa: A002  (Spark's word)
    options: Mapping[str, str] = NOTHING,
    columns: Sequence[str] = (),
    where: Sequence[Condition] = (),
    presigned: bool = False,
    **lake: Unpack[Where],
) -> DataFrame:
    """The data of the files at or below *path* of *ref*, staged ones too: their bytes do not pass through any server.

    Instead of a place, *ref* and *path* a URI says it all, `hw://repository/ref/path`, of the lake that is told by
    `lake=`, or `endpoint=`, `key=` and `secret=`. Directories named `column=value` become columns, as they do anywhere.
    Of *columns* those are answered, of all rows those of which every condition *where* holds, as `("day", ">=", 5)`.
    `PathNotFound` if there is nothing.

    With *presigned* executors need no rights of their own: Parquet is read by URLs that the server had signed. What a
    plan of Spark asks for later, such a reader cannot know: only what *columns* and *where* leave out, is not read.
    """
    check_conditions(where)
    if isinstance(place, str):
        if ref or path:
            raise BadRequest(f"{place!r} has the reference and the path in it: give them there alone")
        place, ref, path = split_uri(place, lake)
    elif lake:
        raise BadRequest(f"{', '.join(lake)}: the place says where it is; give these with a URI alone")
    path = path.strip("/")
    if presigned:
        found = _read_presigned(spark, place, ref, path, format, columns=columns, where=where)
    else:
        reader = spark.read.format(format).options(**options)
        found = _read_in_place(spark, _places(spark, place, ref, path), path, reader)
    if where:
        found = found.where(as_column(where))
    return found.select(*(F.col(f"`{name}`") for name in columns)) if columns else found


def _read_in_place(spark: SparkSession, places: Mapping[str, str], path: str, reader: DataFrameReader) -> DataFrame:
    columns = _partition_columns(places, path)
    if not columns:
        return reader.load(list(places.values()))
    found = reader.load(list(places.values()))
    own = [F.col(f"`{name}`") for name in found.columns if name not in columns]
    return _with_partitions(spark, found.select(*own, F.col("_metadata.file_path").alias(FILE)), places, columns)


def _places(spark: SparkSession, place: Place, ref: str, path: str) -> dict[str, str]:
    """Where Spark finds the files at *path*, by their own paths."""
    if place.endpoint is not None:
        with served(place) as remote:
            objects = remote.objects(spark)
            rows = remote.listing(ref, path, staged=True).combine_chunks().to_batches()
        found = [entry for batch in rows for entry in entries_of(batch)]
    else:
        with opened(place, spark) as driver:
            objects = driver.objects
            found = driver.run(_files(driver.repository, ref, path))
    places = {
        path_of(each.key): _place_of(objects, each) for each in found if _is_data(path_of(each.key), each.size, path)
    }
    return _something(places, place, ref, path)


def _read_presigned(
    spark: SparkSession,
    place: Place,
    ref: str,
    path: str,
    format: str,  # noqa: A002  (Spark's word)
    *,
    columns: Sequence[str],
    where: Sequence[Condition],
) -> DataFrame:
    if place.endpoint is None:
        raise BadRequest("presigned: it is a server that has URLs signed; give endpoint=, key= and secret=")
    if format != "parquet":
        raise BadRequest(f"presigned: Parquet is read so, and not {format}; the S3 gateway serves any format")
    with served(place) as remote:
        reading = remote.repository.reading

        async def page(after: str) -> Found[tuple[str, int, str]]:
            return await reading.presigned(ref, path, after)

        async def signed() -> list[tuple[str, int, str]]:
            return [each async for each in pages(page) if _is_data(each[0], each[1], path)]

        found = remote.run(signed())
    names = _something({name: name for name, _, _ in found}, place, ref, path)
    partitions = _partition_columns(names, path)
    values = _partition_values(names, partitions)
    files = [(name, url, size) for name, size, url in found]
    chosen = [each for each in files if may_hold(where, values[each[0]])] or files[:1]
    wanted = {*columns, *(name for name, _, _ in where)} if columns else None
    frame = read_presigned(spark, chosen, columns=wanted, where=where)
    if not partitions:
        return frame.drop(FILE)
    return _with_partitions(spark, frame.drop(*partitions), names, partitions)


def _something(places: dict[str, str], place: Place, ref: str, path: str) -> dict[str, str]:
    if not places:
        raise PathNotFound(f"there is nothing at or below {path!r} in {ref!r} of repository {place.repo!r}")
    return places


async def _files(repository: Repository, ref: str, path: str) -> list[Entry]:
    return [entry async for rows in batches(repository, ref, prefix=path) for entry in entries_of(rows)]


def _is_data(name: str, size: int, path: str) -> bool:
    """Whether a file is at or below *path*, and one that a reader of directories reads."""
    below = not path or name == path or name.startswith(f"{path}/")
    return below and size > 0 and not any(part.startswith(("_", ".")) and "=" not in part for part in name.split("/"))


def _place_of(objects: Objects, entry: Entry) -> str:
    """Where Spark finds the bytes of *entry*."""
    whole = len(entry.blocks) == 1 and entry.blocks[0].offset == 0 and entry.blocks[0].length == entry.size
    if not whole:
        raise NotInPlace(
            f"{path_of(entry.key)!r} is in {len(entry.blocks)} pieces: read it through the S3 gateway, or the SDK"
        )
    address = entry.blocks[0].address
    return hadoop_path(address) if is_foreign(address) else f"{objects.root}/{address}"


def _partition_columns(places: Mapping[str, str], path: str) -> list[str]:
    """The names of the columns that all paths have as directories, in order."""
    found: list[str] | None = None
    for name in places:
        parts = name.removeprefix(path).strip("/").split("/")[:-1]
        columns = [part.partition("=")[0] for part in parts if "=" in part]
        if found is not None and columns != found:
            raise NotInPlace(f"{name!r} is in other directories than its siblings: {columns} and not {found}")
        found = columns
    return found or []


def _with_partitions(spark: SparkSession, frame: DataFrame, places: Mapping[str, str], columns: list[str]) -> DataFrame:
    """*frame* with the values that directories say, by the `FILE` that a row is from. Whole numbers are numbers."""
    values = _partition_values(places, columns)
    rows = [(spelling, *values[name].values()) for name, where in places.items() for spelling in _spellings(where)]
    whole = [all(not isinstance(told[each], str) for told in values.values()) for each in columns]
    kinds = ["bigint" if number else "string" for number in whole]
    named = (f"`{column}` {kind}" for column, kind in zip(columns, kinds, strict=True))
    schema = ", ".join(["`_file` string", *named, "`_known` boolean"])
    listed = spark.createDataFrame([(*row, True) for row in rows], schema)
    own = [F.col(f"`{name}`") for name in frame.columns if name != FILE]
    joined = frame.join(F.broadcast(listed), FILE, "left")
    lost = F.raise_error(F.concat(F.lit("a file that was not asked for was read: "), F.col("_file")))
    checked = [F.when(F.col("_known").isNull(), lost).otherwise(F.col(f"`{name}`")) for name in columns]
    return joined.select(*own, *(column.alias(name) for column, name in zip(checked, columns, strict=True)))


def _partition_values(places: Mapping[str, str], columns: Sequence[str]) -> dict[str, dict[str, int | str | None]]:
    """What the directories of each file say of *columns*. Where all values of a column are whole numbers, numbers."""
    found: dict[str, dict[str, int | str | None]] = {}
    for name in places:
        told = {key: unquote(value) for key, value in (part.split("=", 1) for part in name.split("/") if "=" in part)}
        found[name] = {each: None if told[each] == HIVE_NULL else told[each] for each in columns}
    for column in columns:
        if all(_is_whole(values[column]) for values in found.values()):
            for values in found.values():
                if values[column] is not None:
                    values[column] = int(str(values[column]))
    return found


def _spellings(where: str) -> set[str]:
    """How Spark may write the name of a file: with the characters of a URI escaped or not, with one slash or three."""
    found = {where, quote(where, safe="/:=@&+$,;!'()*~-._")}
    return found | {f"file:/{each.removeprefix('file:///')}" for each in found if each.startswith("file:///")}


def _is_whole(value: int | str | None) -> bool:
    """Whether *value* reads as a whole number that a column of them can hold; what is null is no obstacle."""
    return value is None or isinstance(value, int) or (value.lstrip("-").isdecimal() and len(value) < 19)
