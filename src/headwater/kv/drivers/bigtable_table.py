"""The table that the Bigtable driver keeps everything in: tried before it is used, and made if it is not there."""

from __future__ import annotations

from google.api_core.exceptions import FailedPrecondition, GoogleAPICallError, NotFound
from google.cloud import bigtable_v2 as bigtable

from headwater.kv.drivers.bigtable_channels import Channels
from headwater.kv.errors import CannotOpen

FAMILY = "h"

_TRIAL = b"\0\0trial"
"""A row that no key has: a stored partition has a byte at least, so that its length is never zero."""


async def make_table(
    channels: Channels, instance: str, table: str, app_profile: str, seconds: float, *, create: bool
) -> None:
    """Return once *table* can be used. Makes it if it is not there and *create* allows."""
    name = f"{instance}/tables/{table}"
    try:
        await _try(channels, name, app_profile, seconds)
    except NotFound as error:
        if not create:
            raise CannotOpen(
                f"there is no table {table!r} here: make it (docs/kv/bigtable.md), or open with create=true"
            ) from error
        await _create(channels, instance, table, seconds)
        await _try(channels, name, app_profile, seconds)


async def _try(channels: Channels, name: str, app_profile: str, seconds: float) -> None:
    """A check-and-mutate that leaves nothing behind: an application profile of several clusters does not allow it."""
    put = bigtable.Mutation(set_cell=bigtable.Mutation.SetCell(family_name=FAMILY, column_qualifier=b"v"))
    undo = bigtable.Mutation(delete_from_row=bigtable.Mutation.DeleteFromRow())
    request = bigtable.CheckAndMutateRowRequest(
        table_name=name, app_profile_id=app_profile, row_key=_TRIAL, false_mutations=[put, undo]
    )
    try:
        await channels.data.check_and_mutate_row(request, retry=None, timeout=seconds)
    except FailedPrecondition as error:
        raise CannotOpen(
            f"{error.message}: Headwater needs an application profile with single-cluster routing that allows "
            "single-row transactions (app_profile=…)"
        ) from error
    except GoogleAPICallError as error:
        if "family" in error.message:
            raise CannotOpen(f"{name} is not one of Headwater's tables: it has no column family {FAMILY!r}") from error
        raise


async def _create(channels: Channels, instance: str, table: str, seconds: float) -> None:
    from headwater.kv.drivers.bigtable_admin import create_table  # noqa: PLC0415  (a second to import; used once ever)

    await create_table(channels, instance, table, FAMILY, max(seconds, 60))
