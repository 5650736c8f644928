"""What an action file may say, and what is told of one that makes no sense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.actions.action import parse_action
from headwater.actions.condition import Condition
from headwater.actions.durations import seconds_of
from headwater.actions.errors import BadAction

WEBHOOK = "hooks: [{id: a, type: webhook, properties: {url: 'http://x'}}]"


def parse(text: str, path: str = "_lakefs_actions/a.yaml") -> None:
    parse_action(path, text.encode())


def test_the_example_of_lakefs_is_understood() -> None:
    action = parse_action(
        "_lakefs_actions/good.yaml",
        b"""
name: Good files check
description: set of checks to verify that branch is good
on:
  pre-commit:
  pre-merge:
    branches:
      - main
      - stage-*
hooks:
  - id: no_temp
    type: webhook
    description: checking no temporary files found
    properties:
      url: "https://example.com/webhook?notmp=true"
      timeout: 1m30s
      query_params: {disallow: [user_, private_], prefix: public/}
      headers: {secret_header: "{{ ENV.MY_SECRET }}"}
  - id: alert
    type: webhook
    if: failure()
    properties: {url: "https://example.com/alert"}
  - id: notification
    type: webhook
    if: true
    properties: {url: "https://example.com/notification"}
  - id: dag
    type: airflow
    properties: {url: "http://airflow", dag_id: d, username: admin, password: "{{ ENV.P }}", dag_conf: {some: [1, x]}}
""",
    )
    assert action.name == "Good files check"
    assert [hook.id for hook in action.hooks] == ["no_temp", "alert", "notification", "dag"]
    assert action.is_for("pre-commit", "anything")
    assert action.is_for("pre-merge", "main")
    assert action.is_for("pre-merge", "stage-1/x")
    assert not action.is_for("pre-merge", "feature")
    assert not action.is_for("post-commit", "main")
    runs_after_failure = [hook.condition.holds(failed=True) for hook in action.hooks]
    assert runs_after_failure == [False, True, True, False]


def test_a_file_without_a_name_is_called_as_it_is() -> None:
    assert (
        parse_action("_lakefs_actions/sub/check.yml", f"on: {{pre-commit: }}\n{WEBHOOK}".encode()).name == "check.yml"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("on: {}\n" + WEBHOOK, "name an event"),
        ("on: {pre-push: }\n" + WEBHOOK, "pre-push"),
        ("on: {pre-create-tag: {branches: [main]}}\n" + WEBHOOK, "pre-create-tag"),
        ("on: {pre-commit: {branch: [main]}}\n" + WEBHOOK, "branch"),
        ("on: {pre-commit: }\nhooks: []", "hooks"),
        ("on: {pre-commit: }\n" + WEBHOOK.replace("webhook", "lua"), "lua"),
        ("on: {pre-commit: }\n" + WEBHOOK.replace("id: a", "id: a b"), "'a b'"),
        ("on: {pre-commit: }\n" + WEBHOOK.replace("url", "uri"), "uri"),
        ("on: {pre-commit: }\n" + WEBHOOK.replace("'http://x'", "'http://x', timeout: 1 hour"), "1 hour"),
        ("on: {pre-commit: }\n" + WEBHOOK.replace("'http://x'", "'http://x', headers: {Host: y}"), "Host"),
        ("on: {pre-commit: }\nif: true\n" + WEBHOOK, "if"),
        ("on: {pre-commit: }\n" + WEBHOOK.replace("id: a", "id: a, if: 'maybe()'"), "maybe"),
        ("on: {pre-commit: }\nhooks: [{id: a, type: starlark, properties: {}}]", "script"),
        ("- a\n- b", "object"),
        ("on: [", "YAML"),
        ("on: !!python/object/apply:os.system [ls]", "YAML"),
        ("a: &a [x]\nb: *a\n" + WEBHOOK, "line 2"),
        ("[" * 50 + "]" * 50, "nests"),
        ("", "object"),
        ("on: 1\x00", "YAML"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_by_its_name_and_place(text: str, told: str) -> None:
    with pytest.raises(BadAction) as refused:
        parse(text)
    assert str(refused.value).startswith("_lakefs_actions/a.yaml: ")
    assert told in str(refused.value)


def test_a_file_that_unfolds_to_more_than_memory_holds_is_refused() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    with pytest.raises(BadAction):
        parse(bomb)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_an_action_or_refused(content: bytes) -> None:
    try:
        parse_action("_lakefs_actions/a.yaml", content)
    except BadAction:
        return


@pytest.mark.parametrize(
    ("text", "after_success", "after_failure"),
    [
        ("", True, False),
        ("  ", True, False),
        ("success()", True, False),
        ("failure()", False, True),
        ("always()", True, True),
        ("!success()", False, True),
        ("false", False, False),
        ("success() || failure()", True, True),
        ("failure() || success() && false", False, True),
        ("(failure() || success()) && !false", True, True),
        ("success( ) && ! failure( )", True, False),
    ],
)
def test_an_if_decides_by_what_was_before(text: str, after_success: bool, after_failure: bool) -> None:  # noqa: FBT001
    condition = Condition(text)
    assert (condition.holds(failed=False), condition.holds(failed=True)) == (after_success, after_failure)


@pytest.mark.parametrize(
    "text", ["success", "success() success()", "(", "()", "!", "&& true", "true ||", "1", "x" * 300]
)
def test_an_if_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(BadAction, match="if:"):
        Condition(text)


@pytest.mark.parametrize(("text", "seconds"), [("1m30s", 90), ("500ms", 0.5), ("1.5s", 1.5), ("10m", 600)])
def test_a_duration_is_written_as_in_go(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "30", "1d", "-1s", "0s", "1h", "1s2", "s", "1 s"])
def test_a_time_that_is_none_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(BadAction, match="timeout"):
        seconds_of(text)
