"""Garbage collection that is shared out, as a client of HTTP sees it: begun, looked at, finished, swept."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dev.servers.headwater import Headwater
from headwater.blob.namespace import data_name

OLD = 1_700_000_000


@pytest.fixture
def storage(server: Headwater, api: httpx.Client, repository: str) -> Path:
    """Where the objects of the repository are, one of which is committed, one staged, and one garbage; all are old."""
    told: str = api.get(f"/repositories/{repository}").json()["storage_namespace"]
    directory = server.data / "objects" / told.removeprefix("local://")
    objects = f"/repositories/{repository}/branches/main/objects"
    api.post(objects, params={"path": "committed"}, content=b"1").raise_for_status()
    api.post(f"/repositories/{repository}/branches/main/commits", json={"message": "first"}).raise_for_status()
    api.post(objects, params={"path": "staged"}, content=b"2").raise_for_status()
    garbage = directory / GARBAGE
    garbage.parent.mkdir(parents=True)
    garbage.write_bytes(b"garbage")
    for file in directory.glob("data/*/*"):
        os.utime(file, (OLD, OLD))
    return directory


GARBAGE = data_name(OLD * 1000, "garbage")


def names(answer: httpx.Response) -> set[str]:
    assert answer.status_code == 200, answer.text
    return set(pa.ipc.open_stream(answer.content).read_all().column("address").to_pylist())


def swept(api: httpx.Client, url: str, **told: Any) -> dict[str, Any]:
    begun = api.post(url, json=told)
    assert begun.status_code == 202, begun.text
    until = time.monotonic() + 60
    while time.monotonic() < until:
        status: dict[str, Any] = api.get(url, params=begun.json()).json()
        if status["completed"]:
            return status
    raise AssertionError("it took a minute")


def test_a_run_is_begun_looked_at_finished_and_swept(api: httpx.Client, repository: str, storage: Path) -> None:
    runs = f"/repositories/{repository}/gc/runs"
    begun = api.post(runs, json={"age": 7200})
    assert begun.status_code == 201, begun.text
    plan, parts = begun.json()["plan"], begun.json()["parts"]
    assert plan["now"] - plan["cutoff"] == 7_200_000
    assert any(GARBAGE.startswith(part) for part in parts)
    run = f"{runs}/{plan['run']}"
    lying = {str(file.relative_to(storage)) for file in storage.glob("data/*/*")}
    assert names(api.post(f"{run}/references")) == lying - {GARBAGE}
    assert names(api.post(f"{run}/notes")) == set()
    [commits] = (storage / "meta/gc" / plan["run"] / "commits").glob("*.parquet")
    assert pq.read_table(commits).num_rows == 2

    refused = api.post(f"{run}/sweep", json={})
    assert refused.status_code == 404, "there is no plan yet"
    rows = storage / "meta/gc" / plan["run"] / "objects" / "part-00000.parquet"
    rows.parent.mkdir()
    pq.write_table(pa.table({"address": [GARBAGE], "size": [7], "modified": [OLD * 1000]}), rows)
    done = api.post(f"{run}/plan", json={"candidates": 3, "segments": 0, "objects": 1, "bytes": 7})
    assert done.status_code == 201, done.text
    told = done.json()
    assert (told["commits"], told["candidates"], told["objects"], told["bytes"]) == (2, 3, 1, 7)

    dry = swept(api, f"{run}/sweep", dry_run=True)
    assert (dry["result"]["deleted"], (storage / GARBAGE).exists()) == (1, True)
    done_for_good = swept(api, f"{run}/sweep")
    assert (done_for_good["result"]["deleted"], done_for_good["result"]["bytes"]) == (1, 7)
    assert {str(file.relative_to(storage)) for file in storage.glob("data/*/*")} == lying - {GARBAGE}


def test_what_was_never_begun_is_not_gone_on_with(api: httpx.Client, repository: str) -> None:
    runs = f"/repositories/{repository}/gc/runs"
    assert api.post(runs, json={"age": 60}).status_code == 400
    for run in ("20200101T000000Z-00000000", "..%2F..%2Fsecret"):
        result = {"candidates": 1, "segments": 1, "objects": 1, "bytes": 1}
        for step, body in (("references", None), ("notes", None), ("plan", result), ("sweep", {})):
            refused = api.post(f"{runs}/{run}/{step}", json=body)
            assert refused.status_code in (400, 404), refused.text
