"""`Actions`: the hooks of a repository, as its action files tell, run around what is done to it.

Which files count is decided by the commit in question: what a commit, merge, revert or cherry-pick is about to make of
the branch; the head of a branch that is made or deleted; what a tag is put on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from headwater.actions.errors import BadAction, HookRefused
from headwater.actions.events import MAKES_COMMIT, OF_TAGS, PREPARE, Event
from headwater.actions.executing import Defect, Executor, Outcome
from headwater.actions.files import ActionFiles
from headwater.actions.limits import BACKGROUND, MAX_REASON, STOPPING
from headwater.actions.occasion import Doer, Done, Occasion
from headwater.actions.runs import Run, Runs
from headwater.actions.snapshot import Snapshot
from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.history import Commit
from headwater.index import Entry, Index
from headwater.outside import Outside
from headwater.refs.errors import RefNotFound
from headwater.refs.tags import find_tag


class Actions:
    """Runs hooks, and keeps what came of them in *runs*."""

    def __init__(self, runs: Runs, executor: Executor, outside: Outside, defect: Defect) -> None:
        self.runs = runs
        self._executor = executor
        self._outside = outside
        self._defect = defect
        self._files = ActionFiles()
        self._room = asyncio.Semaphore(BACKGROUND)
        self._behind: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def around(self, repository: Repository, occasion: Occasion, by: Doer) -> AsyncIterator[Done]:
        """Run the hooks that come before; one that fails raises, and nothing is done. Then, if it was done, have those
        run that come after, whose failing changes nothing any more.
        """
        around = _Around(self, repository, occasion, by)
        if occasion.verb in MAKES_COMMIT:
            if occasion.verb == "commit":
                await around.prepare()
            done = Done(around.check)
        else:
            await around.before()
            done = Done()
        yield done
        await around.after(done.commit)

    async def forget(self, repository: Repository) -> None:
        """Delete the runs of a repository that is gone."""
        await self.runs.forget(repository)

    async def aclose(self) -> None:
        """Let hooks that come after end, for a while; then end them, which their runs tell."""
        if self._behind:
            await asyncio.wait(self._behind, timeout=STOPPING)
        for task in self._behind:
            task.cancel()
        await asyncio.gather(*self._behind, return_exceptions=True)

    async def files(self, commit: Commit, index: Index) -> Sequence[Entry]:
        """The action files of a commit. Where there are none, this is all that hooks cost."""
        return await self._files.entries(commit, index)

    def event(self, name: str, occasion: Occasion, snapshot: Snapshot, by: Doer, source: str) -> Event:
        """What happens now."""
        repository = snapshot.repository.name
        return Event(name, self._outside.now(), repository, by.name, occasion, source, snapshot.commit.id)

    async def run(self, event: Event, snapshot: Snapshot, files: Sequence[Entry]) -> None:
        """Run what *files* tie to *event*, and keep what came of it. `HookRefused` if any of it failed."""
        identity = self.runs.new_id(event.time)
        try:
            found = await self._files.actions(snapshot.repository, files)
        except BadAction as error:
            if event.name == PREPARE:  # or what is about to be committed could not mend it; it is looked at next
                return
            await self._keep(event, snapshot, identity, [], str(error))
            raise HookRefused(f"{event.name}: {error}; run {identity} tells more") from None
        actions = [action for action in found if action.is_for(event.name, event.occasion.branch)]
        if not actions:
            return
        try:
            outcomes = await self._executor.run(identity, event, actions, snapshot)
        except asyncio.CancelledError:
            await self._keep(event, snapshot, identity, [], "the server was stopped before the hooks had ended")
            raise
        await self._keep(event, snapshot, identity, outcomes)
        failed = [outcome for outcome in outcomes if outcome.reason]
        if failed:
            hook = f"hook {failed[0].run.hook!r} of action {failed[0].run.action!r}"
            raise HookRefused(f"{event.name}: {hook}: {failed[0].reason[:MAX_REASON]}; run {identity} tells more")

    async def run_behind(self, event: Event, snapshot: Snapshot, files: Sequence[Entry]) -> None:
        """Run what *files* tie to *event*, behind the caller's back. Where as many run as may, wait for one to end."""
        await self._room.acquire()
        task = asyncio.get_running_loop().create_task(self._run_told(event, snapshot, files))
        self._behind.add(task)
        task.add_done_callback(self._through)

    async def _run_told(self, event: Event, snapshot: Snapshot, files: Sequence[Entry]) -> None:
        try:
            await self.run(event, snapshot, files)
        except HookRefused:  # its run tells; what is done is done
            return
        except Exception as error:  # noqa: BLE001  (nobody waits for this: the operator is told)
            self._defect(f"the hooks of {event.name} in {event.repository}", error)

    def _through(self, task: asyncio.Task[None]) -> None:
        self._behind.discard(task)
        self._room.release()

    async def _keep(
        self, event: Event, snapshot: Snapshot, identity: str, outcomes: Sequence[Outcome], problem: str = ""
    ) -> None:
        run = Run(
            id=identity,
            event=event.name,
            branch=event.occasion.branch,
            tag=event.occasion.tag,
            commit=event.commit,
            by=event.by,
            started=event.time,
            ended=self._outside.now(),
            passed=not problem and all(outcome.run.passed for outcome in outcomes),
            hooks=tuple(outcome.run for outcome in outcomes),
            problem=problem,
        )
        await self.runs.keep(snapshot.repository, run, [(each.run.id, each.output) for each in outcomes])


class _Around:
    """One occasion, from before until after."""

    def __init__(self, actions: Actions, repository: Repository, occasion: Occasion, by: Doer) -> None:
        self._actions = actions
        self._repository = repository
        self._occasion = occasion
        self._by = by
        self._seen: tuple[Snapshot, Sequence[Entry]] | None = None

    async def prepare(self) -> None:
        """Run what may still stage something. Its files are those of the head: staging is not looked at twice."""
        try:
            seen = await self._repository.branches.recent(self._occasion.branch)
        except RefNotFound:  # it may yet be made, or whoever commits to it will say so
            return
        snapshot, files = await self._of(await self._repository.commits.get(seen.branch.commit))
        if files:
            event = self._actions.event(PREPARE, self._occasion, snapshot, self._by, self._occasion.branch)
            await self._actions.run(event, snapshot, files)

    async def check(self, commit: Commit, index: Index) -> None:
        """Look at a commit that is about to land. See `Check`."""
        snapshot = Snapshot(self._repository, commit, index, self._by)
        files = await self._actions.files(commit, index)
        self._seen = snapshot, files
        if files:
            source = self._occasion.commit or self._occasion.branch
            event = self._actions.event(f"pre-{self._occasion.verb}", self._occasion, snapshot, self._by, source)
            await self._actions.run(event, snapshot, files)

    async def before(self) -> None:
        """Look at the commit of a branch or tag that is about to be made or deleted."""
        snapshot, files = self._seen = await self._of(await self._commit())
        if files:
            name = f"pre-{self._occasion.verb}"
            event = self._actions.event(name, self._occasion, snapshot, self._by, snapshot.commit.id)
            await self._actions.run(event, snapshot, files)

    async def after(self, commit: str) -> None:
        """Have the hooks run that come after. *commit* is what was made, if anything was."""
        if self._seen is None:  # nothing was about to land, so nothing has
            return
        snapshot, files = self._seen
        if commit and commit != snapshot.commit.id:  # one that was looked at before the last has landed, unheard
            snapshot, files = await self._of(await self._repository.commits.get(commit))
        if files:
            name = f"post-{self._occasion.verb}"
            event = self._actions.event(name, self._occasion, snapshot, self._by, snapshot.commit.id)
            await self._actions.run_behind(event, snapshot, files)

    async def _of(self, commit: Commit) -> tuple[Snapshot, Sequence[Entry]]:
        index = await self._repository.index_of(commit.id)
        return Snapshot(self._repository, commit, index, self._by), await self._actions.files(commit, index)

    async def _commit(self) -> Commit:
        """The commit that the branch or tag is at, or will be."""
        occasion, repository = self._occasion, self._repository
        if occasion.commit:
            return await repository.commits.get(occasion.commit)
        if occasion.verb not in OF_TAGS:
            return await commit_of(repository, occasion.branch)
        tag = await find_tag(repository.store, repository.partition, occasion.tag)
        if tag is None:
            raise RefNotFound(f"there is no tag {occasion.tag[:300]!r}")
        return await repository.commits.get(tag.target)
