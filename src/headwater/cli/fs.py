"""`hw fs`: files of a lake, as the commands of a shell know files."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.options import confirm, jobs_option
from headwater.cli.places import BRANCH_PATH, FILE, REF_PATH, Place, PlaceType
from headwater.cli.reading import cat, ls
from headwater.cli.session import session
from headwater.cli.showing import Copied, entry_shown, many
from headwater.cli.target import Target
from headwater.cli.transfer import Count, Transferred, tell, transfer
from headwater.cli.trees import (
    Fetched,
    NotAFile,
    Sent,
    content,
    counted,
    fetch,
    guessed_type,
    put,
    send,
    to_fetch,
    to_send,
)

if TYPE_CHECKING:
    from headwater.sdk.results import Entry
    from headwater.sdk.sync import Branch, Ref

STANDARD = "-"
"""Standard input, or output."""


class Copy(msgspec.Struct, frozen=True):
    """A path, how much is there, and where it is to be, too."""

    source: str
    size: int
    path: str


@group("fs")
def fs() -> None:
    """Read and write files, and copy trees to and fro."""


fs.add_command(cat)
fs.add_command(ls)


@fs.command("stat")
@click.argument("place", type=FILE)
def stat(place: Place) -> None:
    """Show what is known of a file."""
    entry = entry_shown(_ref(place).stat(place.path))
    fields = [
        ("path", entry.path),
        ("kind", entry.kind),
        ("size", entry.size),
        ("modified", entry.modified),
        ("checksum", entry.checksum),
        ("content type", entry.content_type),
        *((f"metadata {key}", value) for key, value in entry.metadata.items()),
    ]
    session().output.fields(entry, fields)


@fs.command("upload")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.argument("place", type=BRANCH_PATH)
@click.option("--follow", is_flag=True, help="Follow symbolic links instead of passing them over.")
@click.option("--content-type", metavar="TYPE", help="What is in them, if that is not to be told from their names.")
@jobs_option
def upload(sources: Sequence[Path], place: Place, content_type: str | None, jobs: int, *, follow: bool) -> None:
    """Write files and trees of this machine to a branch, where they are staged.

    What is in a directory SOURCE goes below the path. A file gets the path; if that ends in a slash, its own name
    there. Of several, each keeps its name. With - standard input is written.
    """
    branch = session().repository(place.repository).branch(place.ref)
    if STANDARD in map(str, sources):
        tell(_upload_standard(branch, sources, place, content_type), "uploaded")
        return

    def do(sent: Sent, count: Count) -> int:
        return send(branch, sent, count, follow=follow, content_type=content_type)

    tasks = to_send(sources, place, follow=follow)
    tell(transfer("uploading", tasks, do, name=lambda sent: str(sent.file), jobs=jobs), "uploaded")


@fs.command("download")
@click.argument("place", type=REF_PATH)
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
@jobs_option
def download(place: Place, target: Path, jobs: int) -> None:
    """Write a file or a tree of a reference to this machine.

    A path that is a file becomes TARGET, or gets its name there if that is a directory. Else what is below the path
    comes into the directory TARGET, and nothing is ever written elsewhere. With - a file goes to standard output.
    """
    ref = _ref(place)
    if str(target) == STANDARD:
        session().output.write(content(ref, place.path, ref.stat(place.path).size))
        return
    tasks, below = _to_download(ref, place, target)

    def do(fetched: Fetched, count: Count) -> int:
        return fetch(ref, fetched, below, count).size

    tell(transfer("downloading", tasks, do, name=lambda fetched: fetched.path, jobs=jobs), "downloaded")


@fs.command("cp")
@click.argument("source", type=PlaceType("REPO/REF/SOURCE", "repository", "ref", optional=("path",)))
@click.argument("place", type=BRANCH_PATH)
@click.option("-r", "--recursive", is_flag=True, help="All that is below SOURCE.")
@jobs_option
def cp(source: Place, place: Place, jobs: int, *, recursive: bool) -> None:
    """Copy a file or a tree. Within a repository no byte is copied."""
    copied = _copy(source, place, jobs, recursive=recursive)
    tell(copied, "copied")


@fs.command("mv")
@click.argument("source", type=PlaceType("REPO/BRANCH/SOURCE", "repository", "ref", optional=("path",)))
@click.argument("place", type=BRANCH_PATH)
@click.option("-r", "--recursive", is_flag=True, help="All that is below SOURCE.")
@jobs_option
def mv(source: Place, place: Place, jobs: int, *, recursive: bool) -> None:
    """Move a file or a tree: copy it, then delete what was copied."""
    moved: list[str] = []
    copied = _copy(source, place, jobs, recursive=recursive, moved=moved)
    if not copied.failed:
        session().repository(source.repository).branch(source.ref).delete(moved)
    tell(copied, "moved")


@fs.command("rm")
@click.argument("places", nargs=-1, required=True, type=BRANCH_PATH)
@click.option("-r", "--recursive", is_flag=True, help="All that is below them, too.")
@click.option("-f", "--force", is_flag=True, help="Content if there is nothing, and without asking.")
def rm(places: Sequence[Place], *, recursive: bool, force: bool) -> None:
    """Delete files of a branch. That is staged, until it is committed."""
    doomed: defaultdict[Place, list[str]] = defaultdict(list)
    for place in places:
        if not place.path and not recursive:
            raise click.UsageError(f"{place}: give a path, or --recursive for all there is")
        if not place.path:
            confirm(f"Delete all files of {place}?", yes=force)
        doomed[place.at("")] += _doomed(_ref(place), place, recursive=recursive, force=force)
    for place, paths in doomed.items():
        session().repository(place.repository).branch(place.ref).delete(paths)
    count = sum(map(len, doomed.values()))
    session().output.done(Copied(count), f"deleted {many(count, 'file')}")


def _ref(place: Place) -> Ref:
    return session().repository(place.repository).ref(place.ref)


def _doomed(ref: Ref, place: Place, *, recursive: bool, force: bool) -> list[str]:
    if recursive:
        paths = [entry.path for entry in ref.list(place.directory)]
        if place.path and not place.path.endswith("/") and ref.exists(place.path):
            paths.append(place.path)
        if paths or force:
            return paths
        raise NotAFile(f"{place}: there is nothing")
    if not force:
        ref.stat(place.path)
    return [place.path]


def _upload_standard(branch: Branch, sources: Sequence[Path], place: Place, content_type: str | None) -> Transferred:
    if len(sources) > 1 or not place.path or place.path.endswith("/"):
        raise click.UsageError("- is standard input: give it alone, and the path that it is to have")
    kind = content_type or guessed_type(place.path)
    return Transferred(1, put(branch, place.path, sys.stdin.buffer, lambda _: None, content_type=kind), [])


def _to_download(ref: Ref, place: Place, target: Path) -> tuple[Iterable[Fetched], Target]:
    """What is to be fetched, and the directory that it goes below."""
    if place.path and not place.path.endswith("/"):
        found = _file_at(ref, place.path)
        if found is not None:
            name = place.path.rpartition("/")[2]
            if target.is_dir():
                return [Fetched(found.path, found.size, name)], Target(target)
            return [Fetched(found.path, found.size, target.name)], Target(target.parent)
    return _some(to_fetch(ref.list(place.directory), place.directory), place), Target(target)


def _some(fetched: Iterator[Fetched], place: Place) -> Iterator[Fetched]:
    """*fetched*, of which there must be some, unless it is all there is."""
    first = next(fetched, None)
    if first is None:
        if place.path:
            raise NotAFile(f"{place}: there is nothing")
        return
    yield first
    yield from fetched


def _file_at(ref: Ref, path: str) -> Entry | None:
    from headwater.engine.errors import PathNotFound  # noqa: PLC0415  (the engine is imported when it is used)

    try:
        return ref.stat(path)
    except PathNotFound:
        return None


def _copy(source: Place, place: Place, jobs: int, *, recursive: bool, moved: list[str] | None = None) -> Transferred:
    """Copy what is at *source* to *place*. The paths that were copied are added to *moved*."""
    ref = _ref(source)
    branch = session().repository(place.repository).branch(place.ref)
    same = source.repository == place.repository

    def do(copy: Copy, count: Count) -> int:
        if same:
            branch.copy(copy.source, copy.path, source_ref=source.ref)
            count(copy.size)
        else:
            entry = ref.stat(copy.source)
            pieces = counted(content(ref, copy.source, entry.size), count)
            branch.put(copy.path, pieces, content_type=entry.content_type, metadata=entry.metadata)
        if moved is not None:
            moved.append(copy.source)
        return copy.size

    tasks = _to_copy(ref, source, place, recursive=recursive)
    return transfer("copying", tasks, do, name=lambda copy: copy.source, jobs=jobs)


def _to_copy(ref: Ref, source: Place, place: Place, *, recursive: bool) -> Iterator[Copy]:
    if recursive:
        if source.at("") == place.at("") and place.directory.startswith(source.directory):
            raise click.UsageError(f"{place} is below {source}: copying would never end")
        for entry in ref.list(source.directory):
            yield Copy(entry.path, entry.size, place.directory + entry.path.removeprefix(source.directory))
        return
    if not source.path:
        raise click.UsageError(f"{source}: give a path, or --recursive for all there is")
    path = place.path
    if not path or path.endswith("/"):
        path += source.path.rpartition("/")[2]
    if (source.at("").ref, source.repository, source.path) == (place.ref, place.repository, path):
        raise click.UsageError(f"{source} is copied to itself")
    yield Copy(source.path, ref.stat(source.path).size, path)
