"""From a method and a path to an operation, in a walk down a tree of segments.

A path is taken apart at the slashes that were not escaped: of `branches/a%2Fb`, `a/b` is one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias
from urllib.parse import unquote

import msgspec

from headwater.errors import HeadwaterError
from headwater.server.api.operation import Operation


class NoSuchPath(HeadwaterError):
    """The API has nothing at that path."""


class NoSuchMethod(HeadwaterError):
    """What is at that path takes other methods. *allowed* are those."""

    def __init__(self, method: str, path: str, allowed: Iterable[str]) -> None:
        self.allowed = tuple(sorted(allowed))
        super().__init__(f"{path} takes {' and '.join(self.allowed)}, not {method}")


class Found(msgspec.Struct, frozen=True):
    """An operation, and the parameters of the path that led to it."""

    operation: Operation
    parameters: Mapping[str, str]


class Node:
    """What can follow some segments of a path."""

    __slots__ = ("named", "operations", "parameter")

    def __init__(self) -> None:
        self.named: dict[str, Node] = {}
        self.parameter: Node | None = None
        self.operations: dict[str, tuple[Operation, tuple[str, ...]]] = {}


Tree: TypeAlias = Node


def tree_of(operations: Iterable[Operation]) -> Tree:
    """A tree that `find` walks."""
    root = Node()
    for operation in operations:
        node, names = root, []
        for segment in operation.path.strip("/").split("/"):
            if segment.startswith("{"):
                names.append(segment[1:-1])
                node.parameter = node.parameter or Node()
                node = node.parameter
            else:
                node = node.named.setdefault(segment, Node())
        assert operation.method not in node.operations, operation.path  # noqa: S101  (it would hide another)
        node.operations[operation.method] = operation, tuple(names)
    return root


def find(root: Tree, method: str, raw_path: str) -> Found:
    """The operation at *raw_path*, which begins with a slash. `NoSuchPath` or `NoSuchMethod`."""
    node, values = root, []
    for segment in raw_path[1:].split("/"):
        following = node.named.get(segment)
        if following is None:
            following = node.parameter
            if following is None or not segment:
                raise NoSuchPath(
                    f"there is nothing at {raw_path[:1000]} in this API; /openapi.json tells what there is"
                )
            values.append(unquote(segment, errors="surrogateescape") if "%" in segment else segment)
        node = following
    found = node.operations.get(method)
    if found is None:
        if not node.operations:
            raise NoSuchPath(f"there is nothing at {raw_path[:1000]} in this API; /openapi.json tells what there is")
        raise NoSuchMethod(method, raw_path[:1000], node.operations)
    operation, names = found
    return Found(operation, dict(zip(names, values, strict=True)))
