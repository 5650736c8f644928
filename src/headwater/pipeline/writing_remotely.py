"""Writing into a branch of a server: executors write to a workspace of it, and the server commits that.

What the server does is a listing of the workspace and one swap of the branch. A job that fails has its workspace
discarded; of a driver that is killed it is abandoned, and garbage collection takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from headwater.engine.workspaces.ids import WorkspaceRef, parse_id
from headwater.pipeline.landing import BATCH, STREAM, Batch
from headwater.pipeline.limits import STREAM_HISTORY
from headwater.pipeline.place import Place
from headwater.pipeline.remote import pages, served
from headwater.sdk.ports import Found
from headwater.sdk.remote import RemoteRepository
from headwater.sdk.results import Commit

Mode = Literal["append", "overwrite", "overwrite-partitions"]


class Job(msgspec.Struct, frozen=True):
    """What is written: by *save*, which is told a URI."""

    save: Callable[[str], None]
    branch: str
    path: str
    mode: Mode
    message: str
    metadata: Mapping[str, str]
    batch: Batch | None


class Written(msgspec.Struct, frozen=True):
    """What a write came to: the commit, and the files that it added. Of a micro-batch that was there already, none."""

    commit: str
    files: int
    bytes: int


def write_to_server(spark: SparkSession, place: Place, job: Job) -> Written:
    """Write to a branch of a server, in one commit.

    To what others committed meanwhile an append adds. What replaces, and a batch, must find the branch as it was when
    it began, else it raises `ConcurrentCommit`: what is to be replaced, or was landed before, might be another now.
    """
    with served(place) as remote:
        remote.objects(spark)
        repository = remote.repository
        workspace = WorkspaceRef(job.branch, remote.run(repository.workspaces.begin(job.branch)))
        base = parse_id(workspace.id).base
        if job.batch is not None and (landed := remote.run(_find_batch(repository, base, job.batch))) is not None:
            return Written(landed.id, 0, 0)
        try:
            job.save(repository.workspaces.place(workspace.id, job.path, None))
        except BaseException:
            remote.run(repository.workspaces.discard(job.branch, workspace.id))
            raise
        return remote.run(_commit(repository, workspace, job))


async def _commit(repository: RemoteRepository, workspace: WorkspaceRef, job: Job) -> Written:
    """Make the workspace what the branch is to be, and commit it."""
    listed = await repository.reading.as_arrow(str(workspace), f"{job.path}/")
    ours, theirs = _apart(listed, f"workspaces/{workspace.id}/")
    hidden = {path for path in ours if is_hidden(path)}
    directories = {path.rpartition("/")[0] for path in ours if path not in hidden}
    gone = [path for path in theirs if _gives_way(path, job.mode, directories)]
    if hidden or gone:
        await repository.writing.delete(str(workspace), [*hidden, *gone])
    made = await repository.workspaces.commit(
        job.branch,
        workspace.id,
        job.message,
        patterns=None,
        retry=job.mode == "append" and job.batch is None,
        metadata={**job.metadata, **(job.batch.metadata if job.batch is not None else {})},
    )
    sizes = [size for path, size in ours.items() if path not in hidden]
    return Written(made.id, len(sizes), sum(sizes))


def is_hidden(path: str) -> bool:
    """Whether Spark and Hive leave a file out: a marker, a checksum, or something of a task that failed."""
    return any(part.startswith(("_", ".")) and "=" not in part for part in path.split("/")) or path.endswith("/")


def _apart(listed: pa.Table, prefix: str) -> tuple[dict[str, int], list[str]]:
    """The files that are in the workspace, with their sizes; and those that the branch has."""
    ours: dict[str, int] = {}
    theirs: list[str] = []
    columns = (listed.column(name).to_pylist() for name in ("path", "size", "address"))
    for path, size, address in zip(*columns, strict=True):
        if address is not None and address.startswith(prefix):
            ours[path] = size
        else:
            theirs.append(path)
    return ours, theirs


def _gives_way(path: str, mode: Mode, directories: set[str]) -> bool:
    """Whether what the branch has at *path* is replaced: by anything, or by new files in its directory."""
    return mode == "overwrite" or (mode == "overwrite-partitions" and path.rpartition("/")[0] in directories)


async def _find_batch(repository: RemoteRepository, head: str, batch: Batch) -> Commit | None:
    """The commit of that micro-batch, or of a later one of its stream, in the history of *head*."""

    async def page(after: str) -> Found[Commit]:
        return await repository.reading.log(
            head, after, paths=(), first_parents=True, since=None, until=None, stop_at=None
        )

    looked = 0
    async for commit in pages(page):
        if commit.metadata.get(STREAM) == batch.stream:
            return commit if int(commit.metadata.get(BATCH, "-1")) >= batch.number else None
        looked += 1
        if looked == STREAM_HISTORY:
            break
    return None
