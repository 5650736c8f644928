"""YAML as action files are written in it: plain documents, `on` and `yes` as words, and nothing that grows.

A file is written by whoever may write to a branch. References within it are refused: a few lines of them unfold to more
than any memory holds.
"""

from __future__ import annotations

from typing import Any

import yaml

from headwater.actions.errors import BadAction
from headwater.actions.limits import MAX_NESTING


class _Loader(yaml.SafeLoader):
    """Knows `true` and `false` alone for what they are: in YAML 1.1, `on` is true, too, and a key of every action."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_yaml(text: str) -> Any:
    """The one document in *text*, or `BadAction`."""
    try:
        _check(text)
        return yaml.load(text, _Loader)  # noqa: S506  (it is a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadAction(f"it is no YAML: {error}") from None


def _check(text: str) -> None:
    """Refuse what is deep or refers to itself, before anything is made of it."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):
            raise BadAction(f"{_place(event)} refers to another place with '*': write it out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_NESTING:
            raise BadAction(f"{_place(event)} nests deeper than {MAX_NESTING} levels")


def _place(event: yaml.Event) -> str:
    return "it" if event.start_mark is None else f"line {event.start_mark.line + 1}"
