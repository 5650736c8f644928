"""Users, groups and policies have this in common: an id, under which each is created, found, listed and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

import msgspec

from headwater.auth.directory.links import Links
from headwater.auth.directory.listing import ALL, Page, Window, names, page
from headwater.auth.directory.realm import PARTITION, Realm
from headwater.auth.directory.records import Kind, Record, check_id, decode, encode, is_id
from headwater.auth.errors import AlreadyExists, NotFound
from headwater.kv import ABSENT, PredicateFailed


class Entities(Generic[Record]):
    """All of one kind."""

    def __init__(self, realm: Realm, links: Links, kind: Kind, type_: type[Record]) -> None:
        self._realm = realm
        self._links = links
        self._kind: Kind = kind
        self._below = f"{kind}/".encode()
        self._decoder: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(type_)

    async def find(self, id: str) -> Record | None:  # noqa: A002  (it is what everybody calls it)
        """The one of that id, or None. One trip."""
        if not is_id(id):
            return None
        found = await self._realm.store.get(PARTITION, self._key(id))
        return None if found is None else self._decode(id, found.value)

    async def get(self, id: str) -> Record:  # noqa: A002
        """The one of that id; else `NotFound`."""
        found = await self.find(id)
        if found is None:
            raise NotFound(f"there is no {self._kind} {id[:300]!r}")
        return found

    async def get_many(self, ids: Sequence[str]) -> list[Record | None]:
        """What `find` answers for each of *ids*, which are ids indeed. One trip, none for none."""
        if not ids:
            return []
        found = await self._realm.store.get_many(PARTITION, [self._key(id_) for id_ in ids])
        return [None if one is None else self._decode(id_, one.value) for id_, one in zip(ids, found, strict=True)]

    async def list(self, window: Window = ALL) -> Page[Record]:
        """A page of them, by id. One trip."""
        found: list[tuple[str, Record]] = []
        async for entries in names(self._realm.store, self._below, window):
            found += [(name, self._decode(name, value)) for name, value in entries]
            if len(found) > window.amount:
                break
        return page(found, window.amount)

    async def add(self, record: Record) -> Record:
        """Keep *record*, if there is none of that id; else `AlreadyExists`."""
        check_id(self._kind, record.id)
        with self._realm.change():
            try:
                await self._realm.store.set_if(PARTITION, self._key(record.id), encode(record), ABSENT)
            except PredicateFailed as error:
                raise AlreadyExists(f"there is a {self._kind} {record.id!r} already") from error
        return record

    async def replace(self, record: Record) -> Record:
        """Keep *record* in place of the one of that id and incarnation; else `NotFound`."""
        found = await self._realm.store.get(PARTITION, self._key(record.id)) if is_id(record.id) else None
        if found is None or self._decode(record.id, found.value).incarnation != record.incarnation:
            raise NotFound(f"there is no {self._kind} {record.id[:300]!r}")
        with self._realm.change():
            try:
                await self._realm.store.set_if(PARTITION, self._key(record.id), encode(record), found.predicate)
            except PredicateFailed as error:
                raise AlreadyExists(f"somebody else changed {self._kind} {record.id!r} just now: look again") from error
        return record

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete the one of that id, and first of all what is kept beside it; else `NotFound`.

        A crash in between leaves it with less, and deleting it again goes on. A recreation that races with a deletion
        may be taken for what is to be deleted.
        """
        record = await self.get(id)
        with self._realm.change():
            await self._links.prune(record)
            await self._realm.store.delete(PARTITION, self._key(id))

    def new_incarnation(self) -> bytes:
        return self._realm.outside.random(8)

    def _key(self, id_: str) -> bytes:
        return self._below + id_.encode()

    def _decode(self, id_: str, value: bytes) -> Record:
        return decode(self._decoder, f"{self._kind} {id_!r}", value)
