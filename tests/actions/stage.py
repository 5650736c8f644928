"""What tests of hooks do: write action files, commit with hooks around it, and look at runs."""

from __future__ import annotations

from textwrap import dedent

from headwater.actions import Actions, Occasion, Run
from headwater.engine import branches, merge
from headwater.engine import commit as committing
from headwater.engine.repository import Repository
from headwater.history import Commit
from tests.engine.lakes import description, lake_over, put


class Somebody:
    """Whoever does things: they may do everything but what is *forbidden*."""

    def __init__(self, forbidden: frozenset[str] = frozenset()) -> None:
        self.name = "anna"
        self.forbidden = forbidden

    def may(self, action: str, resource: str) -> bool:  # noqa: ARG002  (what is forbidden is so everywhere)
        return action not in self.forbidden


class Stage:
    """A repository, and its hooks."""

    def __init__(self, repository: Repository, actions: Actions) -> None:
        self.repository = repository
        self.actions = actions
        self.by = Somebody()

    async def write(self, name: str, text: str, branch: str = "main") -> None:
        """Stage an action file."""
        await put(self.repository, branch, **{f"_lakefs_actions/{name}": dedent(text)})

    async def commit(self, message: str = "a change", branch: str = "main", job: str = "", **files: str) -> Commit:
        """Commit *files*, with the hooks around it."""
        await put(self.repository, branch, **files)
        occasion = Occasion("commit", branch=branch, message=message, metadata={"job": job} if job else {})
        async with self.actions.around(self.repository, occasion, self.by) as done:
            made = await committing.commit(self.repository, branch, description(message), check=done.check)
            done.commit = made.id
        return made

    async def merge(self, source: str, destination: str = "main") -> Commit:
        """Merge, with the hooks around it."""
        occasion = Occasion("merge", branch=destination, source=source)
        async with self.actions.around(self.repository, occasion, self.by) as done:
            made = await merge.merge(self.repository, source, destination, description("merged"), check=done.check)
            done.commit = made.id
        return made

    async def create_branch(self, name: str) -> None:
        """Make a branch of main, with the hooks around it."""
        head = (await self.repository.branches.fresh("main")).branch.commit
        async with self.actions.around(self.repository, Occasion("create-branch", branch=name, commit=head), self.by):
            await branches.create_branch(self.repository, name, head)

    async def elsewhere(self) -> Repository:
        """The same repository, as another process has it open."""
        return await lake_over(self.repository.store).opened(self.repository.record)

    async def runs(self) -> list[Run]:
        """All runs, the newest first."""
        return await self.actions.runs.page(self.repository, amount=100)

    async def said(self) -> list[str]:
        """What the hooks of the newest run said."""
        run = (await self.runs())[0]
        outputs = [await self.actions.runs.output(self.repository, run.id, hook.id) for hook in run.hooks]
        return [output.decode() for output in outputs]


def script(source: str, event: str = "pre-commit", more: str = "") -> str:
    """An action file with one script."""
    lines = "\n".join(f"        {line}" for line in dedent(source).strip().splitlines())
    return (
        f"on:\n  {event}:\nhooks:\n  - id: check\n    type: starlark\n    properties:\n{more}      script: |\n{lines}\n"
    )
