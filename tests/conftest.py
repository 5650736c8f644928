"""What all tests share: the event loop, and the real servers, which start when the first test asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TypeVar

import pytest

from dev.servers.process import NotInstalled

Where = TypeVar("Where")
Serve = Callable[[Path], AbstractContextManager[Where]]

_ran: list[str] = []
_missing: dict[str, str] = {}
_left_out: list[str] = []


@pytest.fixture
def anyio_backend() -> str:
    """What runs the tests that are marked `anyio`."""
    return "asyncio"


class Servers:
    """Starts each server at most once in a run, and stops them all at its end."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stack = ExitStack()
        self._started: dict[str, object] = {}

    def start(self, name: str, serve: Serve[Where]) -> Where:
        """Where the server called *name* answers. Skips the test, saying why, when it cannot be had here."""
        if name in _missing:
            pytest.skip(_missing[name])
        if name not in self._started:
            directory = self._directory / name
            directory.mkdir(mode=0o777)
            try:
                self._started[name] = self._stack.enter_context(serve(directory))
            except NotInstalled as reason:
                _missing[name] = str(reason)
                pytest.skip(str(reason))
            _ran.append(name)
        where: Where = self._started[name]  # type: ignore[assignment]  # stored above by the same name
        return where

    def stop(self) -> None:
        self._stack.close()


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    started = Servers(tmp_path_factory.mktemp("servers"))
    yield started
    started.stop()


def pytest_deselected(items: list[pytest.Item]) -> None:
    """What is left out because it is slow; whoever chose others by name knows what is left out."""
    if not items[0].config.option.keyword:
        _left_out.extend(item.nodeid for item in items if item.get_closest_marker("slow"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("real servers")
    terminalreporter.line(f"ran: {', '.join(sorted(_ran)) or 'none'}")
    if _left_out:
        files = sorted({Path(name.partition("::")[0]).name for name in _left_out})
        terminalreporter.line(f"left to make test-all: {len(_left_out)} slow tests of {', '.join(files)}")
    for name, reason in sorted(_missing.items()):
        terminalreporter.line(f"not to be had: {name}: {reason}")
