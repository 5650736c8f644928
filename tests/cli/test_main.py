"""`hw` as a whole: its help, what it imports, and how it fails."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import headwater
from headwater import __version__
from headwater.cli import commands
from headwater.cli.actions import Run
from headwater.cli.exits import STATUSES
from headwater.cli.main import main
from headwater.cli.people import people
from headwater.cli.repo import RepositoryShown
from headwater.cli.showing import BranchShown, ChangeShown, CommitShown, EntryShown
from headwater.errors import HeadwaterError
from headwater.sdk.results import RefChange, Tag
from tests.cli.conftest import Hw

HW = Path(sys.executable).parent / "hw"


def test_the_program_shows_its_commands_and_its_version() -> None:
    shown = subprocess.run([HW, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"  {name} " in shown for name in commands.COMMANDS)
    version = subprocess.run([HW, "--version"], capture_output=True, text=True, check=True).stdout
    assert __version__ in version


def test_the_help_brings_nothing_along_that_it_does_not_need() -> None:
    code = (
        "import sys\nfrom headwater.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print({'pyarrow', 'polars', 'lmdb', 'obstore', 'asyncio', 'rich', 'httpx', 'headwater.engine'}"
        " & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "set()"


def test_a_command_does_not_wait_for_pandas_and_leaves_it_to_others(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom headwater.cli.main import main\n"
        "for words in (['repo', 'create', 'abc'], ['fs', 'upload', sys.argv[2], 'abc/main/a'], ['ls', 'abc/main']):\n"
        "    try:\n        main(['--lake', sys.argv[1], *words])\n"
        "    except SystemExit as end:\n        assert end.code == 0, words\n"
        "print({'pandas', 'polars', 'httpx'} & set(sys.modules))\n"
        "import pandas, pyarrow\n"
        "print(pyarrow.Table.from_pandas(pandas.DataFrame({'a': [1, 2]})).column('a').to_pylist())\n"
        "print(pyarrow.array(pandas.Series([1, None])).to_pylist())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "lake", __file__], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-3:] == ["set()", "[1, 2]", "[1.0, None]"]


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_a_command_is_where_the_table_says_and_begins_with_what_it_says(name: str) -> None:
    command = commands.load(name)
    assert command.name == name
    first = (command.help or "").partition("\n")[0]
    assert first == commands.COMMANDS[name].summary


def every_command(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        return [path]
    context = click.Context(command)
    children = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [each for name, child in children if child for each in every_command(child, (*path, name))]


def test_every_command_has_help(hw: Hw) -> None:
    for path in every_command(main):
        shown = hw(*path, "--help")
        assert shown.exit_code == 0, path
        assert f"Usage: hw {' '.join(path)}" in shown.stdout


def test_a_word_that_is_nearly_a_command_is_answered_with_it(hw: Hw) -> None:
    failed = hw("simm")
    assert failed.exit_code == 2
    assert "Did you mean 'sim'?" in failed.stderr
    assert hw("nothing-such").exit_code == 2


def test_what_an_error_quotes_cannot_play_on_a_terminal(hw: Hw, tmp_path: Path) -> None:
    failed = hw("--lake", tmp_path, "repo", "show", "abc\x1b[2J\u202e")
    assert failed.exit_code in {2, 3}
    assert "\x1b" not in failed.stderr
    assert "\u202e" not in failed.stderr


def test_every_status_is_that_of_an_error_there_is() -> None:
    for each in pkgutil.walk_packages(headwater.__path__, "headwater."):
        if each.name.endswith("errors") or each.name.startswith(("headwater.cli.", "headwater.server.config")):
            importlib.import_module(each.name)
    known = {error.__name__ for error in kinds_of(HeadwaterError)} | {error.__name__ for error in kinds_of(OSError)}
    assert STATUSES.keys() <= known


def kinds_of(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds_of(each)


PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text()


@pytest.mark.parametrize("path", every_command(main), ids=" ".join)
def test_the_page_tells_of_every_command(path: tuple[str, ...]) -> None:
    group, *names = path
    assert re.search(rf"`hw {group}\b", PAGE)
    if f"`hw {group} …`" not in PAGE or group == "bisect":
        assert all(re.search(rf"\b{name}\b", PAGE) for name in names)


SHAPES = {
    "repository": RepositoryShown,
    "branch": BranchShown,
    "tag": Tag,
    "commit": CommitShown,
    "entry": EntryShown,
    "change": ChangeShown,
    "ref change": RefChange,
    "user": people.User,
    "group": people.Group,
    "policy": people.Policy,
    "credential": people.Credential,
    "run": Run,
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_a_machine_is_promised_it_gets(name: str) -> None:
    row = re.search(rf"^\| {name} \| (.*) \|$", PAGE, re.MULTILINE)
    assert row is not None
    promised = re.sub(r"\([^)]*\)|[:;].*", "", row[1])
    assert set(re.findall(r"`(\w+)`", promised)) == set(SHAPES[name].__struct_fields__)
