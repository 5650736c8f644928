"""Files that are read and written piece by piece."""

from __future__ import annotations

import gc
import io
import os

import pytest

import headwater
from headwater.sdk.sync import Branch, Repository

LARGE = 20_000_000
PATTERN = bytes(range(251)) * 80_000


def test_a_file_reads_as_files_do(main: Branch) -> None:
    content = PATTERN[:LARGE]
    main.put("a", content)
    with main.open("a") as file:
        assert (file.size, file.entry.path) == (LARGE, "a")
        assert file.read(10) == content[:10]
        assert file.tell() == 10
        assert file.seek(-10, os.SEEK_END) == LARGE - 10
        assert file.read() == content[-10:]
        assert file.read() == b""
        file.seek(7_000_000)
        file.seek(5, os.SEEK_CUR)
        assert file.read(9_000_000) == content[7_000_005:16_000_005]
        file.seek(0)
        assert file.read() == content
        file.seek(LARGE + 5)
        assert file.read(1) == b""
        with pytest.raises(ValueError, match="before"):
            file.seek(-1)


def test_a_file_stays_what_it_was_when_it_was_opened(main: Branch) -> None:
    main.put("a", b"before")
    with main.open("a") as file:
        main.put("a", b"afterwards")
        assert file.read() == b"before"


def test_an_empty_file_can_be_read_and_written(main: Branch) -> None:
    with main.open("empty", "wb"):
        pass
    with main.open("empty") as file:
        assert file.read() == b""


@pytest.mark.parametrize("size", [0, 1, 1_000, LARGE])
def test_what_is_written_is_there_when_the_file_is_closed(main: Branch, size: int) -> None:
    content = PATTERN[:size]
    with main.open("a", "wb", content_type="x/y", metadata={"k": "v"}) as file:
        for start in range(0, size, 777_777):
            piece = content[start : start + 777_777]
            assert file.write(piece) == len(piece)
        assert file.tell() == size
        assert not main.exists("a")
    assert main.get("a") == content
    assert file.entry == main.stat("a")
    assert (main.stat("a").content_type, main.stat("a").metadata) == ("x/y", {"k": "v"})
    with pytest.raises(ValueError, match="closed"):
        file.write(b"more")


@pytest.mark.parametrize("size", [10, LARGE])
def test_a_block_that_fails_writes_nothing(main: Branch, size: int) -> None:
    main.put("a", b"before")
    file = main.open("a", "wb")
    with pytest.raises(ZeroDivisionError), file:
        file.write(bytes(size // 0 if file.write(bytes(size)) else 0))
    assert main.get("a") == b"before"
    with pytest.raises(ValueError, match="closed"):
        file.write(b"more")


@pytest.mark.parametrize("size", [10, LARGE])
def test_a_text_block_that_fails_writes_nothing(main: Branch, size: int) -> None:
    with pytest.raises(ZeroDivisionError), main.open("a", "w") as file:
        file.write("x" * (size // 0 if file.write("x" * size) else 0))
    assert not main.exists("a")


@pytest.mark.parametrize("size", [10, LARGE])
def test_a_file_that_is_dropped_unclosed_writes_nothing(main: Branch, size: int) -> None:
    file = main.open("a", "wb")
    file.write(bytes(size))
    text = main.open("b", "w")
    text.write("x" * 10)
    del file, text
    gc.collect()
    assert not main.exists("a")
    assert not main.exists("b")


@pytest.mark.parametrize("size", [1, LARGE])
def test_a_write_to_a_branch_that_is_not_there_is_told(repo: Repository, size: int) -> None:
    with pytest.raises(headwater.RefNotFound), repo.branch("nowhere").open("a", "wb") as file:
        file.writelines([bytes(size)] * 3)


def test_text_is_encoded_and_its_lines_are_kept(main: Branch) -> None:
    with main.open("a.txt", "w", newline="\n") as file:
        file.write("Zürich\nGenève\n")
    assert main.get("a.txt") == "Zürich\nGenève\n".encode()
    with main.open("a.txt", "r") as read:
        assert list(read) == ["Zürich\n", "Genève\n"]
    with main.open("b.txt", "w", encoding="latin-1") as file:
        print("é", file=file, end="")
    assert main.get("b.txt") == b"\xe9"
    with main.open("b.txt", "r", encoding="latin-1") as read:
        assert read.read() == "é"


def test_other_modes_are_refused(main: Branch) -> None:
    with pytest.raises(headwater.BadRequest, match="'ab'"):
        main.open("a", "ab")  # type: ignore[call-overload]


def test_a_file_of_the_lake_can_be_put_again(main: Branch) -> None:
    main.put("a", bytes(LARGE))
    with main.open("a") as file:
        main.put("b", file)
    assert main.stat("b").size == LARGE
    assert isinstance(main.open("b"), io.BufferedReader)
