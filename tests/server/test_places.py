"""What clients name of storage is a place and nothing more: not a server to ask, not a way out of a directory."""

from __future__ import annotations

import httpx
import pytest

NOT_PLACES = [
    "s3://bucket?endpoint=http://elsewhere.example",
    "s3://bucket?endpoint=http:%2F%2Felsewhere.example%2F/prefix",
    "s3://user:secret@bucket/prefix",
    "s3://bucket:9000/prefix",
    "s3://../prefix",
    "s3://[x/prefix",
    "s3://",
    "gs://a b/prefix",
    "az://bucket#fragment",
    "file:///etc",
    "mem://here",
    "https://example.org/x",
    "local://",
    "local://..",
    "local://a/../../b",
    "local://a//b",
    "local://a\0b",
    "nonsense",
]


@pytest.mark.parametrize("place", NOT_PLACES)
def test_a_repository_is_kept_in_no_such_place(api: httpx.Client, place: str) -> None:
    refused = api.post("/repositories", json={"name": "nowhere", "storage_namespace": place})
    assert refused.status_code == 400, refused.text
    assert api.get("/repositories/nowhere").status_code == 404


@pytest.mark.parametrize("place", NOT_PLACES)
def test_nothing_is_imported_or_linked_from_such_a_place(api: httpx.Client, repository: str, place: str) -> None:
    source = {"type": "object", "path": place, "destination": "a"}
    refused = api.post(f"/repositories/{repository}/branches/main/import", json={"paths": [source], "commit": {}})
    assert refused.status_code in (400, 403), refused.text
    stage = {"physical_address": place, "checksum": "x", "size_bytes": 1}
    refused = api.put(f"/repositories/{repository}/branches/main/objects?path=a", json=stage)
    assert refused.status_code in (400, 403), refused.text


def test_nothing_comes_from_a_directory_that_the_settings_do_not_name(api: httpx.Client, repository: str) -> None:
    for path in ("/etc/passwd", "/proc/self/environ"):
        stage = {"physical_address": f"local://{path}", "checksum": "x", "size_bytes": 1}
        refused = api.put(f"/repositories/{repository}/branches/main/objects?path=a", json=stage)
        assert refused.status_code == 403, refused.text
