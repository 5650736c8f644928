"""What fsspec itself asks of any file system: where copies, downloads and uploads of trees go, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fsspec.tests import abstract

import headwater
from headwater.sdk.filesystem import HeadwaterFileSystem


class OnABranch(abstract.AbstractFixtures):  # type: ignore[misc]  # fsspec has no types
    """What the suites are to be run on."""

    @pytest.fixture
    def fs(self) -> Iterator[HeadwaterFileSystem]:
        with headwater.open(kv="mem://", storage="mem://") as lake:
            lake.create_repo("sales")
            yield HeadwaterFileSystem(lake=lake, skip_instance_cache=True)

    @pytest.fixture
    def fs_path(self) -> str:
        return "sales/main"

    @pytest.fixture
    def fs_join(self) -> Callable[..., str]:
        return lambda *parts: "/".join(parts)

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return False


class TestCopy(abstract.AbstractCopyTests, OnABranch):  # type: ignore[misc]
    pass


class TestGet(abstract.AbstractGetTests, OnABranch):  # type: ignore[misc]
    pass


class TestPut(abstract.AbstractPutTests, OnABranch):  # type: ignore[misc]
    pass


class TestPipe(abstract.AbstractPipeTests, OnABranch):  # type: ignore[misc]
    pass


class TestOpen(abstract.AbstractOpenTests, OnABranch):  # type: ignore[misc]
    pass
