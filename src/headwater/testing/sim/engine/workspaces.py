"""Workspaces under simulation: several write to each, several commit it, and others commit to the branch meanwhile.

    explore(working(), range(100))

The promises are those of `docs/workspaces.md`. The object store takes its time, the key-value store fails, and
committers crash.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext, suppress

import msgspec

from headwater.drive import drive
from headwater.engine.commit import Description, commit
from headwater.engine.read import list_entries
from headwater.engine.repository import Repository
from headwater.engine.workspaces.beginning import begin
from headwater.engine.workspaces.committing import WORKSPACE, commit_workspace
from headwater.engine.workspaces.errors import ConcurrentCommit, WorkspaceBusy, WorkspaceClosed
from headwater.engine.workspaces.ids import WorkspaceRef, parse_id
from headwater.engine.workspaces.state import State, read_state
from headwater.engine.write import put, stage
from headwater.history import Commit
from headwater.index import Entry
from headwater.kv import StoreUnavailable, UnknownOutcome
from headwater.staging.errors import Contended, NothingToCommit
from headwater.testing.sim.engine.appends import Part, Worker, keep_at_it
from headwater.testing.sim.engine.mutations import Mutation
from headwater.testing.sim.engine.record import Contents
from headwater.testing.sim.engine.stories import ROUGH
from headwater.testing.sim.engine.world import World
from headwater.testing.sim.explore import Scenario
from headwater.testing.sim.simulation import Simulation

WRITERS, COMMITTERS, WRITES, TRIES = 2, 2, 4, 6
SHARED = ["shared/0", "shared/1"]
"""Paths that are written on the branch, and in workspaces."""

PAUSE = 3.0
LONG = 1000.0
"""Seconds to wait for a committer that crashed: longer than anybody is given."""


class Attempt(msgspec.Struct, frozen=True):
    """A commit that was asked for, by its message, and how it ended: landed, nothing, refused or unknown."""

    message: str
    began: int
    outcome: str
    landed: str = ""


class Crew:
    """A workspace, and what those who work on it were told."""

    def __init__(self, number: int, workspace: WorkspaceRef) -> None:
        self.name = f"workspace {number}"
        self.number = number
        self.workspace = workspace
        self.written: list[str] = []
        """Paths whose writing was acknowledged."""

        self.attempts: list[Attempt] = []

    def parts(self) -> list[Part]:
        writers: list[Part] = [Writer(self, number) for number in range(WRITERS)]
        return [*writers, *(Committer(self, number) for number in range(COMMITTERS))]


class Writer:
    """Writes paths of its own to a workspace, and now and then a shared one, until it is closed."""

    def __init__(self, crew: Crew, number: int) -> None:
        self.name = f"writer {number} of {crew.name}"
        self._crew = crew
        self._mine = f"mine/{crew.number}.{number}"
        self._made = 0

    @property
    def left(self) -> bool:
        return self._made < WRITES

    async def act(self, world: World, repository: Repository) -> None:
        while self.left:
            await asyncio.sleep(world.random.random() * PAUSE)
            self._made += 1
            path = f"{self._mine}.{self._made}"
            if world.random.random() < 0.1:
                path = world.random.choice(SHARED)
            with suppress(WorkspaceClosed, Contended, StoreUnavailable, UnknownOutcome):
                await put(repository, str(self._crew.workspace), path, self.name.encode())
                if path not in SHARED:
                    self._crew.written.append(path)


class Committer:
    """Commits the whole workspace, again until it is told how that ended."""

    def __init__(self, crew: Crew, number: int) -> None:
        self.name = f"committer {number} of {crew.name}"
        self._crew = crew
        self._tries = TRIES
        self._number = number

    @property
    def left(self) -> bool:
        return self._tries > 0

    async def act(self, world: World, repository: Repository) -> None:
        while self.left:
            await asyncio.sleep(world.random.random() * PAUSE * 2)
            self._tries -= 1
            message = f"{self._crew.number}.{self._number}.{self._tries}"
            began = world.record.moment()
            description = Description(message, "", repository.outside.now())
            landed = ""
            try:
                made = await commit_workspace(repository, self._crew.workspace, description, retry=True)
                outcome, landed = "landed", made.id
            except NothingToCommit:
                outcome = "nothing"
            except ConcurrentCommit:
                outcome = "refused"
            except WorkspaceClosed:
                self._tries = 0
                continue
            except WorkspaceBusy:
                await asyncio.sleep(LONG * world.random.random())
                continue
            except (StoreUnavailable, UnknownOutcome, Contended):
                outcome = "unknown"
            world.simulation.note("commit {}: {}", message, outcome)
            self._crew.attempts.append(Attempt(message, began, outcome, landed))


def working(*, without: Mutation | None = None) -> Scenario:
    """Two workspaces on a branch that others commit to; with a guard switched off, if *without* says."""

    def run(simulation: Simulation) -> None:
        world = World(simulation, ROUGH, slow_objects=0.5)
        drive(world.begin())
        beginning = simulation.spawn("beginner", _begun(world))
        simulation.run()
        crews = beginning.result()
        with nullcontext() if without is None else without.applied():
            parts = [part for crew in crews for part in crew.parts()]
            parts.append(Worker("branch", WRITES, _commit_to_the_branch))
            for part in parts:
                simulation.spawn(f"init of {part.name}", keep_at_it(world, part))
            simulation.run()
            simulation.spawn("auditor", _audit(world, crews))
            simulation.run()

    return run


async def _begun(world: World) -> list[Crew]:
    repository = await world.undisturbed()
    await commit(repository, "main", Description("first", "", 0))
    return [Crew(number, await begin(repository, "main")) for number in range(2)]


async def _commit_to_the_branch(world: World, repository: Repository) -> None:
    name = f"w{world.record.moment()}"
    path = world.random.choice([*SHARED, "branch/0", "branch/1", "branch/2"])
    await stage(repository, "main", Entry(f"f/{path}", checksum=name))
    await commit(repository, "main", Description(name, "", repository.outside.now()))


async def _audit(world: World, crews: list[Crew]) -> None:
    repository = await world.undisturbed()
    heads = list(dict.fromkeys(move.record.commit for move in world.record.moves if move.record.commit))
    commits = [await repository.commits.get(head) for head in heads]
    contents = {head: await _contents(repository, head) for head in heads}
    for crew in crews:
        state = (await read_state(repository, crew.workspace.id)).state
        landed = [commit for commit in commits if commit.metadata.get(WORKSPACE) == crew.workspace.id]
        _check_told(world, crew, landed)
        _check_apart(crew, landed, contents)
        await _check_written(repository, crew, state, contents[heads[-1]])


def _check_told(world: World, crew: Crew, landed: list[Commit]) -> None:
    messages = [commit.message for commit in landed]
    assert len(messages) == len(set(messages)), f"a commit of {crew.name} landed twice: {messages}"
    moved = {move.record.commit: move.at for move in reversed(world.record.moves)}
    told = {attempt.landed for attempt in crew.attempts}
    for attempt in crew.attempts:
        if attempt.outcome == "landed":
            assert attempt.landed in [commit.id for commit in landed], f"{attempt.message} never landed"
        if attempt.outcome in ("nothing", "refused"):
            assert attempt.message not in messages, f"{attempt.message} landed, and was told as: {attempt.outcome}"
        if attempt.outcome == "nothing":
            unheard = [commit for commit in landed if commit.id not in told and moved[commit.id] < attempt.began]
            assert not unheard, f"{attempt.message} found nothing, and not that {unheard[0].message} had landed"


def _check_apart(crew: Crew, landed: list[Commit], contents: dict[str, Contents]) -> None:
    """What a commit of a workspace changed, nobody else had changed since what it was based on."""
    base = parse_id(crew.workspace.id).base
    for made in landed:
        before, parent, after = contents[base], contents[made.parents[0]], contents[made.id]
        for path in SHARED:
            ours = after.get(path) != parent.get(path)
            assert not ours or parent.get(path) == before.get(path), f"{made.message} overwrote {path}"
        base = made.id


async def _check_written(repository: Repository, crew: Crew, state: State, head: Contents) -> None:
    """What was acknowledged is committed; or, if the workspace was never closed, still in it."""
    if state.phase == "closed":
        seen = head
    else:
        seen = await _contents(repository, str(crew.workspace))
    lost = [path for path in crew.written if path not in seen]
    assert not lost, f"{crew.name} is {state.phase}, and what was acknowledged is not there: {lost}"


async def _contents(repository: Repository, ref: str) -> Contents:
    entries = await list_entries(repository, ref, amount=1000)
    return {entry.key.removeprefix("f/"): entry.checksum for entry in entries if isinstance(entry, Entry)}


# What goes in the guards' places.


async def _believed(*_: object) -> State:
    return State()


async def _unchecked(*_: object, **__: object) -> None:
    return None


async def _none(*_: object) -> list[Commit]:
    return []


WORKSPACE_MUTATIONS: dict[str, Mutation] = {
    "workspace-believed-open": Mutation(
        "who writes to a workspace does not look whether it is being committed, or closed",
        "working",
        {"headwater.engine.workspaces.writing:writable": _believed},
    ),
    "clash-ignored": Mutation(
        "a workspace is laid on top of another commit, whatever that changed",
        "working",
        {"headwater.engine.workspaces.committing:check_apart": _unchecked},
    ),
    "landed-unheard": Mutation(
        "who commits a workspace again does not look for a commit of it whose landing nobody heard of",
        "working",
        {"headwater.engine.workspaces.committing:unheard_commits": _none},
    ),
}
"""Guards of workspaces, each to be switched off by name."""
