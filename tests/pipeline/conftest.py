"""One Spark session for all tests of the pipeline: two cores, two tries of a task, a small heap, no web page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dev.servers import headwater, versitygw
from dev.servers.process import TOOLS
from tests.conftest import Servers

pytest.importorskip("pyspark")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.pipeline import Place

STORAGE = "s3://pipeline/lake?endpoint={}&region=us-east-1"
S3A = TOOLS / "s3a-3.4.2" / "lib"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession  # noqa: PLC0415  (a test of something else need not import it)

    directory = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[2]))
    builder = SparkSession.builder.master("local[2,2]").appName("headwater tests")
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={directory} -XX:+UseSerialGC",
        "spark.driver.extraClassPath": f"{S3A}/*",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.local.dir": str(directory),
        "spark.python.worker.reuse": "true",
        "spark.sql.session.timeZone": "UTC",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def served_place(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The repository `sales`, which a test makes, of a server that keeps repositories in a bucket."""
    from headwater.pipeline import Place  # noqa: PLC0415  (it needs Spark)

    bucket: versitygw.S3 = servers.start("versitygw", versitygw.serve)
    bucket.make_bucket("pipeline")
    keys = {"access_key_id": bucket.access_key_id, "secret_access_key": bucket.secret_access_key}
    settings = {
        "HEADWATER_STORAGE": STORAGE.format(bucket.endpoint),
        "HEADWATER_STORAGE_CREDENTIALS": ",".join(f"{name}={value}" for name, value in keys.items()),
    }
    with headwater.serve(tmp_path_factory.mktemp("server"), settings) as server:
        yield Place(
            "sales",
            endpoint=server.url,
            key=server.access_key_id,
            secret=server.secret_access_key,
            storage=STORAGE.format(bucket.endpoint),
            storage_credentials=keys,
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Py4J leaves its sockets to the garbage collector, which may come in any test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
