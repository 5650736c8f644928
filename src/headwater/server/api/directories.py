"""Directories and patterns: what is in one, all below one, and what matches."""

from __future__ import annotations

import msgspec

from headwater.engine.paths import path_of
from headwater.files import directories, globbing
from headwater.index import Entry
from headwater.sdk.results import entry_of, walked_of
from headwater.sdk.wire.replies import Child
from headwater.server.api.answers import Page, page_of, size_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, needs
from headwater.server.api.streaming import lines
from headwater.server.http import Response
from headwater.server.limits import DEFAULT_PAGE

group = Group("directories")


class DirectoryQuery(msgspec.Struct, frozen=True):
    """Which page of which directory; with *totals*, directories come with the size and number of the files below."""

    path: str = ""
    totals: bool = False
    after: str = ""
    amount: int = DEFAULT_PAGE


class WalkQuery(msgspec.Struct, frozen=True):
    """From which directory on."""

    path: str = ""


class GlobQuery(msgspec.Struct, frozen=True):
    """Which files: `*`, `?` and `[…]` within a name, `**` for any directories."""

    pattern: str


@group.operation(
    "GET", "/repositories/{repository}/refs/{ref}/directory", "listDirectory", needs("fs:ListObjects", REPOSITORY)
)
async def list_directory(call: Call, query: DirectoryQuery) -> Page[Child]:
    """What is in a directory: files and directories"""
    repository = await call.repository()
    size = size_of(query.amount)
    found = await directories.list_dir(
        repository, call["ref"], query.path, totals=query.totals, after=query.after, amount=size + 1
    )
    return page_of(found, size, _child, _offset)


@group.operation("GET", "/repositories/{repository}/refs/{ref}/walk", "walk", needs("fs:ListObjects", REPOSITORY))
async def walk(call: Call, query: WalkQuery) -> Response:
    """A directory and all below it, each before those in it: one a line"""
    return await lines(directories.walk(await call.repository(), call["ref"], query.path), walked_of)


@group.operation("GET", "/repositories/{repository}/refs/{ref}/glob", "glob", needs("fs:ListObjects", REPOSITORY))
async def glob(call: Call, query: GlobQuery) -> Response:
    """The files whose paths match a pattern: one a line"""
    return await lines(globbing.glob(await call.repository(), call["ref"], query.pattern), entry_of)


def _child(found: directories.Child) -> Child:
    if isinstance(found, Entry):
        return Child(path_of(found.key), entry_of(found))
    return Child(found.path, size=found.size, count=found.count)


def _offset(found: directories.Child) -> str:
    return path_of(found.key) if isinstance(found, Entry) else f"{found.path}/"
