"""Apache HBase: a master, a region server and ZooKeeper in one process over a local directory, and its Thrift gateway.

Each of the two processes has a heap of half a gigabyte at most. Starting takes some twenty seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from dev.servers.process import TOOLS, NotInstalled, find, free_port, running

VERSION = "2.6.4"
INSTALLER = "slow/hbase.sh"
INITIALIZED = b"Master has completed initialization"

_OPENED = [
    "java.lang", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
    "java.math", "jdk.internal.util.random", "jdk.internal.ref", "sun.nio.ch", "sun.net.dns", "sun.net.util",
]  # fmt: skip
"""What HBase reaches into, of Java 17."""

LOGGING = """
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %-5p %c{1}: %m%n
log4j.logger.org.apache.zookeeper=WARN
log4j.logger.org.apache.hadoop.metrics2=WARN
"""


class Server(msgspec.Struct, frozen=True):
    """The port of the Thrift gateway, and where HBase keeps the files of tables."""

    port: int
    tables: Path


@contextmanager
def serve(directory: Path) -> Iterator[Server]:
    home = TOOLS / f"hbase-{VERSION}"
    if not home.is_dir():
        raise NotInstalled(f"HBase is not installed: run dev/install/{INSTALLER}")
    zookeeper, gateway = free_port(), free_port()
    java: list[str | Path] = [
        find("java", INSTALLER), "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-Xss512k",
        "-Djava.net.preferIPv4Stack=true",
        *(word for package in _OPENED for word in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")),
        f"-Dlog4j.configuration=file:{directory}/log4j.properties", f"-Djava.io.tmpdir={directory}",
        "-cp", f"{directory}:{home}/lib/*",
    ]  # fmt: skip
    (directory / "log4j.properties").write_text(LOGGING)
    (directory / "hbase-site.xml").write_text(_site(directory, zookeeper))
    gateway_directory = directory / "gateway"
    gateway_directory.mkdir(exist_ok=True)
    master = [*java, "org.apache.hadoop.hbase.master.HMaster", "start"]
    thrift = [*java, "org.apache.hadoop.hbase.thrift2.ThriftServer", "-b", "127.0.0.1", "-p", gateway, "start"]
    log = directory / "server.log"
    before = log.stat().st_size if log.exists() else 0
    with running(master, port=zookeeper, directory=directory, seconds=120):
        _await_initialized(log, before, seconds=180)
        with running([str(word) for word in thrift], port=gateway, directory=gateway_directory, seconds=120):
            yield Server(gateway, directory / "data" / "data" / "default")


def _site(directory: Path, zookeeper: int) -> str:
    """Everything on 127.0.0.1, at free ports and without web pages. The gateway sends nothing twice.

    What is written goes from memory to files at a megabyte, so that tests meet files, compactions and split regions.
    """
    values = {
        "hbase.cluster.distributed": "false",
        "hbase.rootdir": f"file://{directory}/data",
        "hbase.tmp.dir": f"{directory}/scratch",
        "hbase.wal.provider": "filesystem",
        "hbase.unsafe.stream.capability.enforce": "false",
        "hbase.zookeeper.quorum": "127.0.0.1",
        "hbase.zookeeper.property.clientPort": str(zookeeper),
        "hbase.zookeeper.property.dataDir": f"{directory}/zookeeper",
        "hbase.localcluster.assign.random.ports": "true",
        "hbase.master.hostname": "127.0.0.1",
        "hbase.regionserver.hostname": "127.0.0.1",
        "hbase.master.ipc.address": "127.0.0.1",
        "hbase.regionserver.ipc.address": "127.0.0.1",
        "hbase.master.info.port": "-1",
        "hbase.regionserver.info.port": "-1",
        "hbase.thrift.info.port": "-1",
        "hbase.client.retries.number": "0",
        "hbase.regionserver.handler.count": "12",
        "hbase.master.wait.on.regionservers.mintostart": "1",
        "hbase.hregion.memstore.flush.size": str(1024 * 1024),
    }
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>\n" for name, value in values.items()
    )
    return f"<configuration>\n{properties}</configuration>\n"


def _await_initialized(log: Path, before: int, seconds: float) -> None:
    """Wait until the master says so, behind the first *before* bytes of the log, which are of another time."""
    deadline = time.monotonic() + seconds
    while INITIALIZED not in log.read_bytes()[before:]:
        if time.monotonic() > deadline:
            raise RuntimeError(f"HBase's master did not come up in {seconds:.0f} s: see {log}")
        time.sleep(0.1)
