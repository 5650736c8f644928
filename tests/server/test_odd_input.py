"""Names, paths and bodies of every shape: each is taken as it is or refused with a reason, and none is a defect."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

bounded = settings(
    max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

REFUSALS = {400, 401, 403, 404, 405, 409, 412, 413, 414}

names = st.text(min_size=1, max_size=40) | st.sampled_from(
    [
        "..",
        ".",
        "../..",
        "a/../b",
        "%2F",
        "%2e%2e",
        "a\0b",
        "x" * 1024,
        "é" * 512,
        "🜁",
        "main~",
        "main@{",
        "^",
        "main^0",
        "~1",
    ]
)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)

TAKERS = [
    ("POST", "/repositories", "name"),
    ("POST", "/repositories/{repository}/branches", "name"),
    ("POST", "/repositories/{repository}/tags", "id"),
    ("POST", "/repositories/{repository}/branches/main/commits", "message"),
    ("POST", "/repositories/{repository}/refs/main/merge/main", "message"),
    ("PUT", "/repositories/{repository}/branches/main", "type"),
    ("POST", "/repositories/{repository}/branches/main/import", "paths"),
    ("PUT", "/repositories/{repository}/branches/main/staging/backing?path=a", "staging"),
    ("POST", "/repositories/{repository}/pulls", "title"),
    ("POST", "/auth/policies", "statement"),
    ("POST", "/auth/login", "access_key_id"),
]


def check_answer(answer: httpx.Response) -> None:
    assert answer.status_code < 300 or answer.status_code in REFUSALS, answer.text
    if answer.status_code >= 400 and answer.request.url.path.startswith("/api/v1/"):  # else a `..` led out of the API
        assert msgspec.json.decode(answer.content)["message"]


@bounded
@given(name=names)
@example("\ud800")
@example("main\n")
def test_a_reference_is_resolved_or_refused(api: httpx.Client, repository: str, name: str) -> None:
    written = quote(name, safe="", errors="surrogatepass")
    for path in (f"refs/{written}/objects/ls", f"branches/{written}", f"tags/{written}", f"commits/{written}"):
        check_answer(api.get(f"/repositories/{repository}/{path}"))
    check_answer(api.get(f"/repositories/{written}"))
    check_answer(api.get(f"/auth/users/{written}"))
    check_answer(api.get(f"/repositories/{repository}/refs/main/diff/{written}"))


@bounded
@given(name=names)
def test_a_branch_of_any_name_that_is_taken_is_there_under_it(api: httpx.Client, repository: str, name: str) -> None:
    made = api.post(f"/repositories/{repository}/branches", json={"name": name, "source": "main"})
    check_answer(made)
    if made.status_code == 201:
        written = quote(name, safe="")
        assert api.get(f"/repositories/{repository}/branches/{written}").json()["id"] == name
        assert api.delete(f"/repositories/{repository}/branches/{written}").status_code == 204


@bounded
@given(path=names)
@example("\ud800")
def test_an_object_of_any_path_that_is_taken_is_there_under_it(api: httpx.Client, repository: str, path: str) -> None:
    written = quote(path, safe="", errors="surrogatepass")
    put = api.post(f"/repositories/{repository}/branches/main/objects?path={written}", content=b"x")
    check_answer(put)
    base = f"/repositories/{repository}/refs/main/objects"
    for read in (
        f"{base}?path={written}",
        f"{base}/stat?path={written}",
        f"{base}/ls?prefix={written}&after={written}",
    ):
        check_answer(api.get(read))
    if put.status_code == 201:
        assert api.get(f"{base}/stat?path={written}").json()["path"] == path


@bounded
@given(taker=st.sampled_from(TAKERS), document=documents, value=documents)
def test_a_body_is_understood_or_refused(
    api: httpx.Client, repository: str, taker: tuple[str, str, str], document: Any, value: Any
) -> None:
    method, path, field = taker
    where = path.format(repository=repository)
    for body in (document, {field: value}):
        check_answer(api.request(method, where, content=msgspec.json.encode(body)))


@bounded
@given(body=st.binary(max_size=60))
@example(b'{"message": "\xff"}')
@example(b'{"message": "\\ud800"}')
@example(b"[" * 2000)
@example(b'{"date": 1e400}')
def test_bytes_that_are_no_document_are_refused(api: httpx.Client, repository: str, body: bytes) -> None:
    check_answer(api.post(f"/repositories/{repository}/branches/main/commits", content=body))


@bounded
@given(name=st.sampled_from(["amount", "after", "prefix", "delimiter", "since", "type", "presign"]), value=names)
def test_a_parameter_is_understood_or_refused(api: httpx.Client, repository: str, name: str, value: str) -> None:
    query = {name: value}
    for path in ("refs/main/objects/ls", "refs/main/commits", "branches", "branches/main/diff", "refs/main/diff/main"):
        check_answer(api.get(f"/repositories/{repository}/{path}", params=query))
    check_answer(api.get("/repositories", params=query))
    check_answer(api.get("/auth/users", params=query))


def test_a_slash_that_is_escaped_belongs_to_the_name(api: httpx.Client, repository: str) -> None:
    api.post(f"/repositories/{repository}/branches", json={"name": "a/b", "source": "main"}).raise_for_status()
    assert api.get(f"/repositories/{repository}/branches/a%2Fb").json()["id"] == "a/b"
    assert api.get(f"/repositories/{repository}/branches/a/b").status_code == 404


def test_what_is_too_large_is_refused_before_it_is_read(api: httpx.Client, repository: str) -> None:
    large = b'{"message": "' + b"x" * 9_000_000 + b'"}'
    assert api.post(f"/repositories/{repository}/branches/main/commits", content=large).status_code == 413
    assert api.get(f"/repositories/{repository}/refs/main/objects", params={"path": "x" * 40_000}).status_code == 414
