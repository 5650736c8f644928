"""Finding a driver: what is installed, what is missing, and what the error says to do about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headwater import kv


@pytest.mark.anyio
async def test_an_unknown_scheme_names_those_that_are_known() -> None:
    with pytest.raises(kv.CannotOpen, match=r"lmdb://.*postgresql://.*headwater\.kv"):
        await kv.open("nosuch://host")


@pytest.mark.anyio
@pytest.mark.parametrize("uri", ["", "lake", "/var/lib/lake", "lmdb:///x#y"])
async def test_what_is_no_uri_of_a_store_is_refused(uri: str) -> None:
    with pytest.raises(kv.CannotOpen):
        await kv.open(uri)


@pytest.mark.parametrize(
    ("scheme", "module"),
    [
        ("postgresql", "asyncpg"),
        ("mysql", "asyncmy"),
        ("redis", "redis"),
        ("etcd", "aetcd"),
        ("cassandra", "cassandra"),
        ("hbase", "thriftpy2"),
        ("dynamodb", "aiobotocore"),
        ("bigtable", "google.cloud.bigtable_v2"),
    ],
)
def test_a_missing_library_names_the_extra_to_install(scheme: str, module: str) -> None:
    """In a Python of its own, in which the library cannot be imported."""
    code = f"""
import sys
sys.modules[{module!r}] = None
from headwater import kv
from headwater.drive import drive
try:
    drive(kv.open("{scheme}://somewhere/x"))
except kv.CannotOpen as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=99).stdout
    assert module in said
    assert f"headwater[{scheme}]" in said


@pytest.mark.anyio
async def test_a_broken_third_party_driver_names_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_driver.py").write_text("import no_such_module_at_all\n")
    metadata = tmp_path / "broken_driver-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-driver\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[headwater.kv]\nbroken = broken_driver:connect\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(kv.CannotOpen, match=r"no_such_module_at_all.*broken-driver"):
        await kv.open("broken://x")


LIBRARIES = {"lmdb", "asyncpg", "asyncmy", "redis", "grpc", "cassandra", "thriftpy2", "aiobotocore", "obstore"}


def test_importing_the_layer_brings_no_database_library() -> None:
    code = "import sys, headwater.kv; print(" + f"{LIBRARIES} & set(sys.modules) or 'none')"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    ).stdout
    assert loaded.strip() == "none"
