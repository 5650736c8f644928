"""Files that grow, directories, and commits in progress, on a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from headwater.blob import Body
from headwater.files.append import Receipt
from headwater.files.directories import Directory
from headwater.files.in_progress import InProgress
from headwater.outside import real_outside
from headwater.sdk.limits import LOG_PAGE, PAGE
from headwater.sdk.ports import Found
from headwater.sdk.remote import answers
from headwater.sdk.remote.connection import Request
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.streams import lines
from headwater.sdk.remote.urls import segment
from headwater.sdk.results import Child, Commit, Entry, Walked
from headwater.sdk.wire import replies
from headwater.sdk.wire.objects import DESCRIPTION, described
from headwater.staging.journal import Stamps


class Files:
    """An append carries an id from here, so that one which is sent again counts once."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._server = place.server
        self._stamps = Stamps(real_outside())
        self._open = f"{place.path}/commits_in_progress"

    def new_append_id(self) -> str:
        return self._stamps.take()

    async def append(
        self,
        branch: str,
        path: str,
        body: Body,
        *,
        id: str | None,  # noqa: A002  (it is one)
        again: bool,
        content_type: str | None,
        metadata: Mapping[str, str],
    ) -> Receipt:
        query = {"path": path, "id": id, "again": again}
        if id is None and not again:
            query["id"] = self.new_append_id()
        request = Request(
            "POST",
            f"{self._place.branch(branch)}/objects/append",
            query,
            {DESCRIPTION: described(content_type, metadata)},
            body,
            again=True,
            repeated={**query, "again": True},
        )
        return await self._server.upload(Receipt, request)

    async def pack(self, branch: str, path: str, message: str) -> Commit:
        url = f"{self._place.branch(branch)}/objects/pack"
        return answers.commit_of(
            await self._server.tell(answers.Commit, "POST", url, {"path": path}, body={"message": message})
        )

    async def read_file(self, path: str, since: str | None, until: str) -> AsyncIterator[bytes]:
        url = f"{self._place.ref(until)}/objects/added"
        async with self._server.stream(url, {"path": path, "since": since}) as answer:
            async for chunk in answer:
                yield chunk

    async def list_dir(self, ref: str, path: str, after: str, *, totals: bool) -> Found[Child]:
        query = {"path": path, "totals": totals, "after": after, "amount": PAGE}
        page = await self._server.ask(answers.Page[replies.Child], f"{self._place.ref(ref)}/directory", query)
        return [child.entry or Directory(child.path, child.size, child.count) for child in page.results], page.after

    def walk(self, ref: str, path: str) -> AsyncIterator[Walked]:
        return lines(self._server, Walked, f"{self._place.ref(ref)}/walk", {"path": path})

    def glob(self, ref: str, pattern: str) -> AsyncIterator[Entry]:
        return lines(self._server, Entry, f"{self._place.ref(ref)}/glob", {"pattern": pattern})

    async def history(self, ref: str, path: str, after: str) -> Found[Commit]:
        query = {"path": path, "after": after, "amount": LOG_PAGE}
        url = f"{self._place.ref(ref)}/history"
        return answers.commits_of(await self._server.ask(answers.Page[answers.Commit], url, query))

    async def start(self, branch: str, parent: str | None) -> InProgress:
        body = {"branch": branch, "parent": parent}
        return await self._server.tell(InProgress, "POST", self._open, body=body)

    async def find(self, id: str) -> InProgress:  # noqa: A002  (it is one)
        return await self._server.ask(InProgress, f"{self._open}/{segment(id)}")

    async def list_open(self) -> Sequence[InProgress]:
        return await self._server.ask(list[InProgress], self._open)

    async def finish(self, id: str, message: str, *, metadata: Mapping[str, str]) -> Commit:  # noqa: A002
        body = {"message": message, "metadata": metadata}
        url = f"{self._open}/{segment(id)}/finish"
        return answers.commit_of(await self._server.tell(answers.Commit, "POST", url, body=body))

    async def drop(self, id: str) -> None:  # noqa: A002  (it is one)
        await self._server.tell(type(None), "DELETE", f"{self._open}/{segment(id)}")
