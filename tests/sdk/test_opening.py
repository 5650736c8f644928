"""Opening a lake, what that brings along, and from where it can be used."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import headwater
from headwater.sdk.sync import Branch, Lake


def in_a_python_of_its_own(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_headwater_brings_nothing_along() -> None:
    code = (
        "import sys, headwater; headwater.HeadwaterError;"
        "print({'pyarrow', 'polars', 'lmdb', 'obstore', 'asyncio', 'msgspec', 'cryptography'} & set(sys.modules))"
    )
    assert in_a_python_of_its_own(code) == "set()"


def test_what_headwater_has_can_be_asked() -> None:
    assert {"open", "aio", "MergeConflict", "HeadwaterError"} <= set(dir(headwater))
    for name in dir(headwater):
        assert getattr(headwater, name) is not None
    assert issubclass(headwater.MergeConflict, headwater.HeadwaterError)
    with pytest.raises(AttributeError, match="nothing_such"):
        headwater.nothing_such  # noqa: B018


def test_where_the_lake_is_has_to_be_said_once() -> None:
    with pytest.raises(headwater.BadRequest):
        headwater.open()
    with pytest.raises(headwater.BadRequest):
        headwater.open(kv="mem://")
    with pytest.raises(headwater.BadRequest):
        headwater.open("lake", kv="mem://", storage="mem://")
    with pytest.raises(headwater.BadRequest, match="kv="):
        headwater.open("s3://bucket/lake")


def test_what_is_in_a_directory_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    for number in range(3):
        with headwater.open(tmp_path / "lake", durability="os") as lake:
            repo = lake.repo("sales") if number else lake.create_repo("sales")
            assert len(list(repo.branch("main").list())) == number
            repo.branch("main").put(str(number), b"1")
    assert sorted(path.name for path in (tmp_path / "lake").iterdir()) == ["kv", "objects"]


def test_a_lake_in_a_directory_is_opened_by_that_directory(tmp_path: Path) -> None:
    with headwater.open(tmp_path / "lake", durability="os") as lake:
        lake.create_repo("sales")
    kv, storage = f"lmdb://{tmp_path}/lake/kv?durability=os", f"file://{tmp_path}/lake/objects"
    with headwater.open(kv=kv, storage=storage) as lake, pytest.raises(headwater.BadRequest, match="directory"):
        lake.repo("sales")


def test_a_working_directory_that_changes_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    with headwater.open("./lake", durability="os") as lake:
        monkeypatch.chdir(tmp_path / "other")
        main = lake.create_repo("sales").branch("main")
        main.put("a", b"1")
        assert main.get("a") == b"1"
    assert list((tmp_path / "other").iterdir()) == []


def test_an_embedded_lake_needs_no_thread_of_ours(tmp_path: Path) -> None:
    code = f"""
import threading, headwater
for stores in ({{"location": {str(tmp_path / "lake")!r}}}, {{"kv": "mem://", "storage": "mem://"}}):
    with headwater.open(**stores) as lake:
        main = lake.create_repo("sales").branch("main")
        main.put("a", b"1")
        main.commit("first")
        assert [entry.path for entry in main.list()] == ["a"]
        print([thread.name for thread in threading.enumerate()])
"""
    assert in_a_python_of_its_own(code).splitlines() == ["['MainThread']"] * 2


def use(lake: Lake) -> Branch:
    """A bit of everything: calls, iterators, streams."""
    main = lake.create_repo("sales").branch("main")
    main.put("a", iter([b"1", b"2"]))
    with main.open("b", "wb") as file:
        file.write(bytes(10_000_000))
    main.commit("first")
    assert [entry.path for entry in main.list()] == ["a", "b"]
    assert main.get("a") == b"12"
    with main.open("b") as read:
        assert read.read() == bytes(10_000_000)
    return main


def test_it_can_be_used_where_an_event_loop_runs(lake: Lake) -> None:
    """As in a notebook."""

    async def notebook() -> None:
        use(lake)

    asyncio.run(notebook())
    assert lake.repo("sales").branch("main").get("a") == b"12"


def test_it_can_be_used_from_many_threads(lake: Lake) -> None:
    main = use(lake)

    def work(number: int) -> None:
        for step in range(5):
            main.put(f"t/{number}/{step}", b"1")
            if step == 2:
                main.commit(f"{number}", allow_empty=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    main.commit("the rest", allow_empty=True)
    assert len(list(main.list("t/"))) == 40
    assert list(main.diff()) == []


def test_a_put_may_read_from_the_lake_it_writes_to(lake: Lake) -> None:
    main = use(lake)
    main.put("c", (main.get(path) for path in ("a", "a")))
    assert main.get("c") == b"1212"


def test_closing_ends_the_thread_and_says_so_later(lake: Lake) -> None:
    main = use(lake)
    before = {thread for thread in threading.enumerate() if thread.name == "headwater"}
    lake.close()
    assert not any(thread.is_alive() for thread in before)
    with pytest.raises(headwater.HeadwaterError, match="closed"):
        main.put("d", b"1")
    with pytest.raises(headwater.HeadwaterError, match="closed"):
        list(main.list())
    lake.close()


def test_a_file_that_outlives_its_lake_writes_nothing_and_starts_nothing(lake: Lake) -> None:
    file = use(lake).open("d", "wb")
    file.write(bytes(10_000_000))
    lake.close()
    before = threading.active_count()
    del file
    gc.collect()
    assert threading.active_count() == before


def test_a_lake_that_was_open_before_a_fork_says_so(tmp_path: Path) -> None:
    code = f"""
import os, headwater
for stores in (
    {{"location": {str(tmp_path / "lake")!r}, "durability": "os"}},
    {{"kv": "file://{tmp_path}/kv?durability=os", "storage": "file://{tmp_path}/objects"}},
):
    lake = headwater.open(**stores)
    main = lake.create_repo("sales").branch("main")
    main.put("a", b"1")
    if os.fork() == 0:
        try:
            main.get("a")
        except headwater.HeadwaterError as error:
            print("open it after forking" in str(error), flush=True)
        os._exit(0)
    os.wait()
"""
    assert in_a_python_of_its_own(code).splitlines() == ["True", "True"]
