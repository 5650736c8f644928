"""One call of an operation: what its handler is given, and how it comes to be called."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import msgspec

from headwater.actions import Done, Occasion
from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository
from headwater.errors import HeadwaterError
from headwater.server.access import Caller, NotSignedIn
from headwater.server.api.answers import encode
from headwater.server.api.errors import JSON, told
from headwater.server.api.operation import ANYONE, Operation
from headwater.server.api.routing import Tree, find
from headwater.server.http import Request, Response
from headwater.server.limits import MAX_DOCUMENT
from headwater.server.services import Services

Document = TypeVar("Document")
Query = TypeVar("Query", bound=msgspec.Struct)

PREFIX = "/api/v1"


class Call:
    """A call of *operation*, by a *caller* who may do so. *parameters* are those of the path.

    What a handler puts into *headers* is answered beside what it returns.
    """

    __slots__ = ("caller", "headers", "operation", "parameters", "request", "services")

    def __init__(
        self, services: Services, request: Request, operation: Operation, parameters: Mapping[str, str], caller: Caller
    ) -> None:
        self.services = services
        self.request = request
        self.operation = operation
        self.parameters = parameters
        self.caller = caller
        self.headers: list[tuple[bytes, bytes]] = []

    def __getitem__(self, parameter: str) -> str:
        """The parameter of the path that has this name."""
        return self.parameters[parameter]

    async def repository(self) -> Repository:
        """The repository that the path names, or `RepositoryNotFound`."""
        return await self.services.repositories.get(self.parameters["repository"])

    def around(self, repository: Repository, occasion: Occasion) -> AbstractAsyncContextManager[Done]:
        """Run the hooks of *repository* around what the caller does."""
        return self.services.actions.around(repository, occasion, self.caller)

    def require(self, action: str, resource: str) -> None:
        """Raise `Forbidden` unless the caller may do *action* on *resource*."""
        self.caller.require(action, resource)


class Api:
    """The room of the REST API."""

    def __init__(self, services: Services, tree: Tree) -> None:
        self._services = services
        self._tree = tree

    async def __call__(self, request: Request) -> Response:
        try:
            return await self._answer(request)
        except HeadwaterError as error:
            response = told(error)
            if response.status == 500:
                self._services.log.damage(request, error)
            return response

    def refuse(self, request: Request, why: HeadwaterError) -> Response:  # noqa: ARG002  (a room's)
        """The answer to a request that is not looked at, or not any longer."""
        return told(why)

    async def _answer(self, request: Request) -> Response:
        found = find(self._tree, request.method, request.raw_path[len(PREFIX) :])
        operation = found.operation
        request.operation = operation.name
        caller = await self._services.callers.of(request)
        request.user = caller.name
        if operation.caller != ANYONE and not caller.signed_in:
            raise NotSignedIn
        for name, value in found.parameters.items():
            check_text(name, value)
        given: dict[str, Any] = {}
        if operation.query is not None:
            given["query"] = query_of(request, operation.query)
        if operation.body is not None:
            given["body"] = await document_of(request, operation.body)
        check(operation, found.parameters, given, caller)
        call = Call(self._services, request, operation, found.parameters, caller)
        answer = await operation.handler(call, **given)
        if isinstance(answer, Response):
            return answer
        if answer is None:
            return Response(operation.status, call.headers)
        return Response(operation.status, (JSON, *call.headers), encode(answer))


def check(operation: Operation, parameters: Mapping[str, str], given: Mapping[str, Any], caller: Caller) -> None:
    """Raise `Forbidden` unless *caller* may call *operation* like this."""
    if isinstance(operation.caller, str):
        return
    for need in operation.caller:
        caller.require(need.action, need.resource.format(**parameters, **given))


def check_text(name: str, value: str) -> None:
    """Raise `BadRequest` if what was sent as *value* is no UTF-8: nothing that is stored is called so."""
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{name}: {value[:80]!r} is not UTF-8") from None


def query_of(request: Request, kind: type[Query]) -> Query:
    """The parameters of the query as *kind*. Those that it does not know are passed over, as clients expect."""
    known = kinds_of(kind)
    found: dict[str, Any] = {}
    for name, value in request.query_pairs:
        repeated = known.get(name)
        if repeated is None:
            continue
        check_text(name, value)
        if repeated:
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    try:
        return msgspec.convert(found, kind, strict=False)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise BadRequest(f"a parameter of the query is not as it must be: {error}") from None


_kinds: dict[type[msgspec.Struct], dict[str, bool]] = {}


def kinds_of(kind: type[msgspec.Struct]) -> dict[str, bool]:
    """The names of the parameters in *kind*, and of each whether it may be repeated."""
    known = _kinds.get(kind)
    if known is None:
        fields = msgspec.structs.fields(kind)
        known = _kinds[kind] = {field.encode_name: "list" in str(field.type) for field in fields}
    return known


async def document_of(request: Request, kind: type[Document]) -> Document:
    """The body as a JSON document of *kind*."""
    body = await request.body(MAX_DOCUMENT)
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadRequest(f"the body is not as it must be: {error}") from None
