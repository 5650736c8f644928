"""The operations that lakeFS has not, as a client of HTTP sees them. What they do is tested through the SDK."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import httpx
import msgspec
import pyarrow as pa
import pytest

from headwater.server.api import (
    contents,
    directories,
    files,
    gathering,
    indexes,
    lineage,
    linking,
    reverting,
    sweeping,
    upkeep,
)
from headwater.server.api.operation import Operation
from tests.server.conftest import NewRepository
from tests.server.test_table import least

GROUPS = (contents, directories, files, gathering, indexes, lineage, linking, reverting, sweeping, upkeep)
OPERATIONS = [operation for each in GROUPS for operation in each.group.operations]

ODD = [
    "main",
    "",
    "\0",
    "..",
    "x" * 1100,
    "a/b",
    "%2F",
    "main~~?",
    "main@{then}",
    "[",
    "**/" * 70,
    "-1",
    "日本/語 \U0001f30a",
    "deadbeef" * 8,
]


@pytest.fixture(params=["object", "append"])
def repository(request: pytest.FixtureRequest, new_repository: NewRepository, api: httpx.Client) -> str:
    name = new_repository(mode=request.param)
    api.post(f"/repositories/{name}/branches/main/objects", params={"path": "a"}, content=b"1").raise_for_status()
    api.post(f"/repositories/{name}/branches/main/commits", json={"message": "first"}).raise_for_status()
    return name


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_whatever_is_asked_is_answered_and_never_with_a_defect(
    api: httpx.Client, repository: str, operation: Operation
) -> None:
    for odd in ODD:
        path = operation.path.replace("{repository}", repository)
        for name in ("ref", "branch", "ancestor", "id", "change", "run"):
            path = path.replace(f"{{{name}}}", quote(odd, safe="") or "%20")
        _check(_call(api, operation, path, "a"))
        path = operation.path.replace("{repository}", repository)
        for name in ("ref", "branch", "ancestor", "id", "change", "run"):
            path = path.replace(f"{{{name}}}", "main")
        _check(_call(api, operation, path, odd))


def _call(api: httpx.Client, operation: Operation, path: str, odd: str) -> httpx.Response:
    """Call it with *odd* wherever it takes text."""
    query = {} if operation.query is None else dict.fromkeys(operation.query.__struct_fields__, odd)
    body = None if operation.body is None else msgspec.json.encode({**least(operation.body), **_texts(operation, odd)})
    return api.request(operation.method, path, params=query, content=body)


def _texts(operation: Operation, odd: str) -> dict[str, str]:
    fields = msgspec.structs.fields(operation.body)
    return {field.name: odd for field in fields if field.type is str and field.name != "physical_address"}


def _check(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        told = answer.json()
        assert told["message"]
        assert told["kind"] or answer.status_code in (404, 405)


def test_an_error_tells_machines_its_kind_and_people_the_rest(api: httpx.Client, repository: str) -> None:
    told = api.get(f"/repositories/{repository}/refs/main/objects", params={"path": "nowhere"})
    assert told.status_code == 404
    assert told.json()["kind"] == "engine.PathNotFound"
    assert "'nowhere'" in told.json()["message"]
    told = api.get(f"/repositories/{repository}/commits/main~~%3F")
    assert (told.json()["kind"], told.json()["fields"]["text"]) == ("history.BadExpression", "main~~?")


def test_a_conflict_tells_what_it_is_about(api: httpx.Client, repository: str) -> None:
    url = f"/repositories/{repository}"
    api.post(f"{url}/branches", json={"name": "dev", "source": "main"}).raise_for_status()
    for branch in ("main", "dev"):
        objects = f"{url}/branches/{branch}/objects"
        api.post(objects, params={"path": "a"}, content=branch.encode()).raise_for_status()
        api.post(f"{url}/branches/{branch}/commits", json={"message": branch}).raise_for_status()
    told = api.post(f"{url}/refs/dev/merge/main", json={})
    assert (told.status_code, told.json()["kind"]) == (409, "engine.MergeConflict")
    assert told.json()["fields"]["count"] == 1
    assert [change["path"] for change in told.json()["fields"]["changes"]] == ["a"]


def test_answers_of_many_lines_end_with_one_that_says_so(api: httpx.Client, repository: str) -> None:
    answer = api.get(f"/repositories/{repository}/refs/main/glob", params={"pattern": "*"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    first, last = answer.text.splitlines()
    assert msgspec.json.decode(first)["path"] == "a"
    assert msgspec.json.decode(last) == {"end": True}
    none = api.get(f"/repositories/{repository}/refs/main/glob", params={"pattern": "b"})
    assert none.json() == {"end": True}


def test_a_listing_as_a_table_is_a_stream_of_arrow(api: httpx.Client, repository: str) -> None:
    answer = api.get(f"/repositories/{repository}/refs/main/objects/arrow")
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.column("path").to_pylist() == ["a"]
    empty = api.get(f"/repositories/{repository}/refs/main/objects/arrow", params={"prefix": "b"})
    assert pa.ipc.open_stream(empty.content).read_all().num_rows == 0


@pytest.mark.parametrize("body", [b"", b"no arrow", b"\xff" * 100], ids=["empty", "text", "noise"])
def test_what_is_no_table_is_not_imported(api: httpx.Client, repository: str, body: bytes) -> None:
    refused = api.post(f"/repositories/{repository}/branches/main/imports", content=body)
    assert refused.status_code == 400
    assert "Arrow" in refused.json()["message"]


def arrow(**columns: list[object]) -> bytes:
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "{imports}/../../secret",
        "{imports}/%2e%2e/secret",
        "mem://x/y",
        "http://host/a",
        "s3://bucket?endpoint=http:%2f%2felsewhere/x",
        "file:///",
    ],
)
def test_nothing_is_imported_from_where_the_operator_does_not_let_it(
    api: httpx.Client, repository: str, imports: Path, address: str
) -> None:
    url = f"/repositories/{repository}/branches/main"
    told = address.format(imports=f"file://{imports}")
    refused = api.post(f"{url}/imports", content=arrow(path=["x"], address=[told], size=[1]))
    assert refused.status_code in (400, 403), refused.text
    told = address.format(imports=f"local://{imports}").replace("file:", "local:")
    body = {"physical_address": told, "size_bytes": 1}
    refused = api.post(f"{url}/objects/link", params={"path": "x"}, json=body)
    assert refused.status_code in (400, 403, 404), refused.text
    allowed = arrow(path=["x"], address=[f"file://{imports}/x"], size=[1])
    assert api.post(f"{url}/imports", content=allowed).status_code == 201


def test_a_header_that_describes_no_object_is_refused(api: httpx.Client, repository: str) -> None:
    for header in ("no json", '{"metadata": 7}', "%ff%fe"):
        refused = api.post(
            f"/repositories/{repository}/branches/main/objects",
            params={"path": "b"},
            content=b"1",
            headers={"x-headwater-object": header},
        )
        assert (refused.status_code, "x-headwater-object" in refused.json()["message"]) == (400, True)
