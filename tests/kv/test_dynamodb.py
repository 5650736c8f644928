"""`dynamodb://` against the vendor's own implementation, and through a proxy that throttles and breaks connections."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest
from aiobotocore.session import get_session  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from dev.servers import dynamodb
from headwater import kv
from headwater.kv import ABSENT, Store
from headwater.kv.drivers.dynamodb import MAX_ITEM, VERSION_BYTES
from headwater.kv.drivers.dynamodb_calls import ATTEMPTS
from headwater.kv.limits import MAX_KEY, MAX_PARTITION, MAX_TENANT
from headwater.testing.kv_suite import KVStoreSuite, P, scanned, value_of
from tests.conftest import Servers
from tests.kv.broken_connections import write_once_up
from tests.kv.proxies import Answer, Fault, HttpProxy, Proxy, http_answer

pytestmark = pytest.mark.anyio

CREDENTIALS = {"access_key_id": "anybody", "secret_access_key": "anything"}


@pytest.fixture
def endpoint(servers: Servers) -> str:
    return servers.start("dynamodb", dynamodb.serve)


class TestDynamoDB(KVStoreSuite):
    max_value = MAX_ITEM - (1 + MAX_TENANT + MAX_PARTITION) - MAX_KEY - VERSION_BYTES - len("pkvn")

    @pytest.fixture
    def uri(self, endpoint: str) -> str:
        return f"dynamodb://suite?region=eu-west-1&endpoint={endpoint}"

    @pytest.fixture
    def credentials(self) -> dict[str, str]:
        return CREDENTIALS


async def opened(endpoint: str | int, table: str, options: str = "") -> Store:
    where = endpoint if isinstance(endpoint, str) else f"http://127.0.0.1:{endpoint}"
    return await kv.open(f"dynamodb://{table}?region=eu-west-1&endpoint={where}{options}", credentials=CREDENTIALS)


@pytest.fixture
def table() -> str:
    """A name that no other test uses. DynamoDB tells upper case from lower."""
    return f"Test_{uuid4().hex[:12]}"


@pytest.fixture
async def direct(endpoint: str, table: str) -> AsyncIterator[Store]:
    """A store that no proxy disturbs."""
    async with await opened(endpoint, table) as store:
        yield store


@pytest.fixture
async def client(endpoint: str) -> AsyncIterator[Any]:
    """DynamoDB as its vendor's library shows it."""
    async with get_session().create_client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="eu-west-1",
        aws_access_key_id="anybody",
        aws_secret_access_key="anything",  # noqa: S106  (the emulator takes any)
    ) as client:
        yield client


@pytest.fixture
async def http(endpoint: str) -> AsyncIterator[HttpProxy]:
    async with HttpProxy(int(endpoint.rpartition(":")[2])) as proxy:
        yield proxy


@pytest.fixture
async def watched(http: HttpProxy, table: str, direct: Store) -> AsyncIterator[Store]:  # noqa: ARG001  (makes the table)
    """The same store through a proxy that sees each request and may answer it."""
    async with await opened(http.port, table) as store:
        http.seen.clear()
        yield store


@pytest.fixture
async def tcp(endpoint: str) -> AsyncIterator[Proxy]:
    async with Proxy(int(endpoint.rpartition(":")[2])) as proxy:
        yield proxy


def writes(store: Store) -> list[Callable[[], Awaitable[object]]]:
    """Every way to write a key that is not there."""
    return [
        lambda: store.set(P, b"key", b""),
        lambda: store.set_if(P, b"key", b"", ABSENT),
        lambda: store.set_many(P, {b"key": b""}),
    ]


def reads(store: Store) -> list[Callable[[], Awaitable[object]]]:
    return [
        lambda: store.get(P, b"key"),
        lambda: store.get_many(P, [b"key", b"other"]),
        lambda: scanned(store),
    ]


# What is asked of DynamoDB


async def test_every_read_is_strongly_consistent(watched: Store, http: HttpProxy) -> None:
    for read in reads(watched):
        await read()
    assert [operation for operation, _ in http.seen] == ["GetItem", "BatchGetItem", "Query"]
    for operation, body in http.seen:
        request = json.loads(body)
        (asked,) = request["RequestItems"].values() if operation == "BatchGetItem" else [request]
        assert asked["ConsistentRead"] is True


async def test_a_bulk_call_costs_a_request_for_each_full_batch(watched: Store, http: HttpProxy) -> None:
    keys = [b"%03d" % number for number in range(201)]
    await watched.set_many(P, dict.fromkeys(keys, b""))
    await watched.get_many(P, keys + keys)
    await watched.delete_many(P, keys)
    operations = [operation for operation, _ in http.seen]
    assert operations == ["BatchWriteItem"] * 9 + ["BatchGetItem"] * 3 + ["BatchWriteItem"] * 9


async def test_a_batch_read_of_more_than_dynamodb_answers_at_once_is_whole(watched: Store, http: HttpProxy) -> None:
    """The answer ends at 16 MB: the rest is really left over."""
    values = {b"%02d" % number: os.urandom(380_000) for number in range(60)}
    await watched.set_many(P, values)
    http.seen.clear()
    found = await watched.get_many(P, list(values))
    assert [versioned.value for versioned in found if versioned] == list(values.values())
    assert len(http.seen) > 1
    assert await scanned(watched) == values


async def test_an_item_may_be_as_large_as_dynamodb_allows_and_no_larger(direct: Store, client: Any, table: str) -> None:
    key, stored_partition = b"key", b"\0" + P
    most = MAX_ITEM - len(stored_partition) - len(key) - VERSION_BYTES - len("pkvn")
    await direct.set(P, key, b"x" * most)
    with pytest.raises(kv.LimitExceeded, match=str(MAX_ITEM)):
        await direct.set(P, key, b"x" * (most + 1))
    assert await value_of(direct, key) == b"x" * most
    item = {name: {"B": part} for name, part in (("p", stored_partition), ("k", key), ("n", b"n" * VERSION_BYTES))}
    with pytest.raises(ClientError, match="size has exceeded"):  # so it is DynamoDB's limit, and not only ours
        await client.put_item(TableName=table, Item={**item, "v": {"B": b"x" * (most + 1)}})


# Throttling and failures inside DynamoDB


def refusing(code: str, times: int, *, status: int = 400) -> Answer:
    """Answer *times* requests with the error *code* before the server sees any."""
    left = times

    def answer(_operation: str, _body: bytes) -> bytes | None:
        nonlocal left
        left -= 1
        return (
            http_answer(status, json.dumps({"__type": f"x#{code}", "message": "made up"}).encode())
            if left >= 0
            else None
        )

    return answer


THROTTLED = ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]


@pytest.mark.parametrize("code", THROTTLED)
async def test_throttling_that_passes_is_not_noticed(watched: Store, http: HttpProxy, code: str) -> None:
    for call in writes(watched)[:2] + reads(watched):
        await watched.delete(P, b"key")
        http.seen.clear()
        http.answer = refusing(code, 3)
        await call()
        assert len(http.seen) == 4


async def test_throttling_that_does_not_pass_is_told_after_a_bounded_number_of_attempts(
    watched: Store, direct: Store, http: HttpProxy
) -> None:
    http.answer = refusing("ThrottlingException", 10**6)
    calls = writes(watched) + reads(watched)
    outcomes = await asyncio.gather(*(call() for call in calls), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [kv.SlowDown] * len(calls)
    assert len(http.seen) == ATTEMPTS * len(calls)
    assert await scanned(direct) == {}


def leaving_over(times: int) -> Answer:
    """Leave all of a batch over, *times* times, as DynamoDB does when a partition is too hot."""
    left = times

    def answer(operation: str, body: bytes) -> bytes | None:
        nonlocal left
        left -= 1
        items = json.loads(body)["RequestItems"]
        reply: dict[str, Any] = {"BatchWriteItem": {"UnprocessedItems": items}}.get(
            operation, {"Responses": {}, "UnprocessedKeys": items}
        )
        return http_answer(200, json.dumps(reply).encode()) if left >= 0 else None

    return answer


async def test_what_a_batch_leaves_over_is_sent_again(watched: Store, direct: Store, http: HttpProxy) -> None:
    values = {b"%02d" % number: b"%d" % number for number in range(30)}
    http.answer = leaving_over(3)
    await watched.set_many(P, values)
    assert await scanned(direct) == values
    http.answer = leaving_over(3)
    assert [versioned.value for versioned in await watched.get_many(P, list(values)) if versioned] == list(
        values.values()
    )
    http.answer = leaving_over(3)
    await watched.delete_many(P, list(values))
    assert await scanned(direct) == {}


async def test_a_batch_that_is_left_over_for_ever_is_throttling(watched: Store, http: HttpProxy) -> None:
    for call in (lambda: watched.set_many(P, {b"key": b""}), lambda: watched.get_many(P, [b"key"])):
        http.seen.clear()
        http.answer = leaving_over(10**6)
        with pytest.raises(kv.SlowDown):
            await call()
        assert len(http.seen) == ATTEMPTS


@pytest.mark.parametrize("status", [500, 503])
async def test_a_write_at_which_dynamodb_fails_is_not_sent_again(watched: Store, http: HttpProxy, status: int) -> None:
    for write in writes(watched):
        http.seen.clear()
        http.answer = refusing("InternalServerError", 1, status=status)
        with pytest.raises(kv.UnknownOutcome):
            await write()
        assert len(http.seen) == 1


async def test_a_read_at_which_dynamodb_fails_is_made_again(watched: Store, http: HttpProxy) -> None:
    await watched.set(P, b"key", b"value")
    http.answer = refusing("InternalServerError", 3, status=500)
    assert await value_of(watched, b"key") == b"value"


# Connections that break

LOST = [Fault.LOSE_ANSWER, Fault.RESET_INSTEAD_OF_ANSWER, Fault.LOSE_REQUEST]


@pytest.mark.parametrize("fault", LOST)
async def test_a_write_whose_answer_is_lost_has_an_unknown_outcome(
    tcp: Proxy, table: str, direct: Store, fault: Fault
) -> None:
    async with await opened(tcp.port, table) as store:
        for write in writes(store):
            await direct.delete(P, b"key")
            tcp.fault = fault
            with pytest.raises(kv.UnknownOutcome):
                await write()
            tcp.fault = Fault.NONE
            assert (await direct.get(P, b"key") is None) == (fault is Fault.LOSE_REQUEST)


@pytest.mark.parametrize("fault", LOST)
async def test_a_read_whose_answer_is_lost_finds_the_store_unavailable_and_the_next_one_works(
    tcp: Proxy, table: str, direct: Store, fault: Fault
) -> None:
    await direct.set(P, b"key", b"value")
    async with await opened(tcp.port, table) as store:
        for read in reads(store):
            tcp.fault = fault
            with pytest.raises(kv.StoreUnavailable):
                await read()
            tcp.fault = Fault.NONE
            assert await value_of(store, b"key") == b"value"


async def test_a_silent_server_is_not_waited_for_beyond_the_timeout(tcp: Proxy, table: str, direct: Store) -> None:
    async with await opened(tcp.port, table, "&timeout=1") as store:
        await write_once_up(store, b"key", b"old")
        tcp.fault = Fault.SILENCE
        outcomes = await asyncio.gather(store.set(P, b"key", b"new"), store.get(P, b"key"), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [kv.UnknownOutcome, kv.StoreUnavailable]
    assert await value_of(direct, b"key") == b"new"


async def test_a_server_that_is_not_there_has_certainly_written_nothing(tcp: Proxy, table: str, direct: Store) -> None:
    async with await opened(tcp.port, table) as store:
        await tcp.go_down()
        for call in writes(store) + reads(store):
            with pytest.raises(kv.StoreUnavailable):
                await call()
    with pytest.raises(kv.StoreUnavailable):
        await opened(tcp.port, table)
    assert await scanned(direct) == {}


async def test_a_cancelled_call_leaves_the_store_fit_for_the_next(tcp: Proxy, table: str, direct: Store) -> None:
    async with await opened(tcp.port, table, "&connections=1") as store:
        await store.set(P, b"key", b"old")
        for _ in range(3):
            tcp.fault = Fault.SILENCE
            tcp.heard.clear()
            write = asyncio.create_task(store.set(P, b"key", b"new"))
            await asyncio.wait_for(tcp.heard.wait(), 30)
            write.cancel()
            with pytest.raises(asyncio.CancelledError):
                await write
            tcp.fault = Fault.NONE
            assert await value_of(store, b"key") == await value_of(direct, b"key")


# Opening


async def test_many_may_open_a_table_that_is_not_there_at_once(endpoint: str, table: str) -> None:
    stores = await asyncio.gather(*(opened(endpoint, table) for _ in range(8)))
    for number, store in enumerate(stores):
        await store.set(P, b"%d" % number, b"")
    assert len(await scanned(stores[0])) == 8
    for store in stores:
        await store.aclose()


async def test_the_table_is_named_as_it_is_written_and_billed_by_request(
    direct: Store, client: Any, table: str
) -> None:
    await direct.set(P, b"key", b"")
    description = (await client.describe_table(TableName=table))["Table"]
    assert description["TableName"] == table != table.lower()
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


async def test_no_table_is_made_for_who_asks_for_none(endpoint: str, client: Any, table: str) -> None:
    with pytest.raises(kv.CannotOpen, match=table):
        await opened(endpoint, table, "&create=false")
    assert table not in (await client.list_tables())["TableNames"]


async def test_a_table_of_another_shape_is_refused(endpoint: str, client: Any, table: str) -> None:
    await client.create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    with pytest.raises(kv.CannotOpen, match="not one of Headwater's"):
        await opened(endpoint, table)


@pytest.mark.parametrize("code", ["AccessDeniedException", "UnrecognizedClientException"])
async def test_who_has_no_right_is_told_so_and_asks_once(http: HttpProxy, table: str, code: str) -> None:
    http.answer = refusing(code, 10**6)
    with pytest.raises(kv.CannotOpen, match=code):
        await opened(http.port, table)
    assert len(http.seen) == 1


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No region and no credentials to be found anywhere."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return monkeypatch


@pytest.mark.usefixtures("bare_environment")
async def test_a_missing_region_or_credentials_are_named(endpoint: str, table: str) -> None:
    with pytest.raises(kv.CannotOpen, match="region"):
        await kv.open(f"dynamodb://{table}?endpoint={endpoint}", credentials=CREDENTIALS)
    with pytest.raises(kv.CannotOpen, match="credentials"):
        await kv.open(f"dynamodb://{table}?region=eu-west-1&endpoint={endpoint}")
    with pytest.raises(kv.CannotOpen, match="secret_access_key"):
        await kv.open(
            f"dynamodb://{table}?region=eu-west-1&endpoint={endpoint}", credentials={"access_key_id": "anybody"}
        )


async def test_region_and_credentials_may_come_from_the_standard_chain(
    endpoint: str, table: str, bare_environment: pytest.MonkeyPatch
) -> None:
    bare_environment.setenv("AWS_REGION", "eu-west-1")
    bare_environment.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    bare_environment.setenv("AWS_ACCESS_KEY_ID", "anybody")
    bare_environment.setenv("AWS_SECRET_ACCESS_KEY", "anything")
    async with await kv.open(f"dynamodb://{table}?endpoint={endpoint}") as store:
        assert await store.get(P, b"nobody") is None


@pytest.mark.parametrize(
    "uri",
    [
        "dynamodb://",
        "dynamodb:///table?region=eu-west-1",
        "dynamodb://table/more?region=eu-west-1",
        "dynamodb://key:secret@table?region=eu-west-1",
        "dynamodb://table?region=eu-west-1&connections=0",
        "dynamodb://table?region=eu-west-1&timeout=0",
        "dynamodb://table?region=eu-west-1&endpoint=nonsense",
        "dynamodb://table?region=eu-west-1&tabel=x",
    ],
)
async def test_a_uri_that_cannot_be_right_is_refused(uri: str) -> None:
    with pytest.raises(kv.CannotOpen) as refused:
        await kv.open(uri, credentials=CREDENTIALS)
    assert "secret@" not in str(refused.value)
