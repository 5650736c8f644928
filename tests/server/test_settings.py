"""What is set of a server, and where: options before the environment, the environment before a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from headwater.server.config import BadConfiguration, read_configuration

HW = Path(sys.executable).parent / "hw"


def written(directory: Path, text: str) -> Path:
    file = directory / "headwater.toml"
    file.write_text(text)
    return file


def test_an_option_goes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, 'listen = "127.0.0.1:1"\ndata = "/file"\nworkers = 3\n')
    environment = {"HEADWATER_LISTEN": "127.0.0.1:2", "HEADWATER_DATA": "/environment", "HEADWATER_PROFILE": "mine"}
    found = read_configuration({"listen": "127.0.0.1:3"}, environment, file)
    assert (found.settings.listen, found.settings.data, found.settings.workers) == ("127.0.0.1:3", "/environment", 3)
    assert [found.sources[name] for name in ("listen", "data", "workers", "kv")] == [
        "option",
        "environment",
        "file",
        "default",
    ]


def test_a_table_of_a_file_stands_before_the_names_in_it(tmp_path: Path) -> None:
    file = written(tmp_path, "[experimental]\ngraveler_dirty_read_optimization = false\n")
    found = read_configuration({}, {}, file)
    assert found.settings.experimental_graveler_dirty_read_optimization is False
    name = "HEADWATER_EXPERIMENTAL_GRAVELER_DIRTY_READ_OPTIMIZATION"
    assert read_configuration({}, {name: "true"}, file).settings.experimental_graveler_dirty_read_optimization is True


def test_credentials_are_a_table_or_pairs(tmp_path: Path) -> None:
    file = written(tmp_path, '[storage_credentials]\naccess_key_id = "key"\n')
    assert read_configuration({}, {}, file).settings.storage_credentials == {"access_key_id": "key"}
    pairs = read_configuration({}, {"HEADWATER_STORAGE_CREDENTIALS": "access_key_id=key, region=eu=1"})
    assert pairs.settings.storage_credentials == {"access_key_id": "key", "region": "eu=1"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("wrokers = 2", "wrokers"),
        ("[experimental]\nfaster = true", "experimental_faster"),
        ("workers = 0", "workers=0"),
        ('workers = "many"', "workers='many': write a whole number"),
        ('durability = "perhaps"', "write fsync or os"),
        ("secret = 3", "secret: write text"),
        ('listen = "8000"', "HOST:PORT"),
        ('tls_key = "key.pem"', "tls_certificate"),
        ('admin_access_key_id = "AKIA"', "admin_secret_access_key"),
        ('kv = "postgresql://db/lake"', "storage"),
        ('kv = "postgresql://db/lake"\nstorage = "s3://bucket"', "secret"),
        ('trusted_proxies = ["10.0.0.0/33"]', "trusted_proxies: '10.0.0.0/33'"),
        ("workers = ", "headwater.toml"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadConfiguration, match=told):
        read_configuration({}, {}, written(tmp_path, text))


def test_what_is_in_force_is_shown_with_its_source_and_no_secret(tmp_path: Path) -> None:
    environment = {**os.environ, "HEADWATER_SECRET": "of nobody else", "HEADWATER_KV_CREDENTIALS": "password=hidden"}
    kv = "postgresql://lake:hidden@db.example.test:5432/lake"
    shown = subprocess.run(
        [HW, "config", "show", "--workers", "2", "--kv", kv, "--storage", "s3://bucket", "--json"],
        env=environment,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "of nobody else" not in shown
    assert "hidden" not in shown
    told = msgspec.json.decode(shown)
    assert told["kv"]["value"] == "postgresql://lake:********@db.example.test:5432/lake"
    assert told["secret"] == {"value": "********", "from": "environment"}
    assert told["workers"] == {"value": 2, "from": "option"}
