"""Scripts: what they can look at, how they fail, and that none of them can do harm or hang."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from headwater.actions import HookRefused
from headwater.staging.errors import NothingToCommit
from tests.actions.stage import Somebody, Stage, script

pytestmark = pytest.mark.anyio


async def refusal(stage: Stage, source: str, more: str = "") -> str:
    """Why a commit is refused that this script looks at."""
    await stage.write("check.yaml", script(source, more=more))
    with pytest.raises(HookRefused) as refused:
        await stage.commit(a="1")
    return str(refused.value)


async def said(stage: Stage, source: str) -> list[str]:
    """What a script says that looks at a commit of two files, and lets it pass."""
    await stage.write("check.yaml", script(source))
    await stage.commit(**{"data/a.txt": "one", "data/b.txt": "two"}, job="load")
    return (await stage.said())[0].splitlines()


async def test_a_script_sees_what_is_about_to_be_committed(stage: Stage) -> None:
    await stage.commit(**{"data/old.txt": "zero"})
    lines = await said(
        stage,
        """
        print(lake.read("data/a.txt"))
        print([each["path"] for each in lake.list("data/")])
        print([each["path"] for each in lake.list("data/", ref="main@")])
        print([(each["path"], each["type"]) for each in lake.diff(prefix="data/")])
        print(lake.stat("data/b.txt")["size"], lake.stat("nothing"))
        print(lake.list("", delimiter="/", amount=2))
        print(lake.metadata()["message"], lake.metadata("main")["message"])
        print(event["event_type"], event["branch_id"], event["commit_metadata"], event["committer"])
        print(event["commit_id"] == lake.metadata()["id"], args)
        """,
    )
    assert lines == [
        "one",
        '["data/a.txt", "data/b.txt", "data/old.txt"]',
        '["data/old.txt"]',
        '[["data/a.txt", "added"], ["data/b.txt", "added"]]',
        "3 null",
        '[{"path": "_lakefs_actions/", "prefix": true}, {"path": "data/", "prefix": true}]',
        "a change a change",
        'pre-commit main {"job": "load"} anna',
        "true {}",
    ]


async def test_what_a_script_refuses_is_not_committed_and_stays_staged(stage: Stage) -> None:
    before = (await stage.repository.branches.fresh("main")).branch.commit
    told = await refusal(
        stage,
        """
        def check(path):
            if "user" in lake.read(path):
                fail(path + " has users in it")

        for each in lake.diff():
            check(each["path"])
        """,
    )
    # the script itself is in the commit, and has the word in it
    assert "pre-commit: hook 'check' of action 'check.yaml'" in told
    assert "has users in it" in told
    assert (await stage.repository.branches.fresh("main")).branch.commit == before
    await stage.write("check.yaml", script("print('fine')"))
    made = await stage.commit()
    assert (await stage.repository.commits.get(made.id)).parents == (before,)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("fail('as it says')", "as it says"),
        ("1 // 0", "division"),
        ("x = = 1", "Parse error"),
        ("nothing_here", "nothing_here"),
        ("lake.read('nothing')", "nothing at 'nothing'"),
        ("lake.read('a', ref='nowhere')", "nowhere"),
        ("lake.read(1)", "path is of type str"),
        ("lake.read()", "path"),
        ("lake.list(amount=5000)", "amount=5000"),
        ("lake.write('a')", "write"),
        ("load('os.star', 'os')", "load"),
        ("open('/etc/passwd')", "open"),
        ("__import__('os')", "__import__"),
        ("while True: pass", "while"),
        ("def f(n): return f(n + 1)\nf(0)", "stack"),
    ],
)
async def test_a_script_that_goes_wrong_refuses(stage: Stage, source: str, told: str) -> None:
    assert told in await refusal(stage, source)


LOOPS = {
    "steps": "def f():\n  for i in range(1 << 30):\n    pass\nf()",
    "one long call": "sorted(range(1 << 24))\nsorted(range(1 << 24))\nsorted(range(1 << 24))",
    "loops": "def f():\n  for i in range(1 << 30):\n    x = [k for j in range(1000) for k in range(1000)]\nf()",
}


@pytest.mark.parametrize("source", LOOPS.values(), ids=LOOPS)
async def test_a_script_that_never_ends_is_ended_and_nobody_waits_for_it(stage: Stage, source: str) -> None:
    began = time.monotonic()
    told = await refusal(stage, source, more="      timeout: 1s\n")
    assert any(each in told for each in ("more than the", "was not through within 1 seconds", "more memory"))
    assert time.monotonic() - began < 60


async def test_a_script_takes_no_more_memory_than_it_may(stage: Stage) -> None:
    told = await refusal(stage, "x = 'a' * (1 << 30)\nprint(len(x))")
    assert "memory" in told


async def test_what_a_script_says_is_kept_up_to_a_limit(stage: Stage) -> None:
    await stage.write("check.yaml", script("def f():\n  for i in range(20000):\n    print('x' * 1000)\nf()"))
    await stage.commit(a="1")
    assert 60_000 < len((await stage.said())[0]) < 70_000


async def test_a_script_can_ask_only_so_often(stage: Stage) -> None:
    assert "1000 times" in await refusal(stage, "def f():\n  for i in range(1001):\n    lake.stat('a')\nf()")


@pytest.mark.parametrize(
    ("forbidden", "source"),
    [
        ("fs:ReadObject", "lake.read('a')"),
        ("fs:ReadObject", "lake.stat('a')"),
        ("fs:ListObjects", "lake.list()"),
        ("fs:ListObjects", "lake.diff()"),
        ("fs:ReadCommit", "lake.metadata()"),
    ],
)
async def test_a_script_looks_at_nothing_that_its_doer_may_not(stage: Stage, forbidden: str, source: str) -> None:
    stage.by = Somebody(frozenset({forbidden}))
    assert forbidden in await refusal(stage, source)


async def test_a_script_may_be_a_file_of_the_repository_and_take_arguments(stage: Stage) -> None:
    text = """
    on: {pre-commit: }
    hooks:
      - id: sizes
        type: starlark
        properties:
          script_path: scripts/size.star
          args: {most: 3, below: [data/]}
    """
    await stage.write("sizes.yaml", text)
    await stage.commit(**{"scripts/size.star": "print(args['below'], args['most'])"})
    assert await stage.said() == ['["data/"] 3\n']
    with pytest.raises(HookRefused, match=r"size\.star:1"):
        await stage.commit(**{"scripts/size.star": "fail('no')"})


async def test_the_process_of_a_script_has_nothing_of_the_servers(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments: list[bytes] = []

    class Watching(Somebody):
        """Is asked while the script waits, and looks at its process."""

        def may(self, action: str, resource: str) -> bool:
            environments.extend(filter(None, map(environ_of, children())))
            return super().may(action, resource)

    stage.by = Watching()
    monkeypatch.setenv("HEADWATER_SECRET", "a secret of the server")
    await stage.write("check.yaml", script("lake.stat('a')"))
    await stage.commit(a="1")
    assert len(environments) == 1
    assert b"HEADWATER" not in environments[0]
    assert not any(map(environ_of, children()))


def children() -> list[str]:
    """The processes that this one started and that are still there."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()


def environ_of(process: str) -> bytes:
    """The environment of a process that runs scripts, and something in it; nothing of any other."""
    where = Path(f"/proc/{process}")
    is_script = b"sandbox.py" in (where / "cmdline").read_bytes()
    return b"PROCESS=script\0" + (where / "environ").read_bytes() if is_script else b""


async def test_an_empty_commit_is_no_occasion(stage: Stage) -> None:
    with pytest.raises(NothingToCommit):
        await stage.commit()
    assert await stage.runs() == []
