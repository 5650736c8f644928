"""What an operation of the API is, and how a group of them is written down."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias, TypeVar, get_type_hints

import msgspec

from headwater.server.http import Response

Method: TypeAlias = Literal["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"]
Handler: TypeAlias = Callable[..., Awaitable[Any]]
HandlerT = TypeVar("HandlerT", bound=Handler)


class Needs(msgspec.Struct, frozen=True):
    """A permission. *resource* may have parameters in it: of the path, as `{branch}`, or `{query.path}`."""

    action: str
    resource: str


Caller: TypeAlias = Literal["anyone", "signed in"] | tuple[Needs, ...]
"""Who may call: anyone, whoever is signed in, or who has all of these permissions."""

ANYONE: Caller = "anyone"
SIGNED_IN: Caller = "signed in"

_FS = "arn:lakefs:fs:::"
REPOSITORY = f"{_FS}repository/{{repository}}"
BRANCH = f"{_FS}repository/{{repository}}/branch/{{branch}}"
TAG = f"{_FS}repository/{{repository}}/tag/{{tag}}"
OBJECT = f"{_FS}repository/{{repository}}/object/{{query.path}}"
EVERYTHING = f"{_FS}repository/{{repository}}/object/*"
ANYWHERE = f"{_FS}namespace/*"
ALL = "*"


def needs(action: str, resource: str) -> Caller:
    """That the caller may do *action* on *resource*."""
    return (Needs(action, resource),)


class Operation(msgspec.Struct, frozen=True):
    """One operation. *query* and *body* are what it takes, *answer* is what it gives; None where there is nothing.

    Of an operation with *raw*, the handler reads the body itself; one whose *answer* is `Response` makes its own.
    """

    name: str
    method: Method
    path: str
    group: str
    caller: Caller
    handler: Handler
    summary: str
    query: type[msgspec.Struct] | None
    body: Any
    answer: Any
    status: int
    raw: str = ""
    """The media type of a body that the handler reads."""

    checks_inside: bool = False
    """Whether the handler checks permissions beyond those of *caller*: they depend on what is found."""


class Group:
    """Operations that belong together, in the order in which they are written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.operations: list[Operation] = []

    def operation(
        self,
        method: Method,
        path: str,
        name: str,
        caller: Caller,
        *,
        status: int = 200,
        raw: str = "",
        checks_inside: bool = False,
    ) -> Callable[[HandlerT], HandlerT]:
        """Write down the decorated coroutine as an operation: its parameters *query* and *body* tell what it takes."""

        def write_down(handler: HandlerT) -> HandlerT:
            kinds = get_type_hints(handler)
            answer = kinds["return"]
            self.operations.append(
                Operation(
                    name=name,
                    method=method,
                    path=path,
                    group=self.name,
                    caller=caller,
                    handler=handler,
                    summary=inspect.getdoc(handler) or "",
                    query=kinds.get("query"),
                    body=kinds.get("body"),
                    answer=None if answer is type(None) else answer,
                    status=status,
                    raw=raw,
                    checks_inside=checks_inside,
                )
            )
            return handler

        return write_down


def makes_its_own(operation: Operation) -> bool:
    """Whether the handler of *operation* answers with a `Response`."""
    return operation.answer is Response
