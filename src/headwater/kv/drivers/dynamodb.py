"""`dynamodb://table?region=…`: a store in a DynamoDB table, with strongly consistent reads and conditional puts.

A predicate is the item's version, random bytes that each write draws anew. `docs/kv/dynamodb.md` says what maps to
what, and what it costs.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeAlias, TypeVar

import msgspec
from aiobotocore.config import AioConfig  # type: ignore[import-untyped]
from aiobotocore.session import get_session  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.dynamodb_calls import ATTEMPTS, Calls, PredicateRefused, Refused
from headwater.kv.drivers.dynamodb_table import KEY, PARTITION, VALUE, VERSION, make_table
from headwater.kv.errors import CannotOpen, LimitExceeded, PredicateFailed, SlowDown
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Entry, Page, Predicate, Store, Versioned
from headwater.location import Location

MAX_ITEM = 400 * 1024
"""Bytes of an item, its attributes' names included: DynamoDB's limit, so that a value has a little less than that."""

VERSION_BYTES = 16
"""Random bytes of a version: enough that no two writes ever draw the same."""

MAX_BATCH_READ = 100
MAX_BATCH_WRITE = 25
"""Items in one batch: DynamoDB's limits."""

MAX_BATCH_BYTES = 700_000
"""Bytes of keys and values in one batch: a body of a megabyte is as much as fits to be built and sent in one go, and
JSON makes four bytes of three."""

PARALLEL_BATCHES = 8
"""Batches of one bulk call under way at once: a bulk call of thousands is quick, and does not take all connections."""

Item: TypeAlias = dict[str, Any]

Send: TypeAlias = Callable[[list[Item]], Awaitable[list[Item]]]
"""Sends a batch, and answers what DynamoDB left over of it."""

T = TypeVar("T")


class Options(msgspec.Struct, forbid_unknown_fields=True):
    region: str | None = None
    endpoint: str | None = None
    create: bool = True
    connections: int = 50
    timeout: float = 10.0


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    access_key_id: str | None = None
    secret_access_key: str | None = None
    session_token: str | None = None


async def connect(location: Location) -> DynamoDBStore:
    options = location.read_options(Options)
    if not location.host or location.path.strip("/") or location.port or location.user:
        raise CannotOpen(f"{location}: write dynamodb://table?region=…, with credentials beside it")
    if options.connections < 1 or options.timeout <= 0:
        raise CannotOpen(f"{location}: connections and timeout must be positive")
    resources, calls = AsyncExitStack(), Calls()
    try:
        client = await resources.enter_async_context(_client(location, options))
        await make_table(client, calls, location.host, create=options.create)
    except BaseException as error:
        await resources.aclose()
        if isinstance(error, (Refused, BotoCoreError, ValueError)):  # the latter two: no region, or a bad endpoint
            raise CannotOpen(f"{location}: {error}") from error
        raise
    return DynamoDBStore(client, location.host, calls, resources)


def _client(location: Location, options: Options) -> Any:
    """A client that answers or fails within the timeout, and never sends a request twice."""
    try:
        credentials = msgspec.convert(location.credentials, Credentials)
    except msgspec.ValidationError:
        known = ", ".join(Credentials.__struct_fields__)
        raise CannotOpen(f"{location}: the credentials of dynamodb:// are: {known}") from None
    return get_session().create_client(
        "dynamodb",
        region_name=options.region,
        endpoint_url=options.endpoint,
        aws_access_key_id=credentials.access_key_id,
        aws_secret_access_key=credentials.secret_access_key,
        aws_session_token=credentials.session_token,
        config=AioConfig(
            connect_timeout=options.timeout,
            read_timeout=options.timeout,
            max_pool_connections=options.connections,
            retries={"total_max_attempts": 1},
            parameter_validation=False,
        ),
    )


def _new_version() -> bytes:
    return secrets.token_bytes(VERSION_BYTES)


class DynamoDBStore(Store):
    """*resources* are what is let go of in the end; *versions* draws the version of each write."""

    def __init__(
        self,
        client: Any,
        table: str,
        calls: Calls,
        resources: AsyncExitStack,
        versions: Callable[[], bytes] = _new_version,
    ) -> None:
        self._client = client
        self._table = table
        self._calls = calls
        self._resources = resources
        self._versions = versions

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        answer = await self._calls.read(
            self._client.get_item, TableName=self._table, Key=_name(partition, key), ConsistentRead=True
        )
        item = answer.get("Item")
        return None if item is None else _versioned(item)

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        item = _item(partition, key, value, self._versions())
        await self._calls.write(self._client.put_item, TableName=self._table, Item=item)

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        version = self._versions()
        condition: dict[str, Any] = (
            {"ConditionExpression": f"attribute_not_exists({KEY})"}
            if predicate is ABSENT
            else {"ConditionExpression": f"{VERSION} = :was", "ExpressionAttributeValues": {":was": {"B": predicate}}}
        )
        item = _item(partition, key, value, version)
        try:
            await self._calls.write(self._client.put_item, TableName=self._table, Item=item, **condition)
        except PredicateRefused:
            raise PredicateFailed(partition, key) from None
        return Predicate(version)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._calls.write(self._client.delete_item, TableName=self._table, Key=_name(partition, key))

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        query: dict[str, Any] = {
            "TableName": self._table,
            "ConsistentRead": True,
            "Limit": page,
            "ProjectionExpression": f"{KEY}, {VALUE}",
            "KeyConditionExpression": f"{PARTITION} = :partition",
            "ExpressionAttributeValues": {":partition": {"B": partition}},
        }
        if start:  # DynamoDB compares with no empty key
            query["KeyConditionExpression"] += f" and {KEY} >= :start"
            query["ExpressionAttributeValues"][":start"] = {"B": start}
        while True:
            answer = await self._calls.read(self._client.query, **query)
            if answer["Items"]:
                yield [Entry(item[KEY]["B"], item[VALUE]["B"]) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                return
            query["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        found: dict[bytes, Versioned] = {}

        async def read(names: list[Item]) -> list[Item]:
            request = {self._table: {"Keys": names, "ConsistentRead": True}}
            answer = await self._calls.read(self._client.batch_get_item, RequestItems=request)
            for item in answer["Responses"].get(self._table, ()):
                found[item[KEY]["B"]] = _versioned(item)
            left: list[Item] = answer["UnprocessedKeys"].get(self._table, {}).get("Keys", [])
            return left

        distinct = list(dict.fromkeys(keys))
        await self._send_all(
            ([_name(partition, key) for key in some] for some in _batches(distinct, MAX_BATCH_READ, len)), read
        )
        return [found.get(key) for key in keys]

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        items = [_item(partition, key, value, self._versions()) for key, value in values.items()]
        await self._send_all(
            ([{"PutRequest": {"Item": item}} for item in some] for some in _batches(items, MAX_BATCH_WRITE, _size)),
            self._write,
        )

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        names = [_name(partition, key) for key in keys]
        await self._send_all(
            ([{"DeleteRequest": {"Key": name}} for name in some] for some in _batches(names, MAX_BATCH_WRITE, _size)),
            self._write,
        )

    async def aclose(self) -> None:
        await self._resources.aclose()

    async def _write(self, requests: list[Item]) -> list[Item]:
        answer = await self._calls.write(self._client.batch_write_item, RequestItems={self._table: requests})
        left: list[Item] = answer["UnprocessedItems"].get(self._table, [])
        return left

    async def _send_all(self, parts: Iterable[list[Item]], send: Send) -> None:
        """*send* all *parts*, several at once, and again what it leaves over of them. The first failure ends it."""
        free = asyncio.Semaphore(PARALLEL_BATCHES)

        async def run(batch: list[Item]) -> None:
            async with free:
                await self._until_none_is_left(batch, send)

        try:
            async with asyncio.TaskGroup() as group:
                for part in parts:
                    group.create_task(run(part))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _until_none_is_left(self, batch: list[Item], send: Send) -> None:
        """DynamoDB leaves over what it throttles, or what is beyond 16 MB of answer."""
        attempt = 0
        while batch:
            left = await send(batch)
            attempt = attempt + 1 if len(left) == len(batch) else 0
            if attempt == ATTEMPTS:
                raise SlowDown(f"DynamoDB throttled {ATTEMPTS} attempts at a batch of table {self._table!r}")
            if left:
                await self._calls.pause(attempt)
            batch = left


def _batches(items: Sequence[T], most: int, size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    return batches(items, most=most, most_bytes=MAX_BATCH_BYTES, size=size)


def _size(item: Item) -> int:
    return sum(len(attribute["B"]) for attribute in item.values())


def _name(partition: bytes, key: bytes) -> Item:
    return {PARTITION: {"B": partition}, KEY: {"B": key}}


def _item(partition: bytes, key: bytes, value: bytes, version: bytes) -> Item:
    size = len(partition) + len(key) + len(value) + len(version) + len(PARTITION + KEY + VALUE + VERSION)
    if size > MAX_ITEM:
        raise LimitExceeded(
            f"the value of {key[:64]!r} has {len(value)} bytes, and with its key, partition and version {size}: "
            f"an item of DynamoDB has at most {MAX_ITEM}. Keep it in the object store"
        )
    return {**_name(partition, key), VALUE: {"B": value}, VERSION: {"B": version}}


def _versioned(item: Item) -> Versioned:
    return Versioned(item[VALUE]["B"], Predicate(item[VERSION]["B"]))
