"""What moves a branch, on a server. None of it is sent again unless it certainly was not done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa

from headwater.engine.importing import as_table
from headwater.engine.merge import Appends
from headwater.errors import HeadwaterError
from headwater.sdk.ports import Behaviour, Strategy
from headwater.sdk.remote import answers
from headwater.sdk.remote.addresses import address_told
from headwater.sdk.remote.connection import NOTHING, Request
from headwater.sdk.remote.limits import LONGEST_POLL, POLL
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.streams import lines
from headwater.sdk.remote.urls import segment
from headwater.sdk.results import Change, Commit, IngestStatus, Listed
from headwater.sdk.wire.errors import error_of
from headwater.sdk.wire.objects import DESCRIPTION, described


class Committing:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._server = place.server

    async def commit(
        self, branch: str, message: str, *, metadata: Mapping[str, str], time: int | None, allow_empty: bool
    ) -> Commit:
        body = {"message": message, "metadata": metadata, "creation_time_ms": time, "allow_empty": allow_empty}
        return await self._made(f"{self._place.branch(branch)}/commits", body)

    async def merge(
        self,
        source: str,
        branch: str,
        message: str,
        *,
        strategy: Strategy,
        squash: bool,
        prefixes: Mapping[str, Behaviour],
        appends: Appends,
        metadata: Mapping[str, str],
    ) -> Commit:
        body = {
            "message": message,
            "metadata": metadata,
            "strategy": "" if strategy == "report" else strategy,
            "squash_merge": squash,
            "prefixes": prefixes,
            "merge_appends": appends,
        }
        url = f"{self._place.ref(source)}/merge/{segment(branch)}"
        return answers.commit_of((await self._server.tell(answers.Merged, "POST", url, body=body)).commit)

    async def revert(
        self, branch: str, ref: str, message: str, *, parent: int | None, metadata: Mapping[str, str]
    ) -> Commit:
        body = {"ref": ref, "message": message, "parent": parent, "metadata": metadata}
        return await self._made(f"{self._place.branch(branch)}/reverts", body)

    async def cherry_pick(
        self, branch: str, ref: str, message: str | None, *, parent: int | None, metadata: Mapping[str, str]
    ) -> Commit:
        overrides = {"message": message or None, "metadata": metadata}
        body = {"ref": ref, "parent_number": parent, "commit_overrides": overrides}
        return await self._made(f"{self._place.branch(branch)}/cherry-pick", body)

    async def hard_reset(self, branch: str, ref: str) -> Commit:
        """The commit is looked up first, so that what is answered is where the branch was put."""
        url = f"{self._place.path}/commits/{segment(ref)}"
        commit = answers.commit_of(await self._server.ask(answers.Commit, url))
        query = {"ref": commit.id, "force": True}
        await self._server.tell(type(None), "PUT", f"{self._place.branch(branch)}/hard_reset", query)
        return commit

    async def import_prefix(
        self, branch: str, source: str, destination: str, message: str, *, metadata: Mapping[str, str]
    ) -> Commit:
        url = f"{self._place.branch(branch)}/import"
        paths = [{"type": "common_prefix", "path": address_told(source), "destination": destination}]
        body = {"paths": paths, "commit": {"message": message, "metadata": metadata}}
        return await self._awaited(url, body)

    async def import_table(self, branch: str, entries: Any, message: str, *, metadata: Mapping[str, str]) -> Commit:
        table = as_table(entries)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        request = Request(
            "POST",
            f"{self._place.branch(branch)}/imports",
            {"message": message},
            {DESCRIPTION: described(None, metadata)},
            sink.getvalue().to_pybytes(),
        )
        return answers.commit_of(await self._server.upload(answers.Commit, request))

    async def ingest(
        self,
        branch: str,
        source: str,
        directory: str,
        message: str,
        *,
        immutable: bool,
        metadata: Mapping[str, str],
        progress: Listed,
    ) -> Commit:
        """The server works on it as a task, which is looked at now and then. Cancelled, it is given up."""
        task = await self.start_ingest(branch, source, directory, message, immutable=immutable, metadata=metadata)
        wait = POLL
        try:
            while not (status := await self.ingest_status(branch, task)).done:
                progress(status.listed)
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_POLL)
        except asyncio.CancelledError:
            with suppress(HeadwaterError):  # it has ended meanwhile
                await self.cancel_ingest(branch, task)
            raise
        progress(status.listed)
        if status.commit is None:
            raise status.error or error_of(answers.NO_REASON, 500)
        return status.commit

    async def start_ingest(
        self, branch: str, source: str, directory: str, message: str, *, immutable: bool, metadata: Mapping[str, str]
    ) -> str:
        body = {
            "source": address_told(source),
            "directory": directory,
            "immutable": immutable,
            "message": message,
            "metadata": metadata,
        }
        return (await self._server.tell(answers.Named, "POST", f"{self._place.branch(branch)}/ingest", body=body)).id

    async def ingest_status(self, branch: str, id: str) -> IngestStatus:  # noqa: A002  (it is one)
        url = f"{self._place.branch(branch)}/ingest/{segment(id)}/status"
        told = await self._server.ask(answers.IngestStatus, url)
        commit = None if told.commit is None else answers.commit_of(told.commit)
        error = None if told.error is None else error_of(told.error, 500)
        return IngestStatus(told.id, told.completed, told.listed, commit, error)

    async def cancel_ingest(self, branch: str, id: str) -> None:  # noqa: A002  (it is one)
        await self._server.tell(type(None), "DELETE", f"{self._place.branch(branch)}/ingest/{segment(id)}")

    def ingest_diff(self, branch: str, source: str, directory: str, *, immutable: bool) -> AsyncIterator[Change]:
        query = {"source": address_told(source), "directory": directory, "immutable": immutable}
        return lines(self._server, Change, f"{self._place.branch(branch)}/ingest", query)

    async def adopt_tree(
        self,
        branch: str,
        tree: str | None,
        base: str,
        message: str,
        *,
        relocated: bool = False,
        metadata: Mapping[str, str] = NOTHING,
    ) -> Commit:
        """Commit *tree*, which was written to the storage and made of the commit *base*. The server looks at it."""
        body = {"tree": tree, "base": base, "message": message, "relocated": relocated, "metadata": metadata}
        return await self._awaited(f"{self._place.branch(branch)}/trees", body)

    async def _awaited(self, url: str, body: object) -> Commit:
        """The commit that a task makes, which is looked at now and then. Cancelled, it is given up."""
        task = {"id": (await self._server.tell(answers.Named, "POST", url, body=body)).id}
        wait = POLL
        try:
            while not (status := await self._server.ask(answers.ImportStatus, url, task)).completed:
                if status.error is not None:
                    raise error_of(status.error, 500)
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_POLL)
        except asyncio.CancelledError:
            await self._server.tell(type(None), "DELETE", url, task)
            raise
        if status.error is not None or status.commit is None:
            raise error_of(status.error or answers.NO_REASON, 500)
        return answers.commit_of(status.commit)

    async def _made(self, url: str, body: object) -> Commit:
        return answers.commit_of(await self._server.tell(answers.Commit, "POST", url, body=body))
