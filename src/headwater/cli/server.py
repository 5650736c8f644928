"""The REST API of a server, for commands about what only servers have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

import click
import msgspec

from headwater.cli.session import Session
from headwater.cli.settings import BadSettings
from headwater.sdk.remote.connection import NOTHING, Connection, Request
from headwater.sdk.remote.limits import SILENCE
from headwater.sdk.sync.running import Runner

Answer = TypeVar("Answer")

PAGE = 100


class _Pagination(msgspec.Struct):
    has_more: bool
    next_offset: str


class _Page(msgspec.Struct):
    pagination: _Pagination
    results: list[msgspec.Raw]


class Server:
    """The server of the settings, asked as whoever their credentials belong to. Closed when the command ends."""

    def __init__(self, session: Session) -> None:
        endpoint = session.settings.endpoint
        if endpoint is None:
            raise BadSettings("this is for a server: hw --endpoint URL …, or HEADWATER_ENDPOINT in the environment")
        self._runner = Runner()
        self._connection = Connection(endpoint, *session.credentials, silence=SILENCE, ca=None)
        click.get_current_context().find_root().call_on_close(self._close)

    def ask(self, kind: type[Answer], path: str, query: Mapping[str, object] = NOTHING) -> Answer:
        """What the server answers to a read, as *kind*."""
        return self._runner.run_on_loop(self._connection.ask(kind, path, query))

    def results(self, kind: type[Answer], path: str, query: Mapping[str, object] = NOTHING) -> Iterator[Answer]:
        """All that a listing has, fetched a page at a time."""
        after = ""
        while True:
            page = self.ask(_Page, path, {**query, "after": after, "amount": PAGE})
            yield from (msgspec.json.decode(each, type=kind) for each in page.results)
            after = page.pagination.next_offset
            if not page.pagination.has_more:
                return

    def read(self, path: str) -> bytes:
        """The bytes of an answer."""
        answer = self._runner.run_on_loop(self._connection.send(Request("GET", path, again=True)))
        return answer.content

    def _close(self) -> None:
        self._runner.run_on_loop(self._connection.aclose())
        self._runner.close()
