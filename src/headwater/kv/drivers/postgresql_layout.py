"""What the PostgreSQL driver keeps in a database: a schema with one table and two functions, made by who opens first.

Every name ends in the version of what it names, and none is ever replaced in place: a function that must change gets
the next number, and a program that still calls the old one goes on beside those that call the new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headwater.kv.errors import CannotOpen

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")

_LOCK = 0x6865616477617465
"""The advisory lock under which the layout is made ("headwate"), so that of many who open at once one makes it."""

_MAKE: Mapping[str, str] = {
    "SCHEMA": "create schema SCHEMA",
    "kv_1": """
        create table SCHEMA.kv_1 (
            partition bytea not null,
            key bytea not null,
            version bigint not null generated always as identity,
            value bytea not null,
            primary key (partition, key)
        )""",
    # Without the setting, a planner that thinks little of a partition reads all of it and sorts, for every page.
    "scan_1": """
        create function SCHEMA.scan_1(wanted bytea, start bytea, page integer)
        returns table (key bytea, value bytea) language sql stable set enable_sort = off as $$
            select entry.key, entry.value from SCHEMA.kv_1 as entry
            where entry.partition = wanted and entry.key >= start order by entry.key limit page
        $$""",
    "run_1": """
        create function SCHEMA.run_1(
            kinds text[], partitions bytea[], keys bytea[], versions bigint[], contents bytea[]
        ) returns bigint language plpgsql as $$
        declare
            step record;
        begin
            for step in
                select * from unnest(kinds, partitions, keys, versions, contents)
                with ordinality as step(kind, partition, key, version, value, number)
            loop
                case step.kind
                    when 'set' then
                        insert into SCHEMA.kv_1 (partition, key, value)
                        values (step.partition, step.key, step.value)
                        on conflict (partition, key) do update set version = default, value = excluded.value;
                    when 'create' then
                        insert into SCHEMA.kv_1 (partition, key, value)
                        values (step.partition, step.key, step.value) on conflict do nothing;
                    when 'replace' then
                        update SCHEMA.kv_1 as entry set version = default, value = step.value
                        where entry.partition = step.partition and entry.key = step.key
                        and entry.version = step.version;
                    when 'delete' then
                        delete from SCHEMA.kv_1 as entry
                        where entry.partition = step.partition and entry.key = step.key;
                end case;
                if not found and step.kind in ('create', 'replace') then
                    return step.number;
                end if;
            end loop;
            return null;
        end
        $$""",
}
"""The name of each part, and the statements that make it."""

_THERE = """
    select nspname from pg_namespace where nspname = 'SCHEMA'
    union all
    select relname from pg_class join pg_namespace as space on space.oid = relnamespace where nspname = 'SCHEMA'
    union all
    select proname from pg_proc join pg_namespace as space on space.oid = pronamespace where nspname = 'SCHEMA'
"""
"""The names of what is there. Not by `to_regclass` and its like: they answer from a cache that waiting for an advisory
lock does not refresh, so that the second of two openers would miss what the first has made."""


class Statements:
    """What the driver sends, for one schema. Each is one round trip and a transaction of its own."""

    def __init__(self, schema: str) -> None:
        def here(sql: str) -> str:
            return _in_schema(schema, sql)

        self.get = here("select version, value from SCHEMA.kv_1 where partition = $1 and key = $2")
        self.set = here(
            "insert into SCHEMA.kv_1 (partition, key, value) values ($1, $2, $3) "
            "on conflict (partition, key) do update set version = default, value = excluded.value"
        )
        self.create = here(
            "insert into SCHEMA.kv_1 (partition, key, value) values ($1, $2, $3) "
            "on conflict do nothing returning version"
        )
        self.replace = here(
            "update SCHEMA.kv_1 set version = default, value = $3 "
            "where partition = $1 and key = $2 and version = $4 returning version"
        )
        self.delete = here("delete from SCHEMA.kv_1 where partition = $1 and key = $2")
        self.scan = here("select key, value from SCHEMA.scan_1($1, $2, $3)")
        self.get_many = here(
            "select key, version, value from SCHEMA.kv_1 where partition = $1 and key = any($2::bytea[])"
        )
        self.set_many = here(
            "insert into SCHEMA.kv_1 (partition, key, value) "
            "select $1, entry.key, entry.value from unnest($2::bytea[], $3::bytea[]) as entry(key, value) "
            "on conflict (partition, key) do update set version = default, value = excluded.value"
        )
        self.delete_many = here("delete from SCHEMA.kv_1 where partition = $1 and key = any($2::bytea[])")
        self.run = here("select SCHEMA.run_1($1, $2, $3, $4, $5)")


def _in_schema(schema: str, sql: str) -> str:
    return sql.replace("SCHEMA", schema)


def checked_schema(name: str) -> str:
    """*name*, fit to stand in SQL without quotes."""
    if not _SCHEMA.fullmatch(name):
        raise CannotOpen(
            f"schema={name[:80]!r}: a schema's name has up to 63 lower-case letters, digits and '_', "
            "and does not start with a digit"
        )
    return name


async def make_layout(connection: Any, schema: str) -> None:
    """Make what is missing. One round trip, and no right beyond reading the catalogue, when nothing is.

    Several who find something missing take turns, and all but the first find it made.
    """
    if await _missing(connection, schema):
        async with connection.transaction(isolation="read_committed"):
            await connection.execute(f"select pg_advisory_xact_lock({_LOCK})")
            for statements in await _missing(connection, schema):
                await connection.execute(statements)


async def _missing(connection: Any, schema: str) -> list[str]:
    """The statements that make the parts that are not there."""
    there = {name for (name,) in await connection.fetch(_in_schema(schema, _THERE))}
    return [
        _in_schema(schema, statements) for name, statements in _MAKE.items() if _in_schema(schema, name) not in there
    ]
