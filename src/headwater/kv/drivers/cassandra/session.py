"""A connection to a cluster, for callers on an event loop: the library answers in a thread of its own.

Nothing is sent twice: the second try of a lightweight transaction would find the first one's success and report a
failure. So the library's retries are off, and so is its speculation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from cassandra import InvalidRequest, ProtocolVersion
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import (
    ConstantReconnectionPolicy,
    DCAwareRoundRobinPolicy,
    FallthroughRetryPolicy,
    TokenAwarePolicy,
)
from cassandra.query import BatchStatement, BatchType, ConsistencyLevel, PreparedStatement, tuple_factory

from headwater.kv.drivers.cassandra.failures import FAILURES, failure
from headwater.kv.errors import StoreUnavailable

RECONNECT = 0.5
"""Seconds between two tries to reach a node that went down."""

Rows = Sequence[tuple[Any, ...]]
Values = tuple[object, ...]


class Session:
    """Prepared statements, sent to *cluster* from one event loop."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._session = cluster.connect()
        self._session.default_fetch_size = None  # whoever wants pages says how long, in the statement
        self._prepared: dict[str, PreparedStatement] = {}
        self._closed = False

    # These wait for the cluster, and are for a thread that may.

    def use(self, keyspace: str) -> None:
        self._session.set_keyspace(keyspace)

    def run_now(self, statement: str) -> None:
        self._session.execute(statement)

    def knows(self, statement: str) -> bool:
        """Whether all that *statement* names is there."""
        try:
            self._session.prepare(statement)
        except InvalidRequest:
            return False
        return True

    def prepare(self, statements: Sequence[str]) -> None:
        """Let the cluster know *statements*."""
        for statement in statements:
            self._prepared[statement] = self._session.prepare(statement)

    # These do not wait.

    async def read(self, statement: str, *values: object) -> Rows:
        return await self._ask(self._prepared[statement].bind(values), writes=False)

    async def write(self, writes: Sequence[tuple[str, Values]]) -> bool:
        """Make *writes*, of one partition, in one lightweight transaction. Whether their conditions held."""
        if len(writes) == 1:
            ((statement, values),) = writes
            rows = await self._ask(self._prepared[statement].bind(values), writes=True)
        else:
            batch = BatchStatement(BatchType.UNLOGGED)
            for statement, values in writes:
                batch.add(self._prepared[statement], values)
            rows = await self._ask(batch, writes=True)
        return bool(rows[0][0])

    async def aclose(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._cluster.shutdown)

    async def _ask(self, statement: Any, *, writes: bool) -> Rows:
        if self._closed:
            raise StoreUnavailable("this store was closed: open it again")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Rows] = loop.create_future()

        def deliver(settle: Callable[[Any], None], outcome: object) -> None:
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(lambda: None if answer.done() else settle(outcome))

        try:
            request = self._session.execute_async(statement)
            request.add_callbacks(
                lambda rows: deliver(answer.set_result, rows or ()),
                lambda error: deliver(answer.set_exception, error),
            )
            return await answer
        except FAILURES as error:
            raise failure(error, writes=writes) from error


def cluster_of(
    hosts: Sequence[str],
    *,
    port: int,
    datacenter: str | None,
    timeout: float,
    login: Any,
    encryption: Any,
) -> Cluster:
    """How to reach the cluster; it is not yet. With a *datacenter*, all of it happens there."""
    here = datacenter is not None
    profile = ExecutionProfile(
        load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy(datacenter or "")),
        retry_policy=FallthroughRetryPolicy(),
        consistency_level=ConsistencyLevel.LOCAL_QUORUM if here else ConsistencyLevel.QUORUM,
        serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL if here else ConsistencyLevel.SERIAL,
        request_timeout=timeout,
        row_factory=tuple_factory,
    )
    cluster = Cluster(
        hosts,
        port=port,
        auth_provider=login,
        ssl_context=encryption,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        reconnection_policy=ConstantReconnectionPolicy(RECONNECT, max_attempts=None),
        connect_timeout=timeout,
        control_connection_timeout=timeout,
        prepare_on_all_hosts=False,
        application_name="headwater",
    )
    cluster.protocol_version = ProtocolVersion.V5  # to begin with; told as an argument it would not be negotiated down
    return cluster
