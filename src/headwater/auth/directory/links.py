"""Who is in which group, and who has which policy: auxiliary keys, one for each way to ask.

`of/user/ann\\0group/Admins` says what ann has, and is what counts; `to/group/Admins\\0user/ann` finds it from the other
end. The second is written before the first and deleted after it, so it may say too much and never too little. Both
hold the incarnations of the two ends, and a key between others than these says nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import islice

from headwater.auth.directory.listing import ALL, Window, names
from headwater.auth.directory.realm import PARTITION, Realm
from headwater.auth.directory.records import Group, Kind, Named, User, kind_of
from headwater.auth.errors import BadRequest, NotFound
from headwater.auth.limits import MAX_ATTACHED
from headwater.kv import Delete, Set

BULK = 1000


class Links:
    """Owners (users, groups) have targets (groups, policies)."""

    def __init__(self, realm: Realm) -> None:
        self._realm = realm

    async def tie(self, owner: User | Group, target: Named) -> None:
        """Let *owner* have *target*. Content if it has. 1 scan and 1 pipeline."""
        mark = owner.incarnation + target.incarnation
        taken = 0
        async for found in names(self._realm.store, _below("of", owner, kind_of(target)), ALL):
            taken += sum(value[:8] == owner.incarnation and name != target.id for name, value in found)
        if taken >= MAX_ATTACHED:
            raise BadRequest(f"{kind_of(owner)} {owner.id!r} has {taken} of kind {kind_of(target)}, as many as it may")
        with self._realm.change():
            await self._realm.store.pipeline(
                [Set(PARTITION, _to(owner, target), mark), Set(PARTITION, _of(owner, target), mark)]
            )

    async def untie(self, owner: User | Group, target: Named) -> None:
        """Let *owner* have *target* no more; `NotFound` if it had not."""
        if not (await self.between([(owner, target)]))[0]:
            raise NotFound(f"{kind_of(owner)} {owner.id!r} does not have {kind_of(target)} {target.id!r}")
        with self._realm.change():
            await self._realm.store.pipeline(
                [Delete(PARTITION, _of(owner, target)), Delete(PARTITION, _to(owner, target))]
            )

    async def between(self, pairs: Sequence[tuple[User | Group, Named]]) -> list[bool]:
        """Whether each owner has its target. One trip."""
        if not pairs:
            return []
        found = await self._realm.store.get_many(PARTITION, [_of(owner, target) for owner, target in pairs])
        return [
            one is not None and one.value == owner.incarnation + target.incarnation
            for one, (owner, target) in zip(found, pairs, strict=True)
        ]

    def targets_of_kind(
        self, owner: User | Group, kind: Kind, window: Window
    ) -> AsyncIterator[list[tuple[str, bytes]]]:
        """Ids of what *owner* may have, in pages, with the incarnations that each is about."""
        return names(self._realm.store, _below("of", owner, kind), window)

    def owners_of_kind(self, target: Named, kind: Kind, window: Window) -> AsyncIterator[list[tuple[str, bytes]]]:
        """Ids of who may have *target*, in pages, with the incarnations that each is about."""
        return names(self._realm.store, _below("to", target, kind), window)

    async def prune(self, record: Named) -> None:
        """Delete every key that leads to *record*, then every one that leads from it, on both ends.

        In this order: a group that is half pruned is one that its members are no longer in, not one that some of its
        policies are gone from, which may be those that deny. The near end of each key goes last: a
        second try finds the far one by it.
        """
        kind = kind_of(record)
        for way, other_way in (("to", "of"), ("of", "to")):
            async for entries in names(self._realm.store, _below(way, record), ALL):
                for some in _bulks(name for name, _ in entries):
                    far = [f"{other_way}/{name}\0{kind}/{record.id}".encode() for name in some]
                    near = [f"{way}/{kind}/{record.id}\0{name}".encode() for name in some]
                    await self._realm.store.delete_many(PARTITION, far)
                    await self._realm.store.delete_many(PARTITION, near)


def _of(owner: User | Group, target: Named) -> bytes:
    return _below("of", owner, kind_of(target)) + target.id.encode()


def _to(owner: User | Group, target: Named) -> bytes:
    return _below("to", target, kind_of(owner)) + owner.id.encode()


def _below(way: str, record: Named, kind: Kind | None = None) -> bytes:
    return f"{way}/{kind_of(record)}/{record.id}\0{f'{kind}/' if kind else ''}".encode()


def _bulks(found: Iterable[str]) -> Iterable[list[str]]:
    left = iter(found)
    while some := list(islice(left, BULK)):
        yield some
