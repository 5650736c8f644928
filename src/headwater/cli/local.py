"""`hw local`: a directory as a working copy of a place of a branch."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from headwater.cli import working_copy
from headwater.cli.commanding import group
from headwater.cli.limits import JOBS
from headwater.cli.options import jobs_option, message_option, metadata_option
from headwater.cli.output import Column
from headwater.cli.places import BRANCH_PATH, Place
from headwater.cli.session import session
from headwater.cli.showing import MARKS, commit_shown, many, short
from headwater.cli.target import Written
from headwater.cli.transfer import Count, Transferred, transfer
from headwater.cli.trees import Fetched, Sent, fetch, send, to_fetch
from headwater.cli.working_copy import Base, Type, WorkingCopy
from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from headwater.sdk.results import Change, Entry
    from headwater.sdk.sync import Branch, Repository

Side = Literal["here", "there", "both"]

NOTHING = ""
"""The commit that a directory is in step with that was never in step with one."""

DIRECTORY = click.Path(path_type=Path, file_okay=False)


class ChangedOnBothSides(HeadwaterError):
    """Files were changed here and there. Nothing was changed; the message says which and how to go on."""


class NothingChanged(HeadwaterError):
    """There is nothing to commit."""


class NotInStep(HeadwaterError):
    """Something went wrong with some files, so the directory is not in step. Run the command again."""


class Cloned(msgspec.Struct, frozen=True):
    place: str
    commit: str
    files: int


class Pulled(msgspec.Struct, frozen=True):
    commit: str
    written: int
    removed: int


class Difference(msgspec.Struct, frozen=True):
    """A file that is not what it was when the directory was last in step, and on which side."""

    path: str
    type: Type
    side: Side


@group("local")
def local() -> None:
    """Keep a directory in step with a branch."""


@local.command("clone")
@click.argument("place", type=BRANCH_PATH)
@click.argument("directory", type=DIRECTORY)
@jobs_option
def clone(place: Place, directory: Path, jobs: int) -> None:
    """Make a working copy of what is committed at a place of a branch."""
    if directory.exists() and any(directory.iterdir()):
        raise ChangedOnBothSides(f"{directory} is not empty: use hw local init to keep what is in it")
    repository = session().repository(place.repository)
    commit = repository.branch(place.ref).head().id
    directory.mkdir(parents=True, exist_ok=True)
    copy = WorkingCopy(directory, Base(_under(place), commit, {}))
    entries = (entry for entry in repository.ref(commit).list(place.directory) if _is_ours_to_write(entry.path))
    files = _fetch(copy, repository, commit, to_fetch(entries, place.directory), jobs)
    copy.save(commit, files)
    cloned = Cloned(str(place), commit, len(files))
    session().output.done(cloned, f"cloned {many(len(files), 'file')} of {place} at {short(commit)} to {directory}")


@local.command("init")
@click.argument("place", type=BRANCH_PATH)
@click.argument("directory", type=DIRECTORY, default=".")
def init(place: Place, directory: Path) -> None:
    """Make a working copy out of a directory.

    All in it counts as new, and so does what is committed at the place: pull brings that here, commit takes this there.
    """
    if working_copy.is_one(directory):
        raise ChangedOnBothSides(f"{directory} is a working copy already: hw local status {directory}")
    session().repository(place.repository).branch(place.ref).head()
    directory.mkdir(parents=True, exist_ok=True)
    working_copy.save(directory, Base(_under(place), NOTHING, {}))
    session().output.done(Cloned(str(place), NOTHING, 0), f"{directory} is a working copy of {place}")


@local.command("status")
@click.argument("directory", type=DIRECTORY, default=".")
def status(directory: Path) -> None:
    """Show what was changed here, and what was committed there, since the directory was last in step."""
    copy = working_copy.find(directory)
    repository = session().repository(copy.base.place.repository)
    head = repository.branch(copy.base.place.ref).head().id
    here, there = copy.changes(), _there(copy, repository, head)
    found = [
        Difference(path, here.get(path) or _type(there[path]), _side(path, here, there))
        for path in sorted({*here, *there})
    ]
    output = session().output
    output.rows(
        found,
        [
            Column("", lambda each: MARKS[each.type][0], lambda each: MARKS[each.type][1]),
            Column("type", lambda each: each.type, lambda each: MARKS[each.type][1]),
            Column("side", lambda each: each.side, lambda each: "magenta" if each.side == "both" else ""),
            Column("path", lambda each: each.path),
        ],
    )
    if output.terminal and not output.json:
        behind = ", and is behind: hw local pull" if head != copy.base.commit else ""
        output.say(f"{copy.directory} is at {short(copy.base.commit)} of {copy.base.place}{behind}")


@local.command("pull")
@click.argument("directory", type=DIRECTORY, default=".")
@click.option(
    "--ours", "keep", flag_value="ours", default=None, help="Keep what was changed on both sides as it is here."
)
@click.option("--theirs", "keep", flag_value="theirs", help="Take what was changed on both sides as it is there.")
@jobs_option
def pull(directory: Path, keep: Literal["ours", "theirs"] | None, jobs: int) -> None:
    """Bring here what was committed there.

    If a file was changed on both sides nothing is, and the status is 4; --ours or --theirs says which counts.
    """
    copy = working_copy.find(directory)
    repository = session().repository(copy.base.place.repository)
    head = repository.branch(copy.base.place.ref).head().id
    pulled = _pull(copy, repository, head, keep, jobs)
    done = f"{copy.directory} is at {short(head)}: {many(pulled.written, 'file')} written, {pulled.removed} removed"
    session().output.done(pulled, done)


@local.command("commit")
@click.argument("directory", type=DIRECTORY, default=".")
@message_option("What was done.", required=True)
@metadata_option
@jobs_option
def commit(directory: Path, message: str, metadata: Mapping[str, str], jobs: int) -> None:
    """Commit what was changed here, and nothing else.

    It is gathered beside what others have staged, and lands in one commit. If somebody committed something else for the
    same file meanwhile that is refused: pull first.
    """
    copy = working_copy.find(directory)
    repository = session().repository(copy.base.place.repository)
    changes = copy.changes()
    if not changes:
        raise NothingChanged(f"nothing was changed in {copy.directory}")
    head = repository.branch(copy.base.place.ref).head().id
    _refuse_both(copy, changes, _there(copy, repository, head))
    with _branch_beside(repository, copy.base.commit or head) as beside:
        files = _gather(copy, repository.branch(beside), changes, jobs)
        repository.branch(beside).commit(message, metadata=metadata)
        made = repository.branch(beside).merge_into(copy.base.place.ref, message, squash=True, metadata=metadata)
    copy.save(copy.base.commit, files)
    _pull(copy, repository, made.id, None, jobs)
    session().output.done(
        commit_shown(made), f"committed {many(len(changes), 'change')} to {copy.base.place}: {short(made.id)}"
    )


def _gather(copy: WorkingCopy, branch: Branch, changes: Mapping[str, Type], jobs: int) -> dict[str, Written]:
    """Write *changes* of the working copy to *branch*, and say what its files are then."""
    prefix = copy.base.place.directory
    gone = {path for path, kind in changes.items() if kind == "removed"}
    files = {path: known for path, known in copy.base.files.items() if path not in gone}
    files |= {path: copy.written(path) for path in changes if path not in gone}

    def do(path: str, count: Count) -> int:
        return send(branch, Sent(copy.directory / path, prefix + path), count, follow=False)

    _check(transfer("uploading", [path for path in changes if path not in gone], do, name=str, jobs=jobs))
    branch.delete([prefix + path for path in gone])
    return files


@contextmanager
def _branch_beside(repository: Repository, commit: str) -> Iterator[str]:
    """A branch for a while, where what is to be committed is gathered."""
    name = f"hw-local-{secrets.token_hex(8)}"
    repository.create_branch(name, commit)
    try:
        yield name
    finally:
        repository.delete_branch(name)


def _pull(
    copy: WorkingCopy, repository: Repository, head: str, keep: Literal["ours", "theirs"] | None, jobs: int
) -> Pulled:
    """Bring the working copy in step with the commit *head*."""
    here, there = copy.changes(), _there(copy, repository, head)
    if keep is None:
        _refuse_both(copy, here, there)
    wanted = [path for path in there if not _kept(copy, path, here, there[path], keep)]
    removed = [path for path in wanted if there[path].right is None]
    fetched = (
        Fetched(change.path, change.right.size, path) for path in wanted if (change := there[path]).right is not None
    )
    for path in removed:  # first, so that a directory may take the place of a file
        copy.target.remove(path)
    files = _fetch(copy, repository, head, fetched, jobs)
    known = copy.base.files | files | _taken_as_there(copy, here, there, wanted)
    gone = {path for path, change in there.items() if change.right is None}
    copy.save(head, {path: file for path, file in known.items() if path not in gone})
    return Pulled(head, len(files), len(removed))


def _kept(
    copy: WorkingCopy, path: str, here: Mapping[str, Type], change: Change, keep: Literal["ours", "theirs"] | None
) -> bool:
    """Whether a file that was changed there stays as it is here."""
    if path in here:
        return keep == "ours" or _agrees(copy, path, change)
    known = copy.base.files.get(path)
    if known is None or change.right is None:
        return known is None and change.right is None
    return known.checksum == change.right.checksum


def _taken_as_there(
    copy: WorkingCopy, here: Mapping[str, Type], there: Mapping[str, Change], wanted: Sequence[str]
) -> dict[str, Written]:
    """What is kept although it is otherwise there: known as it is there, so that it shows as changed here."""
    found: dict[str, Written] = {}
    for path in here.keys() & there.keys() - set(wanted):
        right = there[path].right
        if right is None:
            continue
        agreeing = _agrees(copy, path, there[path])
        found[path] = copy.written(path) if agreeing else Written(right.size, right.checksum or "", 0)
    return found


def _fetch(
    copy: WorkingCopy, repository: Repository, commit: str, tasks: Iterable[Fetched], jobs: int = JOBS
) -> dict[str, Written]:
    """Write files of *commit* here, and say what they are then."""
    ref = repository.ref(commit)
    files: dict[str, Written] = {}

    def do(fetched: Fetched, count: Count) -> int:
        files[fetched.name] = fetch(ref, fetched, copy.target, count)
        return files[fetched.name].size

    _check(transfer("downloading", tasks, do, name=lambda fetched: fetched.path, jobs=jobs))
    return files


def _check(result: Transferred) -> None:
    if result.failed:
        raise NotInStep(
            f"{many(len(result.failed), 'file')} failed, and {result.files} did not: put it right and run this again"
        )


def _there(copy: WorkingCopy, repository: Repository, head: str) -> dict[str, Change]:
    """What was committed there since, by its name here."""
    if head == copy.base.commit:
        return {}
    prefix = copy.base.place.directory
    changes: Iterable[Change]
    if copy.base.commit == NOTHING:
        changes = map(_added, repository.ref(head).list(prefix))
    else:
        changes = repository.diff(copy.base.commit, head, prefix=prefix)
    return {change.path.removeprefix(prefix): change for change in changes if _is_ours_to_write(change.path)}


def _is_ours_to_write(path: str) -> bool:
    """Whether *path* may be a file of a working copy: what is known of one is nothing that a lake may say."""
    if working_copy.FILE not in path.split("/"):
        return True
    session().warn(f"{path}: passed over, as {working_copy.FILE} is where a working copy keeps what it knows")
    return False


def _added(entry: Entry) -> Change:
    from headwater.sdk.results import Change  # noqa: PLC0415  (the engine is imported when it is used)

    return Change(entry.path, "added", None, entry)


def _refuse_both(copy: WorkingCopy, here: Mapping[str, Type], there: Mapping[str, Change]) -> None:
    """Raise if a file was changed on both sides, and not to the same."""
    both = [path for path in here.keys() & there.keys() if not _agrees(copy, path, there[path])]
    if both:
        for path in sorted(both):
            session().warn(f"changed on both sides: {path}")
        raise ChangedOnBothSides(
            f"{many(len(both), 'file')} changed here and on {copy.base.place}, and nothing was done: "
            "hw local pull --ours or --theirs says which counts"
        )


def _agrees(copy: WorkingCopy, path: str, change: Change) -> bool:
    """Whether a file is here what it has become there."""
    file = copy.directory / path
    if change.right is None:
        return not file.exists()
    return file.is_file() and copy.written(path).checksum == change.right.checksum


def _type(change: Change) -> Type:
    if change.left is None:
        return "added"
    return "removed" if change.right is None else "changed"


def _side(path: str, here: Mapping[str, Type], there: Mapping[str, Change]) -> Side:
    if path in here and path in there:
        return "both"
    return "here" if path in here else "there"


def _under(place: Place) -> Place:
    return place.at(place.path.rstrip("/"))
