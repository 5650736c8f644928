"""The OpenAPI document of the API, made of the very operations that are routed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

import headwater
from headwater.server.api.answers import Error
from headwater.server.api.operation import ANYONE, Operation, makes_its_own

_PARAMETER = re.compile(r"\{(\w+)\}")
_REF = "#/components/schemas/{name}"
ERRORS = {
    400: "Something in the request is not as it must be; the message says what.",
    401: "The caller is not known, or has not said who they are.",
    403: "The caller may not do this, or nobody may.",
    404: "There is no such thing.",
    409: "It contradicts what is there.",
    412: "A condition of the request does not hold.",
    413: "The body is too large.",
    429: "Too many at once: try again later.",
    501: "This store cannot do that.",
    502: "The storage refuses what the server asks of it: its credentials do not allow that.",
    503: "A store does not answer: nothing was done.",
    504: "A store did not say whether it was done: look before trying again.",
}


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The document that describes *operations*."""
    operations = list(operations)
    kinds = [kind for each in operations for kind in (each.body, each.query, _answer(each)) if kind is not None]
    schemas, components = msgspec.json.schema_components([*kinds, Error], ref_template=_REF)
    known = dict(zip(map(repr, kinds), schemas, strict=False))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, known)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Headwater", "version": headwater.__version__, "description": "Git for data."},
        "servers": [{"url": "/api/v1"}],
        "security": [{"basic": []}, {"bearer": []}, {"cookie": []}],
        "tags": [{"name": name} for name in dict.fromkeys(each.group for each in operations)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic"},
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "internal_auth_session"},
            },
        },
    }


def _answer(operation: Operation) -> Any:
    return None if makes_its_own(operation) else operation.answer


def _described(operation: Operation, known: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.group],
        "summary": operation.summary.partition("\n")[0],
        "description": _permissions(operation),
        "parameters": [_in_path(name) for name in _PARAMETER.findall(operation.path)] + _in_query(operation),
        "responses": _responses(operation, known),
    }
    if operation.body is not None:
        content = {"application/json": {"schema": known[repr(operation.body)]}}
        described["requestBody"] = {"required": True, "content": content}
    elif operation.raw:
        content = {operation.raw: {"schema": {"type": "string", "format": "binary"}}}
        described["requestBody"] = {"required": True, "content": content}
    if operation.caller == ANYONE:
        described["security"] = []
    return described


def _permissions(operation: Operation) -> str:
    if isinstance(operation.caller, str):
        told = "For anyone." if operation.caller == ANYONE else "For whoever is signed in."
    else:
        told = " ".join(f"Needs `{need.action}` on `{need.resource}`." for need in operation.caller)
    return f"{told} More may be needed for what it finds." if operation.checks_inside else told


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _in_query(operation: Operation) -> list[dict[str, Any]]:
    if operation.query is None:
        return []
    described = msgspec.json.schema(operation.query)
    schema = described["$defs"][operation.query.__name__]
    required = set(schema.get("required", ()))
    return [
        {"name": name, "in": "query", "required": name in required, "schema": property_}
        for name, property_ in schema["properties"].items()
    ]


def _responses(operation: Operation, known: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "Done."}
    if makes_its_own(operation):
        answer["content"] = {"*/*": {"schema": {}}}
    elif operation.answer is not None:
        answer["content"] = {"application/json": {"schema": known[repr(operation.answer)]}}
    error = {"application/json": {"schema": {"$ref": _REF.format(name="Error")}}}
    responses: dict[str, Any] = {str(operation.status): answer}
    for status, meaning in ERRORS.items():
        responses[str(status)] = {"description": meaning, "content": error}
    if makes_its_own(operation):
        for status, meaning in ((206, "A range of it."), (302, "It is to be had there."), (304, "The caller has it.")):
            responses[str(status)] = {"description": meaning}
        responses["416"] = {"description": "There are no such bytes."}
    return responses
