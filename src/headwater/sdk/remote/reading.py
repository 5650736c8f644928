"""What can be read at any reference, on a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pyarrow as pa

from headwater.blob import RangeNotSatisfiable
from headwater.sdk.limits import LOG_PAGE, PAGE
from headwater.sdk.ports import Found
from headwater.sdk.remote import answers
from headwater.sdk.remote.connection import Request
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.streams import lines
from headwater.sdk.remote.urls import Query, segment
from headwater.sdk.results import Change, Commit, CommonPrefix, Entry, time_of
from headwater.sdk.wire.objects import Opened
from headwater.sdk.wire.replies import Ancestry, IndexOf


class Content:
    """A file as it was when it was opened: the server knows it by a handle, whatever becomes of its path."""

    def __init__(self, place: Place, opened: Opened) -> None:
        self.entry = opened.entry
        self._place = place
        self._handle = opened.handle

    async def read(self, start: int, end: int) -> bytes:
        query = {"path": self.entry.path, "handle": self._handle}
        headers = {"range": f"bytes={start}-{end - 1}"}
        request = Request("GET", f"{self._place.path}/contents", query, headers, again=True)
        return (await self._place.server.send(request)).content


class Reading:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._server = place.server

    async def stat(self, ref: str, path: str) -> Entry:
        query = {"path": path, "details": True}
        return answers.entry_of(await self._server.ask(answers.Stats, f"{self._place.ref(ref)}/objects/stat", query))

    async def get(self, ref: str, path: str, start: int, end: int | None) -> bytes:
        if start < 0 or (end is not None and end <= start):  # what no header can ask for
            return await self._nothing_of(ref, path, start, end)
        headers = {} if (start, end) == (0, None) else {"range": f"bytes={start}-{'' if end is None else end - 1}"}
        url = f"{self._place.ref(ref)}/objects"
        try:
            answer = await self._server.send(Request("GET", url, {"path": path}, headers, again=True))
        except RangeNotSatisfiable:
            return await self._nothing_of(ref, path, start, end)
        return answer.content

    async def open(self, ref: str, path: str) -> Content:
        url = f"{self._place.ref(ref)}/objects/open"
        return Content(self._place, await self._server.ask(Opened, url, {"path": path}))

    async def list(self, ref: str, prefix: str, delimiter: str, after: str) -> Found[Entry | CommonPrefix]:
        query = {"prefix": prefix, "delimiter": delimiter, "after": after, "amount": PAGE, "details": True}
        url = f"{self._place.ref(ref)}/objects/ls"
        page = await self._server.ask(answers.Page[answers.Stats], url, query)
        return [answers.listed_of(each) for each in page.results], page.after

    async def presigned(self, ref: str, prefix: str, after: str) -> Found[tuple[str, int, str]]:
        """Paths, sizes, and URLs where the bytes are for a while; of storage that has none, its plain addresses."""
        query = {"prefix": prefix, "after": after, "amount": PAGE, "user_metadata": False, "presign": True}
        page = await self._server.ask(answers.Page[answers.Stats], f"{self._place.ref(ref)}/objects/ls", query)
        return [(each.path, each.size_bytes, each.physical_address) for each in page.results], page.after

    async def as_arrow(self, ref: str, prefix: str) -> pa.Table:
        url = f"{self._place.ref(ref)}/objects/arrow"
        answer = await self._server.send(Request("GET", url, {"prefix": prefix}, again=True))
        return pa.ipc.open_stream(answer.content).read_all()

    async def commit(self, ref: str) -> Commit:
        url = f"{self._place.path}/commits/{segment(ref)}"
        return answers.commit_of(await self._server.ask(answers.Commit, url))

    async def log(
        self,
        ref: str,
        after: str,
        *,
        paths: Sequence[str],
        first_parents: bool,
        since: int | None,
        until: int | None,
        stop_at: str | None,
    ) -> Found[Commit]:
        query: Query = {
            "after": after,
            "amount": LOG_PAGE,
            "objects": [path for path in paths if not path.endswith("/")],
            "prefixes": [path for path in paths if path.endswith("/")],
            "first_parent": first_parents,
            "since": None if since is None else time_of(since).isoformat(),
            "until": None if until is None else time_of(until).isoformat(),
            "stop_at": stop_at,
        }
        url = f"{self._place.ref(ref)}/commits"
        return answers.commits_of(await self._server.ask(answers.Page[answers.Commit], url, query))

    def all_commits(self) -> AsyncIterator[answers.Commit]:
        """Every commit that there is a record of, in no order."""
        return lines(self._server, answers.Commit, f"{self._place.path}/commits")

    async def index(self, ref: str) -> IndexOf:
        """What the commit of *ref* is made of, for who reads the storage by themselves."""
        return await self._server.ask(IndexOf, f"{self._place.ref(ref)}/index")

    async def is_ancestor(self, older: str, newer: str) -> bool:
        url = f"{self._place.ref(newer)}/ancestors/{segment(older)}"
        return (await self._server.ask(Ancestry, url)).first_parents

    async def between(self, older: str, newer: str) -> AsyncIterator[Commit]:
        url = f"{self._place.ref(newer)}/commits/after/{segment(older)}"
        async for told in lines(self._server, answers.Commit, url):
            yield answers.commit_of(told)

    async def diff(
        self, left: str, right: str, prefix: str, delimiter: str, after: str, *, three_dot: bool
    ) -> Found[Change | CommonPrefix]:
        query = {
            "prefix": prefix,
            "delimiter": delimiter,
            "after": after,
            "amount": PAGE,
            "type": "three_dot" if three_dot else "two_dot",
            "details": True,
        }
        url = f"{self._place.ref(left)}/diff/{segment(right)}"
        return answers.changes_of(await self._server.ask(answers.Page[answers.Diff], url, query))

    async def uncommitted(self, branch: str, prefix: str, delimiter: str, after: str) -> Found[Change | CommonPrefix]:
        query = {"prefix": prefix, "delimiter": delimiter, "after": after, "amount": PAGE, "details": True}
        url = f"{self._place.branch(branch)}/diff"
        return answers.changes_of(await self._server.ask(answers.Page[answers.Diff], url, query))

    async def _nothing_of(self, ref: str, path: str, start: int, end: int | None) -> bytes:
        """No bytes, if there is such a place in the object."""
        size = (await self.stat(ref, path)).size
        stop = size if end is None else min(end, size)
        if start < 0 or start > stop or (start == size and size > 0):
            raise RangeNotSatisfiable(f"{path!r} has {size} bytes: there are none from {start} to {end}")
        return b""
