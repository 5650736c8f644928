"""The table that the DynamoDB driver keeps everything in: made on demand, once, by whichever client comes first.

Attribute names are one letter because DynamoDB counts them as part of each item, and bills them.
"""

from __future__ import annotations

import asyncio
from typing import Any

from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from headwater.kv.drivers.dynamodb_calls import Calls, error_code
from headwater.kv.errors import CannotOpen, StoreUnavailable

PARTITION, KEY, VALUE, VERSION = "p", "k", "v", "n"

SECONDS_TO_BE_ACTIVE = 120
"""How long a new table may take: usually some ten seconds."""

_KEYS = [{"AttributeName": PARTITION, "KeyType": "HASH"}, {"AttributeName": KEY, "KeyType": "RANGE"}]
_TYPES = [{"AttributeName": name, "AttributeType": "B"} for name in (PARTITION, KEY)]


async def make_table(client: Any, calls: Calls, table: str, *, create: bool) -> None:
    """Return once *table* can be used. Makes it, billed by request, if it is not there and *create* allows."""
    try:
        async with asyncio.timeout(SECONDS_TO_BE_ACTIVE):
            attempt = 0
            while not await _is_active(client, calls, table, create=create):
                await calls.pause(attempt)
                attempt += 1
    except TimeoutError:
        raise StoreUnavailable(f"table {table!r} was not active after {SECONDS_TO_BE_ACTIVE} s: try again") from None


async def _is_active(client: Any, calls: Calls, table: str, *, create: bool) -> bool:
    description = await _described(client, calls, table)
    if description is None:
        if not create:
            raise CannotOpen(
                f"there is no table {table!r} here: make it (docs/kv/dynamodb.md), or open with create=true"
            )
        await calls.read(_create, client=client, table=table)  # harmless when done twice
        return False
    if description["KeySchema"] != _KEYS or not all(kind in description["AttributeDefinitions"] for kind in _TYPES):
        raise CannotOpen(f"table {table!r} is not one of Headwater's: its keys are not the binary p and k")
    return description["TableStatus"] in {"ACTIVE", "UPDATING"}


async def _described(client: Any, calls: Calls, table: str) -> Any:
    async def describe() -> Any:
        try:
            return (await client.describe_table(TableName=table))["Table"]
        except client.exceptions.ResourceNotFoundException:
            return None

    return await calls.read(describe)


async def _create(client: Any, table: str) -> None:
    try:
        await client.create_table(
            TableName=table, KeySchema=_KEYS, AttributeDefinitions=_TYPES, BillingMode="PAY_PER_REQUEST"
        )
    except ClientError as error:
        if error_code(error) != "ResourceInUseException":  # somebody else was faster
            raise
