"""Apache Cassandra: one node on 127.0.0.1, with a heap of half a gigabyte. It takes half a minute to start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from dev.servers.process import TOOLS, NotInstalled, find, free_port, running

VERSION = "5.0.9"
INSTALLER = "slow/cassandra.sh"

_OPENED = [
    "java.io", "java.lang", "java.lang.module", "java.lang.reflect", "java.util", "jdk.internal.loader",
    "jdk.internal.math", "jdk.internal.module", "jdk.internal.ref", "jdk.internal.reflect", "jdk.internal.util.jar",
    "sun.nio.ch",
]  # fmt: skip
_EXPORTED = [
    "java.base/java.lang.ref", "java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server",
    "java.sql/java.sql", "jdk.attach/sun.tools.attach", "jdk.unsupported/sun.misc",
]  # fmt: skip
"""What Cassandra reaches into, of Java 17."""

SEEDS = "org.apache.cassandra.locator.SimpleSeedProvider"

LOGGING = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>
"""


class Server(msgspec.Struct, frozen=True):
    """Where it answers, and to whom."""

    port: int

    @property
    def credentials(self) -> dict[str, str]:
        return {"password": "cassandra"}

    @property
    def uri(self) -> str:
        """Of a keyspace that is made when it is opened."""
        return f"cassandra://cassandra@127.0.0.1:{self.port}/tests?replicas=1"


@contextmanager
def serve(directory: Path, *settings: str) -> Iterator[Server]:
    """A node that knows one user. *settings* are lines for `cassandra.yaml`."""
    home = TOOLS / f"cassandra-{VERSION}"
    if not home.is_dir():
        raise NotInstalled(f"Cassandra is not installed: run dev/install/{INSTALLER}")
    port = free_port()
    (directory / "cassandra.yaml").write_text(configuration(directory, port, free_port(), settings))
    (directory / "logback.xml").write_text(LOGGING)
    (jamm,) = (home / "lib").glob("jamm-*.jar")
    command: list[str | Path] = [
        find("java", INSTALLER), "-Xms512m", "-Xmx512m", "-XX:MaxDirectMemorySize=256m", "-XX:+UseSerialGC", "-Xss512k",
        f"-javaagent:{jamm}",
        *(word for package in _OPENED for word in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")),
        *(word for package in _EXPORTED for word in ("--add-exports", f"{package}=ALL-UNNAMED")),
        "-Djdk.attach.allowAttachSelf=true", "-Dio.netty.tryReflectionSetAccessible=true",
        f"-Dcassandra.config=file://{directory}/cassandra.yaml", f"-Dlogback.configurationFile={directory}/logback.xml",
        f"-Dcassandra.storagedir={directory}", f"-Djava.io.tmpdir={directory}", "-Dcassandra-foreground=yes",
        "-Dcassandra.ring_delay_ms=100", "-Dcassandra.superuser_setup_delay_ms=0",
        "-Dcassandra.auth_bcrypt_gensalt_log2_rounds=4", "-Dcassandra.skip_wait_for_gossip_to_settle=0",
        "-cp", f"{home}/lib/*", "org.apache.cassandra.service.CassandraDaemon",
    ]  # fmt: skip
    with running(command, port=port, directory=directory, seconds=300):
        yield Server(port)


def configuration(directory: Path, port: int, inner_port: int, settings: tuple[str, ...]) -> str:
    """One node that is its own seed, durable before it answers, and patient on a machine that has much to do."""
    lines = [
        "cluster_name: tests",
        "num_tokens: 1",
        "partitioner: org.apache.cassandra.dht.Murmur3Partitioner",
        "authenticator: PasswordAuthenticator",
        "endpoint_snitch: SimpleSnitch",
        "listen_address: 127.0.0.1",
        "rpc_address: 127.0.0.1",
        f"native_transport_port: {port}",
        f"storage_port: {inner_port}",
        f"seed_provider: [{{class_name: {SEEDS}, parameters: [{{seeds: '127.0.0.1:{inner_port}'}}]}}]",
        f"data_file_directories: ['{directory}/data']",
        f"commitlog_directory: {directory}/commitlog",
        f"saved_caches_directory: {directory}/caches",
        f"hints_directory: {directory}/hints",
        f"cdc_raw_directory: {directory}/cdc",
        "commitlog_sync: batch",
        "commitlog_segment_size: 32MiB",
        "memtable_heap_space: 64MiB",
        "memtable_offheap_space: 64MiB",
        "file_cache_size: 32MiB",
        "networking_cache_size: 32MiB",
        "key_cache_size: 8MiB",
        "concurrent_reads: 8",
        "concurrent_writes: 8",
        "paxos_variant: v2",
        "cas_contention_timeout: 20s",
        "read_request_timeout: 20s",
        "range_request_timeout: 20s",
        "write_request_timeout: 20s",
        "request_timeout: 20s",
        *settings,
    ]
    return "".join(f"{line}\n" for line in lines)
