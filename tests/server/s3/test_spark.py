"""Spark on a branch, through Hadoop's S3A."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from dev.servers.headwater import Headwater
from dev.servers.process import TOOLS
from tests.server.s3.conftest import listed

JARS = TOOLS / "s3a-3.4.2" / "lib"
PROGRAM = Path(__file__).with_name("spark_program.py")


def test_spark_writes_overwrites_and_reads_also_with_the_magic_committer(
    s3: Any, server: Headwater, api: httpx.Client, bucket: str, tmp_path: Path
) -> None:
    if not JARS.is_dir():
        pytest.skip("the jars of S3A are not installed: run dev/install/s3a.sh")
    command: list[str | Path] = [sys.executable, PROGRAM, server.url, *server.login, bucket]
    workspace = api.post(f"/repositories/{bucket}/branches/main/workspaces").json()["ref"]
    command += [workspace, JARS, tmp_path]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr[-5000:]
    assert json.loads((tmp_path / "found.json").read_text()) == {
        "overwritten": 5,
        "in a workspace": 3,
        "by the magic committer": 9_990,
    }
    success = json.loads(s3.get_object(Bucket=bucket, Key="main/spark/magic/_SUCCESS")["Body"].read())
    assert success["committer"] == "magic"
    keys = listed(s3, bucket)
    assert not [key for key in keys if "__magic" in key or "_temporary" in key]
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
