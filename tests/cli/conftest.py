"""The real `hw`, mostly called in this process: on a lake in a directory, and on a server."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dev.servers.headwater import Headwater
from headwater.cli.main import main
from tests.conftest import Servers
from tests.sdk.conftest import served

Hw = Callable[..., Result]

NO_SETTINGS: Mapping[str, str] = {}

_numbers = itertools.count(1)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without settings, and an environment without any."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith("HEADWATER_")]:
        monkeypatch.delenv(name)
    return home


@pytest.fixture
def hw(home: Path) -> Hw:  # noqa: ARG001  (it must not be that of whoever tests)
    """Calls `hw` with these arguments: what it printed, and its status."""
    runner = CliRunner()

    def call(*arguments: str | Path, given: str | bytes | None = None) -> Result:
        return runner.invoke(main, [str(argument) for argument in arguments], given, prog_name="hw")

    return call


class Lake:
    """A lake as `hw` sees it, and a repository in it that no other test has."""

    def __init__(self, hw: Hw, settings: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._hw = hw
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        self.repository = f"repository-{next(_numbers)}"
        self.main = f"{self.repository}/main"
        self.done("repo", "create", self.repository)

    def run(self, *arguments: str | Path, given: str | bytes | None = None) -> Result:
        return self._hw(*arguments, given=given)

    def done(self, *arguments: str | Path, given: str | bytes | None = None) -> str:
        """What a command printed that has to succeed."""
        result = self.run(*arguments, given=given)
        assert result.exit_code == 0, (arguments, result.exit_code, result.output)
        return result.stdout

    def document(self, *arguments: str | Path, given: str | bytes | None = None) -> Any:
        """What it printed as JSON."""
        return json.loads(self.done("--json", *arguments, given=given))

    def documents(self, *arguments: str | Path) -> list[Any]:
        """What it printed as JSON, line by line."""
        return [json.loads(line) for line in self.done("--json", *arguments).splitlines()]

    def failed(self, status: int, *arguments: str | Path, given: str | bytes | None = None) -> str:
        """What a command says that has to fail with this status: in a line, not a traceback."""
        result = self.run(*arguments, given=given)
        assert result.exit_code == status, (arguments, result.exit_code, result.output)
        assert "Traceback" not in result.output
        return result.stderr

    def put(self, path: str, content: str | bytes, *, branch: str = "main") -> None:
        self.done("fs", "upload", "-", f"{self.repository}/{branch}/{path}", given=content)

    def commit(self, files: Mapping[str, str], message: str = "files", *, branch: str = "main") -> str:
        """The id of a commit that has these files."""
        for path, content in files.items():
            self.put(path, content, branch=branch)
        made = self.document("commit", f"{self.repository}/{branch}", "-m", message)
        return str(made["id"])

    def cat(self, path: str, *, ref: str = "main") -> bytes:
        result = self.run("cat", f"{self.repository}/{ref}/{path}")
        assert result.exit_code == 0, result.output
        return result.stdout_bytes

    def paths(self, ref: str = "main") -> list[str]:
        return [entry["path"] for entry in self.documents("ls", "-r", f"{self.repository}/{ref}")]


def embedded(directory: Path) -> Mapping[str, str]:
    """The settings of a lake in a directory."""
    return {"HEADWATER_LAKE": str(directory), "HEADWATER_DURABILITY": "os", "HEADWATER_COMMITTER": "ada"}


@pytest.fixture(scope="session")
def server(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Headwater:
    """A server that is asked by a user called ada."""
    settings = {"HEADWATER_IMPORT_FROM": str(tmp_path_factory.getbasetemp()), "HEADWATER_WEBHOOK_HOSTS": "127.0.0.1:*"}
    return servers.start("headwater for hw", lambda directory: served(directory, settings))


def of_server(server: Headwater) -> Mapping[str, str]:
    """The settings of a lake on a server."""
    return {
        "HEADWATER_ENDPOINT": server.url,
        "HEADWATER_ACCESS_KEY_ID": server.access_key_id,
        "HEADWATER_SECRET_ACCESS_KEY": server.secret_access_key,
    }


@pytest.fixture(params=["embedded", "remote"])
def lake(request: pytest.FixtureRequest, hw: Hw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A lake in a directory; then one on a server."""
    if request.param == "remote":
        return Lake(hw, of_server(request.getfixturevalue("server")), monkeypatch)
    return Lake(hw, embedded(tmp_path / "lake"), monkeypatch)


def names(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    return [document["name"] for document in documents]
