"""Garbage collection on a server, step by step: what executors do not find in the storage, it tells."""

from __future__ import annotations

import asyncio

import msgspec
import pyarrow as pa

from headwater.garbage.plan import Plan, Swept
from headwater.sdk.remote import answers
from headwater.sdk.remote.connection import Request
from headwater.sdk.remote.limits import LONGEST_POLL, POLL
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.urls import segment
from headwater.sdk.wire.errors import Error, error_of
from headwater.sdk.wire.replies import Begun


class Garbage:
    def __init__(self, place: Place) -> None:
        self._server = place.server
        self._runs = f"{place.path}/gc/runs"

    async def begin(self, age: float) -> Begun:
        return await self._server.tell(Begun, "POST", self._runs, body={"age": age})

    async def references(self, run: str) -> pa.Array:
        """What is referred to by staging and by the changes of retained commits, which are written down."""
        return await self._names(run, "references")

    async def notes(self, run: str) -> pa.Array:
        """What was copied. To be asked for after all else was read."""
        return await self._names(run, "notes")

    async def finish(self, run: str, *, candidates: int, segments: int, objects: int, size: int) -> Plan:
        body = {"candidates": candidates, "segments": segments, "objects": objects, "bytes": size}
        return await self._server.tell(Plan, "POST", self._url(run, "plan"), body=body)

    async def sweep(self, run: str, *, rate: float | None, dry_run: bool) -> Swept:
        """The server works on it as a task, which is looked at now and then. Cancelled, it is stopped."""
        url = self._url(run, "sweep")
        body = {"rate": rate, "dry_run": dry_run}
        task = {"id": (await self._server.tell(answers.Named, "POST", url, body=body)).id}
        wait = POLL
        try:
            while not (status := await self._server.ask(_Status, url, task)).completed:
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_POLL)
        except asyncio.CancelledError:
            await self._server.tell(type(None), "DELETE", url, task)
            raise
        if status.result is None:
            raise error_of(status.error or answers.NO_REASON, 500)
        return status.result

    async def _names(self, run: str, which: str) -> pa.Array:
        answer = await self._server.send(Request("POST", self._url(run, which), again=True))
        column = pa.ipc.open_stream(answer.content).read_all().column("address").combine_chunks()
        return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)

    def _url(self, run: str, step: str) -> str:
        return f"{self._runs}/{segment(run)}/{step}"


class _Status(msgspec.Struct, frozen=True):
    completed: bool
    result: Swept | None = None
    error: Error | None = None
