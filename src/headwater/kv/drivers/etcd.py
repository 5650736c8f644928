"""`etcd://host:2379`: a store in an etcd cluster, for a lake of modest size whose other services run on etcd already.

A predicate is the key's mod revision, a number that the whole cluster gives once. `docs/kv/etcd.md` says what maps to
what, and what fits.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from aetcd import rpc  # type: ignore[import-untyped]

from headwater.kv.drivers.batches import batches
from headwater.kv.drivers.etcd_calls import Calls, Login, Refused
from headwater.kv.errors import CannotOpen, PredicateFailed
from headwater.kv.limits import PAGE
from headwater.kv.store import ABSENT, Delete, Entry, Operation, Page, Predicate, Set, SetIf, Store, Versioned, after
from headwater.location import Location

MAX_OPERATIONS = 100
"""Operations in one transaction: etcd takes 128 (`--max-txn-ops`) unless told otherwise."""

MAX_MESSAGE = 1_000_000
"""Bytes of keys and values in one transaction: etcd takes a request of 1.5 MiB (`--max-request-bytes`)."""

MAX_SWAPS = 16
"""Conditional operations in one transaction: each is a transaction within the one before it."""

MAX_PREFIX = 64
"""Bytes of the prefix that a URI may name."""


class Options(msgspec.Struct, forbid_unknown_fields=True):
    timeout: float = 10.0
    tls: bool = False
    ssl_ca: str | None = None


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    password: str | None = None


async def connect(location: Location) -> EtcdStore:
    options = location.read_options(Options)
    prefix = (location.path.strip("/") or "headwater").encode()
    if not location.host:
        raise CannotOpen(f"{location}: write etcd://host:port, or etcd://host:port/prefix")
    if options.timeout <= 0:
        raise CannotOpen(f"{location}: timeout must be positive")
    if len(prefix) > MAX_PREFIX:
        raise CannotOpen(f"{location}: a prefix has at most {MAX_PREFIX} bytes")
    calls = Calls(location, timeout=options.timeout, login=_login(location), tls=options.tls, ca=options.ssl_ca)
    store = EtcdStore(calls, prefix + b"/")
    try:
        await calls.log_in()
        await store.get(b"\0", b"\0")
    except BaseException as error:
        await store.aclose()
        if isinstance(error, Refused):
            raise CannotOpen(f"{location}: {error}") from error
        raise
    return store


def _login(location: Location) -> Login | None:
    try:
        password = msgspec.convert(location.credentials, Credentials).password
    except msgspec.ValidationError:
        raise CannotOpen(f"{location}: the credentials of etcd:// are: password") from None
    if location.user is None:
        return None
    return Login(location.user, (location.password if password is None else password) or "")


class EtcdStore(Store):
    """The keys of a partition are *prefix*, the length of its name in two bytes, its name, and then each its own."""

    def __init__(self, calls: Calls, prefix: bytes) -> None:
        self._calls = calls
        self._prefix = prefix

    async def get(self, partition: bytes, key: bytes) -> Versioned | None:
        answer = await self._calls.range(rpc.RangeRequest(key=self._base(partition) + key))
        for found in answer.kvs:
            return _versioned(found)
        return None

    async def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        await self._calls.put(rpc.PutRequest(key=self._base(partition) + key, value=value))

    async def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Predicate) -> Predicate:
        operation = SetIf(partition, key, value, predicate)
        answer = await self._calls.transact(
            rpc.TxnRequest(compare=[self._holds(operation)], success=[self._request(operation)])
        )
        if not answer.succeeded:
            raise PredicateFailed(partition, key)
        return Predicate(answer.header.revision)

    async def delete(self, partition: bytes, key: bytes) -> None:
        await self._calls.delete(rpc.DeleteRangeRequest(key=self._base(partition) + key))

    async def scan(self, partition: bytes, start: bytes = b"", *, page: int = PAGE) -> AsyncIterator[Page]:
        base = self._base(partition)
        first, end = base + start, _after_all_that_begin_with(base)
        while True:
            answer = await self._calls.range(rpc.RangeRequest(key=first, range_end=end, limit=page))
            if answer.kvs:
                yield [Entry(found.key[len(base) :], found.value) for found in answer.kvs]
            if not answer.more:
                return
            first = answer.kvs[-1].key + b"\0"

    async def get_many(self, partition: bytes, keys: Sequence[bytes]) -> list[Versioned | None]:
        """A hundred in a round trip. They are read at one moment, which nobody may rely on."""
        base = self._base(partition)
        found: list[Versioned | None] = []
        for some in batches(keys, most=MAX_OPERATIONS, most_bytes=MAX_MESSAGE, size=len):
            reads = [rpc.RequestOp(request_range=rpc.RangeRequest(key=base + key)) for key in some]
            answer = await self._calls.transact(rpc.TxnRequest(success=reads), writes=False)
            found += (next(map(_versioned, each.response_range.kvs), None) for each in answer.responses)
        return found

    async def set_many(self, partition: bytes, values: Mapping[bytes, bytes]) -> None:
        await self._do_all([Set(partition, key, value) for key, value in values.items()])

    async def delete_many(self, partition: bytes, keys: Iterable[bytes]) -> None:
        await self._do_all([Delete(partition, key) for key in keys])

    async def pipeline(self, operations: Sequence[Operation]) -> None:
        """One transaction, unless it names a key twice or is large. What ran before a failed predicate stays."""
        done = 0
        for some in _transactions(operations):
            with after(done, operations):
                answer = await self._calls.transact(self._in_order(some))
            failed = _failed(answer, some)
            if failed is not None:
                raise PredicateFailed(failed.partition, failed.key)
            done += len(some)

    async def aclose(self) -> None:
        await self._calls.aclose()

    async def _do_all(self, operations: Sequence[Set | Delete]) -> None:
        for some in batches(operations, most=MAX_OPERATIONS, most_bytes=MAX_MESSAGE, size=_size):
            await self._calls.transact(rpc.TxnRequest(success=[self._request(operation) for operation in some]))

    def _in_order(self, operations: Sequence[Operation]) -> Any:
        """*operations* up to the first conditional one, and in a transaction within this one all the rest.

        The inner one does nothing when the predicate does not hold; what is in the outer one is done all the same.
        """
        requests = []
        for position, operation in enumerate(operations):
            if isinstance(operation, SetIf):
                inner = self._in_order(operations[position + 1 :])
                inner.compare.append(self._holds(operation))
                inner.success.insert(0, self._request(operation))
                requests.append(rpc.RequestOp(request_txn=inner))
                break
            requests.append(self._request(operation))
        return rpc.TxnRequest(success=requests)

    def _request(self, operation: Operation) -> Any:
        key = self._base(operation.partition) + operation.key
        if isinstance(operation, Delete):
            return rpc.RequestOp(request_delete_range=rpc.DeleteRangeRequest(key=key))
        return rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=operation.value))

    def _holds(self, operation: SetIf) -> Any:
        """A key that is not there has the mod revision 0."""
        return rpc.Compare(
            key=self._base(operation.partition) + operation.key,
            target=rpc.Compare.MOD,
            result=rpc.Compare.EQUAL,
            mod_revision=0 if operation.predicate is ABSENT else operation.predicate,
        )

    def _base(self, partition: bytes) -> bytes:
        return self._prefix + len(partition).to_bytes(2, "big") + partition


def _transactions(operations: Sequence[Operation]) -> Iterator[Sequence[Operation]]:
    """*operations* in parts that etcd takes as one transaction: it refuses one that writes a key twice.

    It also looks at all predicates before it writes anything, which makes no difference where no key is named twice.
    """
    for some in batches(operations, most=MAX_OPERATIONS, most_bytes=MAX_MESSAGE, size=_size):
        named: set[tuple[bytes, bytes]] = set()
        swaps = first = 0
        for position, operation in enumerate(some):
            name = operation.partition, operation.key
            swap = isinstance(operation, SetIf)
            if name in named or (swap and swaps == MAX_SWAPS):
                yield some[first:position]
                named, swaps, first = set(), 0, position
            named.add(name)
            swaps += swap
        yield some[first:]


def _failed(answer: Any, operations: Sequence[Operation]) -> SetIf | None:
    """The first of *operations* whose predicate did not hold."""
    for operation in operations:
        if isinstance(operation, SetIf):
            answer = answer.responses[-1].response_txn
            if not answer.succeeded:
                return operation
    return None


def _size(operation: Operation) -> int:
    value = b"" if isinstance(operation, Delete) else operation.value
    return len(operation.partition) + len(operation.key) + len(value)


def _versioned(found: Any) -> Versioned:
    return Versioned(found.value, Predicate(found.mod_revision))


def _after_all_that_begin_with(prefix: bytes) -> bytes:
    """The least key that sorts after every key with this prefix."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1])
