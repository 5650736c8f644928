"""Hooks around what is done: what stops it, what does not, which files count, and what is kept of it all."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable

import msgspec
import pytest

from headwater.actions import Actions, Destinations, Executor, HookRefused, Occasion, Runs
from headwater.actions.limits import RETENTION
from headwater.blob.namespace import run_output_name
from headwater.engine import branches
from headwater.engine.errors import NothingToMerge
from headwater.engine.merge import merge, revert
from headwater.engine.write import delete
from headwater.outside import Outside, real_outside
from tests.actions.conftest import SECRET
from tests.actions.listener import Answer, Listener, Received
from tests.actions.stage import Stage, script
from tests.engine.lakes import commit, description, files_at, put

pytestmark = pytest.mark.anyio


def webhook(url: str, event: str, more: str = "") -> str:
    return (
        f"name: W\non: {{{event}: }}\nhooks:\n  - id: w\n    type: webhook\n    properties:\n      url: {url}\n{more}"
    )


async def test_a_webhook_is_told_of_a_commit_before_and_after_it(stage: Stage, listener: Listener) -> None:
    await stage.write("a.yaml", webhook(f"{listener.url}/hook?x=1", "pre-commit: , post-commit"))
    made = await stage.commit("load", job="7", a="1")
    await stage.actions.aclose()
    before, after = listener.received
    expected = {
        "event_type": "pre-commit",
        "action_name": "W",
        "hook_id": "w",
        "repository_id": "sales",
        "branch_id": "main",
        "source_ref": "main",
        "commit_message": "load",
        "commit_metadata": {"job": "7"},
        "committer": "anna",
        "commit_id": made.id,
    }
    assert {**before.body, "event_time": ""} == {**expected, "event_time": ""}
    assert before.body["event_time"].endswith("Z")
    assert (before.method, before.path, before.headers["content-type"]) == ("POST", "/hook?x=1", "application/json")
    assert (after.body["event_type"], after.body["commit_id"]) == ("post-commit", made.id)
    assert after.body["source_ref"] == made.id


@pytest.mark.parametrize("status", [301, 404, 500])
async def test_an_answer_but_2xx_before_a_commit_stops_it(stage: Stage, listener: Listener, status: int) -> None:
    listener.answers = lambda _: Answer(status, "there is a freeze")
    await stage.write("a.yaml", webhook(listener.url, "pre-commit"))
    with pytest.raises(HookRefused, match=f"answered {status}") as refused:
        await stage.commit(a="1")
    run = (await stage.runs())[0]
    assert run.id in str(refused.value)
    assert (run.event, run.branch, run.passed, [hook.passed for hook in run.hooks]) == (
        "pre-commit",
        "main",
        False,
        [False],
    )
    assert "there is a freeze" in (await stage.said())[0]
    assert await files_at(stage.repository, "main@") == {}


async def test_a_hook_that_comes_after_changes_nothing_by_failing(stage: Stage, listener: Listener) -> None:
    listener.answers = lambda _: Answer(500)
    await stage.write("a.yaml", webhook(listener.url, "post-commit"))
    made = await stage.commit(a="1")
    await stage.actions.aclose()
    run = (await stage.runs())[0]
    assert (run.event, run.commit, run.passed) == ("post-commit", made.id, False)


async def test_a_hook_that_takes_too_long_fails(stage: Stage, listener: Listener) -> None:
    listener.answers = lambda _: Answer(None)
    await stage.write("a.yaml", webhook(listener.url, "pre-commit", "      timeout: 100ms\n"))
    with pytest.raises(HookRefused, match=r"within 0\.1 seconds"):
        await stage.commit(a="1")


async def test_conditions_decide_which_hooks_run_after_one_that_failed(stage: Stage, listener: Listener) -> None:
    hooks = "".join(
        f"  - {{id: {name}, type: webhook, {condition} properties: {{url: '{listener.url}/{name}'}}}}\n"
        for name, condition in [
            ("first", ""),
            ("unless", "if: failure(),"),
            ("fails", "if: success(),"),
            ("skipped", ""),
            ("alert", "if: failure(),"),
            ("note", "if: always(),"),
        ]
    )
    listener.answers = lambda received: Answer(400 if received.path == "/fails" else 200)
    await stage.write("a.yaml", f"on: {{pre-commit: }}\nhooks:\n{hooks}")
    with pytest.raises(HookRefused, match="'fails'"):
        await stage.commit(a="1")
    assert [received.path for received in listener.received] == ["/first", "/fails", "/alert", "/note"]
    run = (await stage.runs())[0]
    assert [(hook.hook, hook.passed) for hook in run.hooks] == [
        ("first", True),
        ("fails", False),
        ("alert", True),
        ("note", True),
    ]
    assert [hook.id for hook in run.hooks] == sorted(hook.id for hook in run.hooks)


async def test_patterns_of_branches_decide_where_an_action_runs(stage: Stage) -> None:
    text = script("fail('no')").replace("pre-commit:", "pre-commit: {branches: [main, etl**]}")
    await stage.write("a.yaml", text)
    with pytest.raises(HookRefused):
        await stage.commit(a="1")
    head = (await stage.repository.branches.fresh("main")).branch.commit
    for name in ("feature", "etl-x/1"):
        await branches.create_branch(stage.repository, name, head)
        await stage.write("a.yaml", text, name)
    await stage.commit(branch="feature", a="1")
    with pytest.raises(HookRefused):
        await stage.commit(branch="etl-x/1", a="1")


async def test_a_merge_is_looked_at_as_it_will_be(stage: Stage) -> None:
    await stage.commit(a="1")
    await stage.create_branch("feature")
    await stage.commit(branch="feature", b="2")
    await stage.write("merge.yaml", script("print([each['path'] for each in lake.diff()])\nfail('no')", "pre-merge"))
    await stage.commit(c="3")
    with pytest.raises(HookRefused, match="pre-merge"):
        await stage.merge("feature")
    assert (await stage.said())[0].startswith('["b"]\n')
    await stage.write("merge.yaml", script("print(event['merge_source'], event['branch_id'])", "pre-merge"))
    await stage.commit()
    await stage.merge("feature")
    assert await stage.said() == ["feature main\n"]


async def test_a_file_that_makes_no_sense_stops_what_would_keep_it(stage: Stage) -> None:
    await stage.write("a.yaml", "on: {pre-merge: }\nhooks: what")
    with pytest.raises(HookRefused, match=r"_lakefs_actions/a\.yaml"):
        await stage.commit(a="1")
    run = (await stage.runs())[0]
    assert (run.passed, run.hooks) == (False, ())
    assert "a.yaml" in run.problem
    await stage.write("a.yaml", script("print('mended')"))
    await stage.commit(a="1")


async def test_files_count_from_the_commit_that_brings_them_to_the_one_that_takes_them_away(stage: Stage) -> None:
    await stage.commit(a="1")
    await stage.write("a.yaml", script("print('x')"))
    brought = await stage.commit()
    kept = await stage.commit(a="2")
    await delete(stage.repository, "main", ["_lakefs_actions/a.yaml"])
    await stage.commit()
    await stage.commit(a="3")
    assert [run.commit for run in await stage.runs()] == [kept.id, brought.id]
    async with stage.actions.around(stage.repository, Occasion("revert", branch="main"), stage.by) as done:
        undone = await revert(stage.repository, "main~1", "main", description("back"), check=done.check)
        done.commit = undone.id
    assert len(await stage.runs()) == 2
    await stage.commit(a="4")
    assert len(await stage.runs()) == 3


async def test_other_files_beside_actions_are_none(stage: Stage) -> None:
    await put(stage.repository, **{"_lakefs_actions/README.md": "# Hooks", "_lakefs_actions/check.star": "fail('no')"})
    await stage.commit(a="1")
    assert await stage.runs() == []


async def test_hooks_before_a_branch_or_tag_is_made_or_deleted_stop_it(stage: Stage) -> None:
    names = ["pre-create-branch", "pre-delete-branch", "pre-create-tag", "pre-delete-tag"]
    for name in names:
        await stage.write(
            f"{name}.yaml", script(f"fail('{name}: ' + event.get('branch_id', event.get('tag_id', '')))", name)
        )
    made = await stage.commit(a="1")
    await branches.create_branch(stage.repository, "old", made.id)
    await branches.create_tag(stage.repository, "v1", made.id)
    occasions = [
        Occasion("create-branch", branch="new", commit=made.id),
        Occasion("delete-branch", branch="old"),
        Occasion("create-tag", tag="v2", commit=made.id),
        Occasion("delete-tag", tag="v1"),
    ]
    subjects = ["new", "old", "v2", "v1"]
    for name, occasion, subject in zip(names, occasions, subjects, strict=True):
        with pytest.raises(HookRefused, match=f"fail: {name}: {subject}"):
            async with stage.actions.around(stage.repository, occasion, stage.by):
                pytest.fail("it was done all the same")
    assert [run.event for run in await stage.runs()] == names[::-1]
    assert [(run.branch, run.tag) for run in await stage.runs()] == [("", "v1"), ("", "v2"), ("old", ""), ("new", "")]


async def test_what_was_not_done_has_nothing_after_it(stage: Stage, listener: Listener) -> None:
    await stage.write("a.yaml", webhook(listener.url, "post-merge"))
    await stage.commit(a="1")
    await stage.create_branch("feature")
    with pytest.raises(NothingToMerge):
        await stage.merge("feature")
    await stage.actions.aclose()
    assert listener.received == []


def writing(stage: Stage, **files: str) -> Callable[[Received], Answer]:
    """Answers after it has written to main, as a client of the server would."""
    loop = asyncio.get_running_loop()

    def answer(_: Received) -> Answer:
        asyncio.run_coroutine_threadsafe(put(stage.repository, **files), loop).result(20)
        return Answer()

    return answer


async def test_what_is_written_to_prepare_a_commit_is_in_it(stage: Stage, listener: Listener) -> None:
    await stage.write("a.yaml", webhook(listener.url, "prepare-commit"))
    await stage.commit(a="1")
    assert listener.received == []  # the file was not there before
    listener.answers = writing(stage, manifest="of it all")
    made = await stage.commit(b="2")
    assert [received.body["event_type"] for received in listener.received] == ["prepare-commit"]
    assert set(await files_at(stage.repository, made.id)) == {"_lakefs_actions/a.yaml", "a", "b", "manifest"}


async def test_what_is_written_while_hooks_look_is_not_in_the_commit(stage: Stage, listener: Listener) -> None:
    await stage.write("a.yaml", webhook(listener.url, "pre-commit"))
    listener.answers = writing(stage, sneaked="in")
    made = await stage.commit(a="1")
    assert set(await files_at(stage.repository, made.id)) == {"_lakefs_actions/a.yaml", "a"}
    assert "sneaked" in await files_at(stage.repository, "main")


async def test_a_commit_that_somebody_overtook_is_looked_at_again(stage: Stage, listener: Listener) -> None:
    """Another worker merges into the branch while hooks look: what they saw is not what would land."""
    await stage.write("a.yaml", webhook(listener.url, "pre-commit"))
    await stage.commit(a="1")
    await stage.create_branch("feature")
    await commit(stage.repository, "feature", c="3")
    loop = asyncio.get_running_loop()
    other = await stage.elsewhere()

    def overtaking(_: Received) -> Answer:
        if len(listener.received) == 2:
            merging = merge(other, "feature", "main", description("overtaking"))
            asyncio.run_coroutine_threadsafe(merging, loop).result(20)
        return Answer()

    listener.answers = overtaking
    made = await stage.commit(b="2")
    looked_at = [received.body["commit_id"] for received in listener.received]
    assert len(looked_at) == 3
    assert looked_at[2] == made.id
    assert looked_at[1] != made.id


async def test_secrets_are_sent_and_never_told(stage: Stage, listener: Listener) -> None:
    credentials = base64.b64encode(SECRET.encode()).decode()

    def repeating(received: Received) -> Answer:
        return Answer(401, f"{received.path} {json.dumps(received.headers)} {credentials} {'x' * 16_300} {SECRET}")

    listener.answers = repeating
    more = "      headers: {x-token: 'Bearer {{ ENV.HOOK_SECRET }}'}\n"
    more += "      query_params: {t: ['{{ENV.HOOK_SECRET}}', b]}\n"
    await stage.write("a.yaml", webhook(listener.url, "pre-commit", more))
    with pytest.raises(HookRefused) as refused:
        await stage.commit(a="1")
    received = listener.received[0]
    assert received.headers["x-token"] == f"Bearer {SECRET}"
    assert received.path == "/?t=hush%2F1+2&t=b"
    told = str(refused.value) + (await stage.said())[0]
    assert "******" in told
    for form in (SECRET, "hush%2F1", "hush/1", credentials):
        assert form not in told


@pytest.mark.parametrize("name", ["PATH", "HEADWATER_SECRET", "NOTHING"])
async def test_only_variables_that_are_allowed_can_be_named(stage: Stage, listener: Listener, name: str) -> None:
    await stage.write("a.yaml", webhook(listener.url, "pre-commit", f"      headers: {{x: '{{{{ ENV.{name} }}}}'}}\n"))
    with pytest.raises(HookRefused, match=f"ENV.{name}"):
        await stage.commit(a="1")
    assert listener.received == []


AIRFLOW = """
on: {{pre-commit: }}
hooks:
  - id: dag
    type: airflow
    properties:
      url: {url}/
      dag_id: load it
      username: admin
      password: "{{{{ ENV.HOOK_SECRET }}}}"
      dag_conf: {{some: conf}}
      wait_for_dag: {wait}
      timeout: 20s
"""


async def test_a_dag_of_airflow_is_started(stage: Stage, listener: Listener) -> None:
    await stage.write("a.yaml", AIRFLOW.format(url=listener.url, wait="false"))
    await stage.commit("load", a="1")
    [received] = listener.received
    run = (await stage.runs())[0]
    assert (received.method, received.path) == ("POST", "/api/v1/dags/load%20it/dagRuns")
    assert received.headers["authorization"] == "Basic " + base64.b64encode(f"admin:{SECRET}".encode()).decode()
    assert received.body["dag_run_id"] == f"lakeFS_hook_dag_{run.id}"
    assert received.body["conf"]["some"] == "conf"
    assert received.body["conf"]["lakeFS_event"]["commit_message"] == "load"


@pytest.mark.parametrize(("state", "passes"), [("success", True), ("failed", False)])
async def test_a_dag_can_be_waited_for(stage: Stage, listener: Listener, state: str, passes: bool) -> None:  # noqa: FBT001
    listener.answers = lambda received: Answer(
        200, json.dumps({"state": "queued" if received.method == "POST" else state})
    )
    await stage.write("a.yaml", AIRFLOW.format(url=listener.url, wait="true"))
    if passes:
        await stage.commit(a="1")
    else:
        with pytest.raises(HookRefused, match="DAG 'load it' failed"):
            await stage.commit(a="1")
    assert listener.received[1].path.startswith("/api/v1/dags/load%20it/dagRuns/lakeFS_hook_dag_")


async def test_an_airflow_that_refuses_fails_the_hook(stage: Stage, listener: Listener) -> None:
    listener.answers = lambda _: Answer(404, "no such DAG")
    await stage.write("a.yaml", AIRFLOW.format(url=listener.url, wait="true"))
    with pytest.raises(HookRefused, match="answered 404"):
        await stage.commit(a="1")
    assert "no such DAG" in (await stage.said())[0]


async def test_runs_are_listed_newest_first_in_pages_by_branch_and_by_commit(stage: Stage) -> None:
    await stage.write("a.yaml", script("print('x')"))
    first = await stage.commit(a="1")
    for number in range(4):
        await stage.commit(a=f"again {number}")
    await stage.create_branch("main/x")
    elsewhere = await stage.commit(branch="main/x", b="1")
    everything = await stage.runs()
    assert [run.started for run in everything] == sorted((run.started for run in everything), reverse=True)
    runs = stage.actions.runs
    seen, after = [], ""
    while page := await runs.page(stage.repository, after=after, amount=2):
        seen += page
        after = page[-1].id
    assert seen == everything
    assert len(everything) == 6
    on_main = await runs.page(stage.repository, branch="main", amount=10)
    assert [run.commit for run in on_main][-1] == first.id
    assert len(on_main) == 5
    assert await runs.page(stage.repository, branch="main", after=on_main[1].id, amount=2) == on_main[2:4]
    assert [run.commit for run in await runs.page(stage.repository, commit=elsewhere.id, amount=9)] == [elsewhere.id]
    assert await runs.page(stage.repository, branch="main", commit=elsewhere.id, amount=9) == []
    assert await runs.page(stage.repository, branch="mai", amount=9) == []


async def test_runs_that_are_too_old_are_forgotten_with_what_they_said(stage: Stage) -> None:
    repository = stage.repository
    clock = [real_outside().now()]
    outside = Outside(lambda: clock[0], real_outside().elapsed, real_outside().random, real_outside().sleep)
    runs = Runs(repository.store, outside)
    actions = Actions(runs, Executor(Destinations(), {}, outside, lambda *_: None), outside, lambda *_: None)
    aged = Stage(repository, actions)
    await aged.write("a.yaml", script("print('x')"))
    await aged.commit(a="0")
    [old] = await aged.runs()
    clock[0] += RETENTION + 1000
    for _ in range(100):
        await runs.keep(repository, msgspec.structs.replace(old, id=runs.new_id(clock[0]), commit="", hooks=()), [])
    assert old.id not in {run.id for run in await runs.page(repository, amount=1000)}
    assert await runs.page(repository, commit=old.commit, amount=10) == []
    assert await repository.blobs.stat(run_output_name(old.id, old.hooks[0].id)) is None


async def test_a_repository_that_is_deleted_takes_its_runs_along(stage: Stage) -> None:
    await stage.write("a.yaml", script("print('x')"))
    await stage.commit(a="1")
    await stage.actions.forget(stage.repository)
    assert await stage.runs() == []
