"""Pages of what auxiliary keys lead to: records, and only those that both ends of a key are about."""

from __future__ import annotations

from headwater.auth.directory.entities import Entities
from headwater.auth.directory.links import Links
from headwater.auth.directory.listing import Page, Window, page
from headwater.auth.directory.records import Group, Kind, Named, Record, User


async def targets_tied(
    links: Links, owner: User | Group, among: Entities[Record], kind: Kind, window: Window
) -> Page[Record]:
    """A page of what *owner* has of one kind. 1 scan and 1 `get_many`."""
    found: list[tuple[str, Record]] = []
    async for entries in links.targets_of_kind(owner, kind, window):
        records = await among.get_many([name for name, _ in entries])
        for (name, mark), record in zip(entries, records, strict=True):
            if record is not None and mark == owner.incarnation + record.incarnation:
                found.append((name, record))
        if len(found) > window.amount:
            break
    return page(found, window.amount)


async def owners_tied(links: Links, target: Named, among: Entities[User], kind: Kind, window: Window) -> Page[User]:
    """A page of who has *target*. 1 scan and 2 `get_many`, as what finds them may say too much."""
    found: list[tuple[str, User]] = []
    async for entries in links.owners_of_kind(target, kind, window):
        records = await among.get_many([name for name, _ in entries])
        live = [record for record in records if record is not None]
        tied = await links.between([(record, target) for record in live])
        found += [(record.id, record) for record, is_tied in zip(live, tied, strict=True) if is_tied]
        if len(found) > window.amount:
            break
    return page(found, window.amount)
