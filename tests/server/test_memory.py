"""What a worker holds of an object is bounded, however large the object is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from dev.servers import headwater

MIB = 1024 * 1024
SIZE = 384 * MIB
BOUND = 96 * MIB
"""What a worker may grow by: chunks on their way, and what the allocator keeps. A quarter of the object."""

CHUNK = bytes(range(256)) * 4096


def pieces(size: int) -> Iterator[bytes]:
    for _ in range(size // len(CHUNK)):
        yield CHUNK


def peak(directory: Path) -> int:
    """The most memory that any process of the server over *directory* ever had."""
    found = [
        int(told[1]) * 1024
        for process in Path("/proc").glob("[0-9]*")
        if runs_over(process, directory) and (told := re.search(r"VmHWM:\s+(\d+) kB", (process / "status").read_text()))
    ]
    assert found
    return max(found)


def runs_over(process: Path, directory: Path) -> bool:
    """Whether *process* has files below *directory* open: its workers have those of the lake."""
    try:
        return any(str(each.readlink()).startswith(str(directory)) for each in (process / "fd").iterdir())
    except OSError:  # it is gone, or another user's
        return False


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_large_object_passes_through_a_worker_that_stays_small(tmp_path: Path) -> None:
    content = hashlib.md5(usedforsecurity=False)
    for piece in pieces(SIZE):
        content.update(piece)
    with (
        headwater.serve(tmp_path) as server,
        httpx.Client(base_url=server.api, auth=server.login, timeout=120) as api,
    ):
        api.post("/repositories", json={"name": "rivers"}).raise_for_status()
        upload = "/repositories/rivers/branches/main/objects"
        api.post(upload, params={"path": "small"}, content=CHUNK).raise_for_status()
        before = peak(server.data)
        stats = api.post(upload, params={"path": "large"}, content=pieces(SIZE)).raise_for_status().json()
        assert (stats["size_bytes"], stats["checksum"]) == (SIZE, content.hexdigest())
        read = "/repositories/rivers/refs/main/objects?path=large"
        for headers in ({}, {"range": f"bytes=1-{SIZE - 1}"}):  # as a file, and as a stream
            with api.stream("GET", read, headers=headers) as answer:
                got = sum(len(chunk) for chunk in answer.iter_raw(MIB))
            assert got == SIZE - len(headers)
        assert peak(server.data) - before < BOUND
