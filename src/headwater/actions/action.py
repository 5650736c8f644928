"""An action: the events that it is tied to, and its hooks in their order, as a file under `_lakefs_actions/` tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import msgspec

from headwater.actions.condition import Condition
from headwater.actions.errors import BadAction
from headwater.actions.events import EVENTS, is_of_tags
from headwater.actions.kinds.airflow import Airflow
from headwater.actions.kinds.starlark import Starlark
from headwater.actions.kinds.webhook import Webhook
from headwater.actions.limits import MAX_HOOKS
from headwater.actions.yaml import read_yaml

Kind: TypeAlias = Webhook | Airflow | Starlark
KINDS: Mapping[str, type[Kind]] = {
    "webhook": Webhook,
    "airflow": Airflow,
    "starlark": Starlark,
}

_ID = re.compile(r"[_a-zA-Z][-_a-zA-Z0-9]{0,255}")


class Hook(msgspec.Struct, frozen=True):
    """One hook: what it does, and after what outcome of those before it."""

    id: str
    kind: Kind
    condition: Condition


class Action(msgspec.Struct, frozen=True):
    """Hooks that run one after the other. *on* has events, and of each the patterns of branches; none: all."""

    name: str
    on: Mapping[str, Sequence[str]]
    hooks: Sequence[Hook]

    def is_for(self, event: str, branch: str) -> bool:
        """Whether it is tied to *event* on *branch*."""
        patterns = self.on.get(event)
        if patterns is None:
            return False
        return not patterns or any(fnmatchcase(branch, pattern.replace("[", "[[]")) for pattern in patterns)


class _Trigger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    branches: list[str] = []


class _Hook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    type: str
    description: str = ""
    condition: str | bool | None = msgspec.field(default=None, name="if")
    properties: dict[str, Any] = {}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    on: dict[str, _Trigger | None]
    hooks: list[_Hook]
    name: str = ""
    description: str = ""


def parse_action(path: str, content: bytes) -> Action:
    """The action that the file at *path* describes, or `BadAction`."""
    try:
        read = msgspec.convert(read_yaml(content.decode()), _File)
        return Action(read.name or _name_of(path), _triggers(read.on), _hooks(read.hooks))
    except UnicodeDecodeError:
        raise BadAction(f"{path}: it is no text in UTF-8") from None
    except (BadAction, msgspec.ValidationError) as error:
        raise BadAction(f"{path}: {error}") from None


def _name_of(path: str) -> str:
    return path.rpartition("/")[2]


def _triggers(on: Mapping[str, _Trigger | None]) -> dict[str, Sequence[str]]:
    if not on:
        raise BadAction("on: name an event at least, as pre-commit")
    triggers: dict[str, Sequence[str]] = {}
    for event, trigger in on.items():
        if event not in EVENTS:
            raise BadAction(f"on: there is no event {event[:80]!r}; there are {', '.join(sorted(EVENTS))}")
        branches = [] if trigger is None else trigger.branches
        if branches and is_of_tags(event):
            raise BadAction(f"on.{event}.branches: a tag is on no branch")
        triggers[event] = branches
    return triggers


def _hooks(hooks: Sequence[_Hook]) -> list[Hook]:
    if not 1 <= len(hooks) <= MAX_HOOKS:
        raise BadAction(f"hooks: there are {len(hooks)}; an action has 1 to {MAX_HOOKS}")
    ids = [hook.id for hook in hooks]
    for hook in hooks:
        if not _ID.fullmatch(hook.id) or ids.count(hook.id) > 1:
            raise BadAction(
                f"hooks: id {hook.id[:80]!r}: it is of letters, digits, '_' and '-', begins with a letter or '_', "
                "and is that of one hook alone"
            )
    return [_hook(hook) for hook in hooks]


def _hook(hook: _Hook) -> Hook:
    kind = KINDS.get(hook.type)
    if kind is None:
        raise BadAction(f"hooks: {hook.id}: there is no type {hook.type[:80]!r}; there are {', '.join(KINDS)}")
    condition = hook.condition
    text = "" if condition is None else str(condition).lower() if isinstance(condition, bool) else condition
    try:
        return Hook(hook.id, msgspec.convert(hook.properties, kind), Condition(text))
    except (BadAction, msgspec.ValidationError) as error:
        raise BadAction(f"hooks: {hook.id}: {error}") from None
