"""Running the hooks of one event: actions side by side, the hooks of each in order, and all of it told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from headwater.actions.action import Action, Hook
from headwater.actions.destinations import Destinations
from headwater.actions.errors import HookFailed
from headwater.actions.events import Event
from headwater.actions.kinds.setting import Output, Setting
from headwater.actions.limits import MAX_OUTPUT
from headwater.actions.runs import HookRun
from headwater.actions.scripts import Scripts
from headwater.actions.secrets import Secrets
from headwater.actions.snapshot import Snapshot
from headwater.errors import HeadwaterError
from headwater.outside import Outside

Defect = Callable[[str, BaseException], None]
"""Tells the operator of what should not have happened."""


class Outcome(msgspec.Struct, frozen=True):
    """How a hook fared, what it said, and why it failed, if it did."""

    run: HookRun
    output: str
    reason: str


class _Running(msgspec.Struct, frozen=True):
    """An action that is being run, for which run and on what."""

    run: str
    event: Event
    snapshot: Snapshot
    action: Action


class Executor:
    """Runs hooks. *variables* are what they may name as secrets."""

    def __init__(
        self, destinations: Destinations, variables: Mapping[str, str], outside: Outside, defect: Defect
    ) -> None:
        self._destinations = destinations
        self._variables = variables
        self._outside = outside
        self._defect = defect
        self._scripts = Scripts()

    async def run(self, run: str, event: Event, actions: Sequence[Action], snapshot: Snapshot) -> list[Outcome]:
        """Run the hooks of *actions*, for the run with this id. A hook that fails is an outcome, not an error."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._action(_Running(run, event, snapshot, action), place))
                for place, action in enumerate(actions)
            ]
        return [outcome for task in tasks for outcome in task.result()]

    async def _action(self, running: _Running, place: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        failed = False
        for number, hook in enumerate(running.action.hooks):
            if hook.condition.holds(failed=failed):
                outcome = await self._hook(running, hook, f"{place:04}_{number:04}")
                outcomes.append(outcome)
                failed = failed or not outcome.run.passed
        return outcomes

    async def _hook(self, running: _Running, hook: Hook, identity: str) -> Outcome:
        action = running.action.name
        secrets = Secrets(self._variables)
        output = Output(secrets)
        started = self._outside.now()
        setting = Setting(
            event=running.event,
            action=action,
            hook=hook.id,
            run=running.run,
            secrets=secrets,
            output=output,
            destinations=self._destinations,
            snapshot=running.snapshot,
            scripts=self._scripts.run,
        )
        reason = ""
        try:
            await hook.kind.run(setting)
        except HeadwaterError as error:
            reason = str(error) if isinstance(error, HookFailed) else f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001  (a defect in one hook must not break what it is a hook of)
            self._defect(f"hook {hook.id!r} of action {action!r}", error)
            reason = "something went wrong that should not; the server's log has it"
        reason = secrets.blotted(reason)[:MAX_OUTPUT]
        if reason:
            output.line(f"failed: {reason}")
        hook_run = HookRun(identity, action, hook.id, started, self._outside.now(), passed=not reason)
        return Outcome(hook_run, output.text(), reason)
