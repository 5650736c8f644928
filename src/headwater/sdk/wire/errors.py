"""Errors that cross the wire: a server tells their kind, and a client raises the same.

A kind is the layer that an error comes from and its name there, as `engine.PathNotFound`: names alone are not unique.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import msgspec

from headwater import location
from headwater.auth import errors as auth
from headwater.blob import errors as blob
from headwater.engine import errors as engine
from headwater.engine.workspaces import errors as workspaces
from headwater.errors import HeadwaterError
from headwater.files import errors as files
from headwater.garbage import errors as garbage
from headwater.history import errors as history
from headwater.index import errors as index
from headwater.kv import errors as kv
from headwater.refs import errors as refs
from headwater.sdk.errors import HookRefused, MergeConflict, RemoteError
from headwater.sdk.results import Change, conflict_of
from headwater.staging import errors as staging


class Error(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why something was not done: for people, and for machines its *kind* and what else is known of it."""

    message: str
    kind: str = ""
    fields: dict[str, Any] = {}


def body_of(error: HeadwaterError) -> Error:
    """What is told of *error*."""
    if isinstance(error, engine.MergeConflict):
        conflicts = [conflict_of(conflict) for conflict in error.conflicts]
        return Error(str(error), _CONFLICT, {"count": error.count, "changes": conflicts})
    fields = {name: value for name, value in vars(error).items() if _is_plain(value)}
    return Error(str(error), kind_of(type(error)), fields)


def error_of(body: Error, status: int) -> HeadwaterError:
    """The error that *body* tells of. One that only a server has is a `RemoteError`, or what its status says."""
    if body.kind == _CONFLICT:
        changes = msgspec.convert(body.fields.get("changes", []), list[Change])
        return MergeConflict(body.message, changes, int(body.fields.get("count", len(changes))))
    known = KINDS.get(body.kind) or _BY_STATUS.get(status)
    if known is None:
        kind = HookRefused if body.kind == _REFUSED else RemoteError
        return kind(body.message, status, body.kind)
    error = known.__new__(known)
    Exception.__init__(error, body.message)
    vars(error).update(body.fields)
    return error


def kind_of(error: type[HeadwaterError]) -> str:
    return f"{error.__module__.split('.')[1]}.{error.__name__}"


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) or (
        isinstance(value, list | tuple) and all(isinstance(each, str | int | float) for each in value)
    )


def _of(modules: tuple[ModuleType, ...]) -> Iterator[type[HeadwaterError]]:
    for module in modules:
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, HeadwaterError) and each.__module__ == module.__name__:
                yield each


KINDS: Mapping[str, type[HeadwaterError]] = {
    kind_of(each): each
    for each in _of((location, blob, kv, index, history, refs, staging, engine, workspaces, files, garbage, auth))
    if each is not engine.MergeConflict
}
"""The errors that cross the wire, by their kinds."""

_CONFLICT = kind_of(engine.MergeConflict)
_REFUSED = "actions.HookRefused"  # by name: what runs hooks is not for clients to import

_BY_STATUS: Mapping[int, type[HeadwaterError]] = {
    401: auth.NotAuthenticated,
    403: auth.Forbidden,
    416: blob.RangeNotSatisfiable,
    429: kv.SlowDown,
    503: kv.StoreUnavailable,
    504: kv.UnknownOutcome,
}
"""What an answer means that has no kind known here, by its status."""
