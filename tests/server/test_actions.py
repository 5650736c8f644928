"""Hooks over the REST API: every way to change a repository gives them the occasion, and clients see their runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from dev.servers.headwater import Headwater
from tests.actions.listener import Answer, Listener, listening
from tests.server.clients import generated, sdk

EVERY = [
    f"{when}-{what}"
    for what in (
        "commit",
        "merge",
        "revert",
        "cherry-pick",
        "create-branch",
        "delete-branch",
        "create-tag",
        "delete-tag",
    )
    for when in ("pre", "post")
]


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


def put(api: httpx.Client, repository: str, path: str, text: str = "x", branch: str = "main") -> None:
    written = api.post(f"/repositories/{repository}/branches/{branch}/objects", params={"path": path}, content=text)
    assert written.status_code == 201, written.text


def action(listener: Listener, *events: str, path: str = "") -> str:
    on = ", ".join(f"{event}: " for event in events)
    return f"on: {{{on}}}\nhooks: [{{id: w, type: webhook, properties: {{url: '{listener.url}/{path}'}}}}]\n"


def change_everything(api: httpx.Client, repository: str, imports: Path) -> dict[str, Callable[[], httpx.Response]]:
    """What changes a repository, by the event. Each can be done once the ones before it were."""
    base = f"/repositories/{repository}"

    def commit(branch: str = "main") -> httpx.Response:
        put(api, repository, f"file-{time.monotonic_ns()}", branch=branch)
        return api.post(f"{base}/branches/{branch}/commits", json={"message": "m"})

    def merge() -> httpx.Response:
        return api.post(f"{base}/refs/side/merge/main", json={})

    def revert() -> httpx.Response:
        return api.post(f"{base}/branches/main/revert", json={"ref": "main", "parent_number": 1})

    def cherry_pick() -> httpx.Response:
        return api.post(f"{base}/branches/main/cherry-pick", json={"ref": "side"})

    def pull() -> httpx.Response:
        made = api.post(f"{base}/pulls", json={"title": "t", "source_branch": "side", "destination_branch": "main"})
        assert made.status_code == 201, made.text
        return api.put(f"{base}/pulls/{made.json()['id']}/merge", json={})

    def bring() -> httpx.Response:
        (imports / "brought").write_text("x")
        path = {"path": f"local://{imports}/", "type": "common_prefix", "destination": "brought/"}
        begun = api.post(f"{base}/branches/main/import", json={"paths": [path], "commit": {"message": "m"}})
        assert begun.status_code == 202, begun.text
        while not (state := api.get(f"{base}/branches/main/import", params=begun.json()).json())["completed"]:
            if "error" in state:
                return httpx.Response(412, json=state["error"])
        return httpx.Response(200)

    def undo(kind: str) -> httpx.Response:
        log = api.get(f"{base}/ref_log").json()["results"]
        deleted = next(each["id"] for each in log if (each["kind"], each["action"]) == (kind, "delete"))
        return api.post(f"{base}/ref_log/{deleted}/undo")

    return {
        "create-branch": lambda: api.post(f"{base}/branches", json={"name": "side", "source": "main"}),
        "commit": commit,
        "import": bring,
        "side": lambda: commit("side"),
        "merge": merge,
        "revert": revert,
        "cherry-pick": cherry_pick,
        "side again": lambda: commit("side"),
        "pull": pull,
        "create-tag": lambda: api.post(f"{base}/tags", json={"id": "v1", "ref": "main"}),
        "delete-tag": lambda: api.delete(f"{base}/tags/v1"),
        "delete-branch": lambda: api.delete(f"{base}/branches/side"),
        "tag again": lambda: undo("tag"),
        "branch again": lambda: undo("branch"),
    }


EVENTS_OF = {
    "import": "commit",
    "side": "commit",
    "side again": "commit",
    "pull": "merge",
    "tag again": "create-tag",
    "branch again": "create-branch",
}


def test_every_way_to_change_a_repository_is_an_occasion_for_hooks(
    api: httpx.Client, repository: str, imports: Path, listener: Listener
) -> None:
    put(api, repository, "_lakefs_actions/all.yaml", action(listener, *EVERY))
    changes = change_everything(api, repository, imports)
    assert changes.pop("commit")().is_success
    await_heard(listener, "post-commit")
    for name, change in changes.items():
        listener.received.clear()
        listener.answers = lambda received: Answer(400 if received.body["event_type"].startswith("pre-") else 200)
        refused = change()
        assert refused.status_code == 412, (name, refused.text)
        assert "hook 'w' of action 'all.yaml'" in refused.text
        listener.answers = lambda _: Answer()
        done = change()
        assert done.is_success, (name, done.text)
        event = EVENTS_OF.get(name, name)
        heard = {received.body["event_type"] for received in await_heard(listener, f"post-{event}")}
        assert heard == {f"pre-{event}", f"post-{event}"}, name


def await_heard(listener: Listener, event: str) -> list[Any]:
    """What the listener received, once that *event* is among it: it comes behind the back of whoever caused it."""
    deadline = time.monotonic() + 30
    while event not in {received.body["event_type"] for received in listener.received}:
        assert time.monotonic() < deadline, event
    return list(listener.received)


def test_the_published_client_reads_runs_and_what_hooks_said(
    server: Headwater, api: httpx.Client, repository: str, listener: Listener
) -> None:
    client = generated(server).actions_api
    listener.answers = lambda _: Answer(403, "not on a Friday")
    put(api, repository, "_lakefs_actions/a.yaml", action(listener, "pre-commit"))
    refused = api.post(f"/repositories/{repository}/branches/main/commits", json={"message": "m"})
    assert refused.status_code == 412
    [run] = client.list_repository_runs(repository).results
    assert run.run_id in refused.json()["message"]
    assert (run.event_type, run.branch, run.status) == ("pre-commit", "main", "failed")
    assert run.end_time >= run.start_time
    assert client.get_run(repository, run.run_id) == run
    [hook] = client.list_run_hooks(repository, run.run_id).results
    assert (hook.hook_id, hook.action, hook.status) == ("w", "a.yaml", "failed")
    said = client.get_run_hook_output(repository, run.run_id, hook.hook_run_id).decode()
    assert "not on a Friday" in said
    listener.answers = lambda _: Answer()
    made = api.post(f"/repositories/{repository}/branches/main/commits", json={"message": "m"}).json()
    [completed] = client.list_repository_runs(repository, commit=made["id"]).results
    assert completed.status == "completed"
    page = client.list_repository_runs(repository, branch="main", amount=1)
    assert page.results == [completed]
    assert client.list_repository_runs(repository, branch="main", after=page.pagination.next_offset).results == [run]
    with pytest.raises(sdk.exceptions.NotFoundException):
        client.get_run(repository, "nothing")
    with pytest.raises(sdk.exceptions.NotFoundException):
        client.get_run_hook_output(repository, run.run_id, "nothing")


def test_a_server_reaches_nothing_of_its_own_network_unless_it_is_told_to(
    server: Headwater, api: httpx.Client, repository: str
) -> None:
    own = server.url.replace("127.0.0.1", "localhost")
    text = f"on: {{pre-commit: }}\nhooks: [{{id: w, type: webhook, properties: {{url: '{own}/api/v1/setup_lakefs'}}}}]"
    put(api, repository, "_lakefs_actions/a.yaml", text)
    refused = api.post(f"/repositories/{repository}/branches/main/commits", json={"message": "m"})
    assert refused.status_code == 412
    assert "not public" in refused.json()["message"]


def test_a_script_that_never_ends_keeps_nobody_waiting(api: httpx.Client, repository: str) -> None:
    forever = "def f():\n            for i in range(1 << 20):\n              sorted(range(1 << 20))\n          f()"
    properties = f"      timeout: 9s\n      script: |\n          {forever}\n"
    text = f"on:\n  post-commit:\nhooks:\n  - id: s\n    type: starlark\n    properties:\n{properties}"
    put(api, repository, "_lakefs_actions/a.yaml", text)
    began = time.monotonic()
    made = api.post(f"/repositories/{repository}/branches/main/commits", json={"message": "m"})
    assert made.status_code == 201, made.text
    for _ in range(20):
        assert api.get(f"/repositories/{repository}").is_success
    assert time.monotonic() - began < 8.5
    runs: list[Any] = []
    while not runs:
        runs = api.get(f"/repositories/{repository}/actions/runs").json()["results"]
    assert (runs[0]["event_type"], runs[0]["status"]) == ("post-commit", "failed")
