"""Writing a DataFrame into a branch: executors write files to the object store, the driver commits them at once.

The files go where nobody looks, below `workspaces/<id>/` of the storage namespace, an id that nobody else has. When
Spark says that the job is done, and so which files of which tries of which tasks count, one commit makes entries of
them, in place: not a byte is copied. A job that fails leaves files that garbage collection takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame

from headwater.blob import BlobStore, Stat
from headwater.blob.limits import MAX_PAGE
from headwater.blob.namespace import workspace_prefix
from headwater.engine.commit import Description
from headwater.engine.errors import BadRequest
from headwater.engine.paths import key_of
from headwater.index import Block, Entry
from headwater.pipeline.errors import PipelineError
from headwater.pipeline.landing import Batch, find_batch, head_of, land_files
from headwater.pipeline.limits import MAX_FILES
from headwater.pipeline.place import Place, opened
from headwater.pipeline.writing_remotely import Job, Mode, Written, is_hidden, write_to_server

NOTHING: Final[Mapping[str, str]] = {}


def write(
    frame: DataFrame,
    place: Place,
    branch: str,
    path: str,
    *,
    format: str = "parquet",  # noqa: A002  (Spark's word)
    mode: Mode = "append",
    message: str = "",
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] = NOTHING,
    metadata: Mapping[str, str] = NOTHING,
    batch: Batch | None = None,
) -> Written:
    """Write *frame* as files below *path* of *branch*, in one commit: readers see all of it or nothing.

    `append` adds files; `overwrite` puts them in the place of all that is below *path*; `overwrite-partitions` in that
    of the directories, of the columns *partition_by*, in which there are new files. A *batch* is committed once,
    however often it is written.
    """
    path = path.strip("/")
    if mode not in {"append", "overwrite", "overwrite-partitions"}:
        raise BadRequest(f"mode={mode!r}: it is append, overwrite or overwrite-partitions")
    if mode == "overwrite-partitions" and not partition_by:
        raise BadRequest("overwrite-partitions needs partition_by: the columns whose directories are replaced")
    if not path:
        raise BadRequest("path: name a directory of the branch to write to")
    message = message or f"Write {path} from Spark"

    def save(uri: str) -> None:
        writer = frame.write.format(format).mode("error").options(**options)
        (writer.partitionBy(*partition_by) if partition_by else writer).save(uri)

    if place.endpoint is not None:
        return write_to_server(frame.sparkSession, place, Job(save, branch, path, mode, message, metadata, batch))
    with opened(place, frame.sparkSession) as driver:
        repository = driver.repository
        repository.check_writable()
        head = driver.run(head_of(repository, branch))
        if batch is not None and (landed := driver.run(find_batch(repository, head, batch))) is not None:
            return Written(landed.id, 0, 0)
        prefix = workspace_prefix(repository.outside.random(16).hex())
        save(f"{driver.objects.root}/{prefix}{path}")
        files = driver.run(_files(repository.blobs, prefix))
        replaced = _replaced(files, path, mode)
        description = Description(
            message,
            place.committer,
            repository.outside.now(),
            {**metadata, **(batch.metadata if batch is not None else {})},
        )
        entries = {each.key: each for each in _entries(files, prefix)}
        commit = driver.run(land_files(repository, branch, entries, description, replaced=replaced, batch=batch))
        return Written(commit.id, len(files), sum(each.size for each in files))


def stream_into(
    place: Place,
    branch: str,
    path: str,
    *,
    stream: str,
    format: str = "parquet",  # noqa: A002  (Spark's word)
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] = NOTHING,
) -> Callable[[DataFrame, int], None]:
    """What to give to `foreachBatch`: every micro-batch is one commit that adds files below *path*, exactly once.

    *stream* names the stream for good, as its checkpoint directory does: by it and the number of the batch, which are
    in the metadata of the commit, a stream that starts again finds what it has committed.
    """

    def sink(frame: DataFrame, number: int) -> None:
        batch = Batch(stream, number)
        message = f"Batch {number} of {stream}"
        write(
            frame,
            place,
            branch,
            path,
            format=format,
            message=message,
            partition_by=partition_by,
            options=options,
            batch=batch,
        )

    return sink


async def _files(blobs: BlobStore, prefix: str) -> list[Stat]:
    """What Spark left below *prefix*, but for what no reader of a directory would take for data."""
    found: list[Stat] = []
    async for page in blobs.list(prefix, page=MAX_PAGE):
        objects = [each for each in page if isinstance(each, Stat)]
        found += [each for each in objects if not is_hidden(each.name.removeprefix(prefix))]
        if len(found) > MAX_FILES:
            raise PipelineError(f"the job wrote more than {MAX_FILES} files: write fewer, larger ones")
    return _without_markers(found)


def _without_markers(found: Sequence[Stat]) -> list[Stat]:
    """*found* without the empty objects that S3A leaves where a directory would be."""
    directories = {each.name.rpartition("/")[0] for each in found}
    for directory in list(directories):
        parts = directory.split("/")
        directories.update("/".join(parts[:length]) for length in range(1, len(parts)))
    return [each for each in found if each.size or each.name not in directories]


def _entries(files: Sequence[Stat], prefix: str) -> list[Entry]:
    return [
        Entry(
            key_of(each.name.removeprefix(prefix)),
            blocks=(Block(each.name, 0, each.size),),
            size=each.size,
            checksum=each.etag.strip('"') or None,
            modified=each.modified,
        )
        for each in files
    ]


def _replaced(files: Sequence[Stat], path: str, mode: Mode) -> list[str]:
    """The key prefixes whose content gives way."""
    match mode:
        case "append":
            return []
        case "overwrite":
            return [key_of(f"{path}/")]
        case "overwrite-partitions":
            directories = {each.name.split("/", 2)[2].rpartition("/")[0] for each in files}
            return sorted(key_of(f"{directory}/") for directory in directories)
