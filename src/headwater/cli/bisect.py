"""`hw bisect`: find the commit that broke something, by looking at as few as can be."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.exits import Exit
from headwater.cli.halving import next_to_look_at, steps_left, suspects
from headwater.cli.places import REF, Place, ref_in
from headwater.cli.session import session
from headwater.cli.showing import CommitShown, commit_shown, first_line, short
from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from headwater.sdk.results import Commit
    from headwater.sdk.sync import Repository

FILE = Path(".hw-bisect")
"""In the working directory: what is known so far."""

CANNOT_TELL = 125
"""The status of a program that cannot tell, as for `git bisect run`."""

WORST = 127
"""Statuses above this one mean that the program could not run, or was killed: nothing is learnt from that."""

Verdict = Literal["good", "bad", "skip"]


class BisectError(HeadwaterError):
    """It cannot go on so. The message says how it can."""


class Known(msgspec.Struct, forbid_unknown_fields=True):
    """What is known so far: commits by their ids."""

    repository: str
    begun: str
    """The commit that was bad at first: all others are looked for in its history."""
    bad: str
    good: list[str]
    skipped: list[str] = []
    first_parents: bool = False


class Step(msgspec.Struct, frozen=True):
    """Where it stands: the commit to look at next, how many it may still be, and in the end which it was."""

    place: str | None
    commit: CommitShown | None
    left: int
    steps: int
    found: CommitShown | None = None


@group("bisect")
def bisect() -> None:
    """Find the commit that broke something, by looking at few."""


@bisect.command("start")
@click.argument("bad", type=REF)
@click.option("--good", required=True, multiple=True, metavar="REF", help="One that was good; repeatable.")
@click.option("--first-parents", is_flag=True, help="Look only at what was done on the branch, not into merges.")
def start(bad: Place, good: Sequence[str], *, first_parents: bool) -> None:
    """Begin, with a commit that is bad and one that was good."""
    repository = session().repository(bad.repository)
    broken = repository.commit(bad.ref).id
    known = Known(
        bad.repository,
        broken,
        broken,
        [repository.commit(ref_in(bad.repository, each)).id for each in good],
        first_parents=first_parents,
    )
    step = _step(repository, known)
    _write(known)
    _tell(step)


@bisect.command("good")
@click.argument("ref", required=False)
def good(ref: str | None) -> None:
    """Say that the commit is good: the one that was to be looked at, or REF."""
    _judge("good", ref)


@bisect.command("bad")
@click.argument("ref", required=False)
def bad(ref: str | None) -> None:
    """Say that the commit is bad: the one that was to be looked at, or REF."""
    _judge("bad", ref)


@bisect.command("skip")
@click.argument("ref", required=False)
def skip(ref: str | None) -> None:
    """Say that it cannot be told, of the one that was to be looked at, or of REF."""
    _judge("skip", ref)


@bisect.command("status")
def status() -> None:
    """Show where it stands."""
    known = _read()
    _tell(_step(session().repository(known.repository), known))


@bisect.command("reset")
def reset() -> None:
    """Forget it."""
    FILE.unlink(missing_ok=True)
    session().output.say("forgotten")


@bisect.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def run(program: Sequence[str]) -> None:
    """Let a program judge until the commit is found.

    It is told what to look at by HW_PLACE (as sales/3f2a…), HW_REPOSITORY and HW_COMMIT. Status 0 means good, 125 that
    it cannot tell, others up to 127 bad.
    """
    known = _read()
    repository = session().repository(known.repository)
    step = _step(repository, known)
    while step.found is None and step.commit is not None and step.place is not None:
        _note(known, _verdict_of(program, known.repository, step.commit.id, step.place), step.commit.id)
        step = _step(repository, known)
        _write(known)
    _tell(step)


def _verdict_of(program: Sequence[str], repository: str, commit: str, place: str) -> Verdict:
    environment = {**os.environ, "HW_PLACE": place, "HW_REPOSITORY": repository, "HW_COMMIT": commit}
    ran = subprocess.run(program, env=environment, check=False)  # noqa: S603  (whoever calls says what to run)
    if not 0 <= ran.returncode <= WORST:
        raise BisectError(f"{program[0]} ended with {ran.returncode} at {place}: nothing is learnt from that")
    verdict: Verdict = "good" if ran.returncode == 0 else "skip" if ran.returncode == CANNOT_TELL else "bad"
    click.echo(f"{place}: {verdict}", err=True)
    return verdict


def _judge(verdict: Verdict, ref: str | None) -> None:
    known = _read()
    repository = session().repository(known.repository)
    if ref is None:
        looked_at = _step(repository, known).commit
        if looked_at is None:
            raise BisectError("there is nothing left to look at: hw bisect status")
        judged = looked_at.id
    else:
        judged = repository.commit(ref_in(known.repository, ref)).id
    _note(known, verdict, judged)
    step = _step(repository, known)
    _write(known)
    _tell(step)


def _note(known: Known, verdict: Verdict, commit: str) -> None:
    match verdict:
        case "good":
            known.good.append(commit)
        case "bad":
            known.bad = commit
        case "skip":
            known.skipped.append(commit)


def _step(repository: Repository, known: Known) -> Step:
    history = repository.ref(known.begun).log(first_parents=known.first_parents)
    found = suspects(map(_along, history) if known.first_parents else history, known.bad, known.good)
    if not found:
        raise BisectError(
            f"no commit that is good led to {short(known.bad)}, which is bad: give a good one that is in its history"
        )
    following = next_to_look_at(found, known.skipped)
    if following is None:
        first = commit_shown(found[0]) if len(found) == 1 else None
        return Step(None, None, len(found), 0, first)
    place = str(Place(known.repository, following.id))
    return Step(place, commit_shown(following), len(found), steps_left(len(found)))


def _along(commit: Commit) -> Commit:
    """*commit* as if nothing had been merged into it."""
    return msgspec.structs.replace(commit, parents=commit.parents[:1])


def _tell(step: Step) -> None:
    output = session().output
    if step.found is not None:
        found = step.found
        told = f"{found.id} is the first bad commit\n{found.committer}  {found.time}  {first_line(found.message)}"
        output.done(step, told)
    elif step.commit is not None:
        told = f"{step.left} left, some {step.steps} steps. Look at {step.place}  {first_line(step.commit.message)}"
        output.done(step, told)
    else:
        output.done(step, f"all but {step.left} are ruled out, and the rest was skipped: it is one of them")
        click.get_current_context().exit(Exit.FAILED)


def _read() -> Known:
    try:
        return msgspec.json.decode(FILE.read_bytes(), type=Known)
    except FileNotFoundError:
        raise BisectError("nothing was begun in this directory: hw bisect start REPO/BAD --good REF") from None
    except msgspec.MsgspecError as error:
        raise BisectError(f"{FILE} cannot be read ({error}): hw bisect reset, and begin again") from None


def _write(known: Known) -> None:
    FILE.write_bytes(msgspec.json.encode(known))
