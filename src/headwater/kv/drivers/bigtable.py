"""`bigtable://project/instance/table`: a store in a Bigtable table, a row a key, one cell a row.

The cell is a version and the value; the version is the predicate, random bytes that each write draws anew. Every write
is at the one timestamp 0, so that a row has one cell and no clock has a say in which write was the last.
`docs/kv/bigtable.md` says what maps to what.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from google.api_core.exceptions import GoogleAPICallError
from google.cloud import bigtable_v2 as bigtable
from grpc import StatusCode  # type: ignore[import-untyped]  # it ships none

from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.bigtable_channels import Channels, refused
from headwater.kv.drivers.bigtable_table import FAMILY, make_table
from headwater.kv.drivers.rows import end_of_rows, row_of
from headwater.kv.errors import CannotOpen, PredicateFailed, SlowDown, StoreError, StoreUnavailable, UnknownOutcome
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Entry, Page, Predicate, Store, Versioned
from headwater.location import Location

COLUMN = b"v"

VERSION = 16
"""Random bytes in front of each value: enough that no two writes ever draw the same."""

MAX_BATCH = 2_000
MAX_BATCH_BYTES = 8 * 1024 * 1024
"""Rows, and bytes of them, in one bulk request: far below Bigtable's 100,000 mutations and 256 MB."""

_ONE_CELL = bigtable.RowFilter(
    chain=bigtable.RowFilter.Chain(
        filters=[
            bigtable.RowFilter(family_name_regex_filter=f"^{FAMILY}$"),
            bigtable.RowFilter(cells_per_row_limit_filter=1),
        ]
    )
)


class Options(msgspec.Struct, forbid_unknown_fields=True):
    endpoint: str | None = None
    app_profile: str = ""
    create: bool = True
    timeout: float = 30.0


async def connect(location: Location) -> BigtableStore:
    options = location.read_options(Options)
    names = location.path.strip("/").split("/")
    if not location.host or len(names) != 2 or not all(names) or location.port or location.user:
        raise CannotOpen(f"{location}: write bigtable://project/instance/table")
    if location.credentials:
        raise CannotOpen(f"{location}: bigtable:// takes credentials from Google's standard chain only")
    if options.timeout <= 0:
        raise CannotOpen(f"{location}: timeout must be positive")
    channels = Channels(options.endpoint)
    instance = f"projects/{location.host}/instances/{names[0]}"
    try:
        await make_table(channels, instance, names[1], options.app_profile, options.timeout, create=options.create)
    except BaseException as error:
        await channels.aclose()
        if isinstance(error, GoogleAPICallError):
            raise (CannotOpen if refused(error) else StoreUnavailable)(f"{location}: {error.message}") from error
        raise
    return BigtableStore(channels, f"{instance}/tables/{names[1]}", options.app_profile, options.timeout)


def _new_version() -> bytes:
    return secrets.token_bytes(VERSION)


class BigtableStore(Store):
    """*versions* draws the version of each write."""

    def __init__(
        self,
        channels: Channels,
        table: str,
        app_profile: str,
        timeout: float,
        versions: Callable[[], bytes] = _new_version,
    ) -> None:
        self._channels = channels
        self._client = channels.data
        self._names = {"table_name": table, "app_profile_id": app_profile}
        self._timeout = timeout
        self._versions = versions

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        for _, cell in await self._read(bigtable.RowSet(row_keys=[row_of(partition, key)]), limit=1):
            return _versioned(cell)
        return None

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._mutate(row_of(partition, key), _put(self._versions() + value))

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        """One check-and-mutate: the row is locked from the look until the write."""
        version = self._versions()
        put = [_put(version + value)]
        request = bigtable.CheckAndMutateRowRequest(row_key=row_of(partition, key), **self._names)
        if predicate is ABSENT:
            request.false_mutations = put
        else:
            request.predicate_filter = _begins_with(predicate)
            request.true_mutations = put
        try:
            answer = await self._client.check_and_mutate_row(request, retry=None, timeout=self._timeout)
        except GoogleAPICallError as error:
            raise _failure(error, writes=True) from error
        if answer.predicate_matched is (predicate is ABSENT):
            raise PredicateFailed(partition, key)
        return Predicate(version)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._mutate(row_of(partition, key), _DELETE)

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        prefix, end = row_of(partition, b""), end_of_rows(partition)
        while True:
            rows = bigtable.RowRange(start_key_closed=prefix + start, end_key_open=end)
            cells = await self._read(bigtable.RowSet(row_ranges=[rows]), limit=page)
            if cells:
                yield [Entry(row[len(prefix) :], cell[VERSION:]) for row, cell in cells]
            if len(cells) < page:
                return
            start = cells[-1][0][len(prefix) :] + b"\0"

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        found: dict[bytes, Versioned] = {}
        for some in batches(list(dict.fromkeys(keys)), most=MAX_BATCH, most_bytes=MAX_BATCH_BYTES, size=len):
            rows = bigtable.RowSet(row_keys=[row_of(partition, key) for key in some])
            found.update((row, _versioned(cell)) for row, cell in await self._read(rows, limit=len(some)))
        return [found.get(row_of(partition, key)) for key in keys]

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        puts = [(row_of(partition, key), _put(self._versions() + value)) for key, value in values.items()]
        await self._mutate_many(puts)

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        await self._mutate_many([(row_of(partition, key), _DELETE) for key in keys])

    async def aclose(self) -> None:
        await self._channels.aclose()

    async def _read(self, rows: bigtable.RowSet, *, limit: int) -> list[tuple[bytes, bytes]]:
        """The cells of *rows*, in their order."""
        if limit == 0:
            return []
        request = bigtable.ReadRowsRequest(rows=rows, rows_limit=limit, filter=_ONE_CELL, **self._names)
        try:
            answers = await self._client.read_rows(request, retry=None, timeout=self._timeout)
            return await _cells(answers)
        except GoogleAPICallError as error:
            raise _failure(error, writes=False) from error

    async def _mutate(self, row: bytes, mutation: bigtable.Mutation) -> None:
        request = bigtable.MutateRowRequest(row_key=row, mutations=[mutation], **self._names)
        try:
            await self._client.mutate_row(request, retry=None, timeout=self._timeout)
        except GoogleAPICallError as error:
            raise _failure(error, writes=True) from error

    async def _mutate_many(self, mutations: Sequence[tuple[bytes, bigtable.Mutation]]) -> None:
        for some in batches(mutations, most=MAX_BATCH, most_bytes=MAX_BATCH_BYTES, size=_size):
            entries = [bigtable.MutateRowsRequest.Entry(row_key=row, mutations=[one]) for row, one in some]
            request = bigtable.MutateRowsRequest(entries=entries, **self._names)
            try:
                answers = await self._client.mutate_rows(request, retry=None, timeout=self._timeout)
                told = [entry async for answer in answers for entry in answer.entries]
            except GoogleAPICallError as error:
                raise _failure(error, writes=True) from error
            failed = next((entry for entry in told if entry.status.code), None)
            if failed is not None:
                raise UnknownOutcome(f"Bigtable refused a row of a bulk write: {failed.status.message}")
            if len(told) != len(some):
                raise UnknownOutcome(f"Bigtable told of {len(told)} of the {len(some)} rows of a bulk write")


_DELETE = bigtable.Mutation(delete_from_row=bigtable.Mutation.DeleteFromRow())


def _put(cell: bytes) -> bigtable.Mutation:
    """Replace the one cell of a row: a cell at the same timestamp takes the other's place."""
    return bigtable.Mutation(
        set_cell=bigtable.Mutation.SetCell(family_name=FAMILY, column_qualifier=COLUMN, timestamp_micros=0, value=cell)
    )


def _begins_with(predicate: Predicate) -> bigtable.RowFilter:
    """A filter that passes a cell of this version. By a range, because a pattern would have to be escaped."""
    version = bytes(predicate)  # type: ignore[call-overload]  # ours are bytes
    number = int.from_bytes(version, "big") + 1
    following = number.to_bytes(VERSION, "big") if number < 256**VERSION else version + b"\xff" * VERSION
    values = bigtable.ValueRange(start_value_closed=version, end_value_open=following)
    chain = bigtable.RowFilter.Chain(filters=[_ONE_CELL, bigtable.RowFilter(value_range_filter=values)])
    return bigtable.RowFilter(chain=chain)


async def _cells(answers: Any) -> list[tuple[bytes, bytes]]:
    """Put rows of one cell together from the chunks that they come in: a large cell comes in several."""
    found: list[tuple[bytes, bytes]] = []
    row = b""
    parts: list[bytes] = []
    async for answer in answers:
        for chunk in bigtable.ReadRowsResponse.pb(answer).chunks:
            if chunk.reset_row:
                parts = []
                continue
            row = chunk.row_key or row
            parts.append(chunk.value)
            if chunk.commit_row:
                found.append((row, b"".join(parts)))
                parts = []
    return found


def _size(mutation: tuple[bytes, bigtable.Mutation]) -> int:
    return len(mutation[0]) + len(mutation[1].set_cell.value)


def _versioned(cell: bytes) -> Versioned:
    return Versioned(cell[VERSION:], Predicate(cell[:VERSION]))


def _failure(error: GoogleAPICallError, *, writes: bool) -> StoreError:
    """What a call that failed means for its caller. In doubt a write may have been applied."""
    if error.grpc_status_code is StatusCode.RESOURCE_EXHAUSTED:
        return SlowDown(f"Bigtable throttles: {error.message}")
    if refused(error):
        return StoreUnavailable(f"Bigtable refused: {error.message}")
    if not writes or (error.grpc_status_code is StatusCode.UNAVAILABLE and "failed to connect" in error.message):
        return StoreUnavailable(f"no answer from Bigtable: {error.message}")
    return UnknownOutcome(f"the answer of Bigtable to a write never came: {error.message}")
