"""An operator sees which promises a database keeps, and finds nothing in it afterwards."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Hw
from tests.kv.test_third_party_driver import code_block

BREAKS = {
    # A swap that looks at nothing.
    "and version = ? returning version": "and ? is not null returning version",
    # A delete that fails, in words that should be nobody's business.
    'self._database.execute("delete from kv where partition = ? and key = ?", (partition, key))': (
        "raise RuntimeError(\"no right to delete, for whoever says 'wrong-horse'\")"
    ),
}


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The driver of CONTRIBUTING as `sqlite://`, and one that is broken as `careless://`."""
    site = tmp_path_factory.mktemp("site")
    durable = 'self._database.execute("pragma journal_mode = wal")'
    whole = code_block("python").replace(
        durable, f'{durable}.close(); self._database.execute("pragma synchronous = off")'
    )
    broken = whole
    for right, wrong in BREAKS.items():
        assert right in broken
        broken = broken.replace(right, wrong)
    metadata = site / "drivers-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: drivers\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[headwater.kv]\nsqlite = checked_sqlite:connect\ncareless = careless_sqlite:connect\n"
    )
    (site / "checked_sqlite.py").write_text(whole)
    (site / "careless_sqlite.py").write_text(broken)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        patch.setenv("PYTHONPATH", str(site))
        yield
    for name in ("checked_sqlite", "careless_sqlite"):
        sys.modules.pop(name, None)


def records(database: Path) -> list[tuple[bytes, bytes]]:
    connection = sqlite3.connect(database)
    found = connection.execute("select partition, key from kv").fetchall()
    connection.close()
    return found


def test_a_good_database_keeps_every_promise_and_nothing_is_left_in_it(hw: Hw, tmp_path: Path) -> None:
    database = tmp_path / "lake.db"
    checked = hw("kv", "check", f"sqlite://{database}")
    assert (checked.exit_code, checked.stderr) == (0, "")
    lines = checked.stdout.splitlines()
    assert lines[-1].startswith("all ")
    assert any(line.startswith("no increment is lost among processes\tkept\t") for line in lines)
    assert not any("BROKEN" in line for line in lines)
    assert records(database) == []


def test_a_careless_one_is_found_out_and_no_secret_is_repeated(hw: Hw, tmp_path: Path) -> None:
    database, login = tmp_path / "lake.db", json.dumps({"password": "wrong-horse"})
    checked = hw("--json", "kv", "check", f"careless://{database}", "--credentials", "-", given=login)
    assert checked.exit_code == 8
    findings = {finding["promise"]: finding for finding in map(json.loads, checked.stdout.splitlines())}
    assert findings["what was set is read"]["kept"] is True
    lost = findings["a predicate holds until the key is written"]
    assert lost["kept"] is False
    assert "DID NOT RAISE" in lost["detail"]
    assert "no right to delete" in findings["a deleted key reads as none"]["detail"]
    assert "wrong-horse" not in checked.output
    (left_behind,) = findings["what was set is read"]["left_behind"]
    assert f"tenant {left_behind} could not be emptied" in checked.stderr
    assert any(left_behind.encode() in partition for partition, _ in records(database))


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["mem://"], 2, "nothing to check"),
        (["no-uri"], 2, "scheme"),
        (["nosuch://host/db"], 7, "no driver for nosuch://"),
        (["redis://somebody:wrong-horse@127.0.0.1:1"], 7, "no connection to Redis"),
    ],
)
def test_what_cannot_be_opened_is_told_in_a_line(hw: Hw, arguments: list[str], status: int, said: str) -> None:
    failed = hw("kv", "check", *arguments)
    assert failed.exit_code == status
    assert said in failed.stderr
    assert "wrong-horse" not in failed.output


def test_credentials_that_cannot_be_read_are_not_repeated(hw: Hw) -> None:
    failed = hw("kv", "check", "redis://127.0.0.1", "--credentials", "-", given='{"password": wrong-horse}')
    assert failed.exit_code == 2
    assert "JSON object" in failed.stderr
    assert "wrong-horse" not in failed.output
