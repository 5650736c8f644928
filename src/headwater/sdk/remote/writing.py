"""What is staged on a branch, on a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.blob import Body
from headwater.engine.conditional import Condition, IfAbsent, IfMatch
from headwater.engine.errors import PreconditionFailed
from headwater.sdk.remote import answers
from headwater.sdk.remote.addresses import address_told
from headwater.sdk.remote.connection import Request
from headwater.sdk.remote.limits import LISTED_DELETES
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.urls import Query
from headwater.sdk.results import Entry
from headwater.sdk.wire.errors import Error, error_of
from headwater.sdk.wire.objects import DESCRIPTION, described


class Writing:
    """A write on no condition means the same however often it is done: it is sent again if its answer did not come."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._server = place.server

    async def put(
        self,
        branch: str,
        path: str,
        body: Body,
        *,
        content_type: str | None,
        metadata: Mapping[str, str],
        condition: Condition | None = None,
    ) -> Entry:
        headers = {DESCRIPTION: described(content_type, metadata)}
        match condition:
            case IfAbsent():
                headers["if-none-match"] = "*"
            case IfMatch(checksum) if not checksum.isascii() or not checksum.isprintable():
                raise PreconditionFailed(f"nothing has the checksum {checksum[:100]!r}")
            case IfMatch(checksum):
                headers["if-match"] = f'"{checksum}"'
        query = {"path": path, "details": True}
        url = f"{self._place.branch(branch)}/objects"
        request = Request("POST", url, query, headers, body, again=condition is None)
        return answers.entry_of(await self._server.upload(answers.Stats, request))

    async def link(
        self,
        branch: str,
        path: str,
        address: str,
        *,
        size: int,
        checksum: str | None,
        content_type: str | None,
        metadata: Mapping[str, str],
    ) -> Entry:
        body = {
            "physical_address": address_told(address),
            "size_bytes": size,
            "checksum": checksum,
            "content_type": content_type,
            "metadata": metadata,
        }
        return await self._staged(f"{self._place.branch(branch)}/objects/link", {"path": path}, body)

    async def copy(self, branch: str, path: str, source_ref: str, source: str) -> Entry:
        body = {"src_path": source, "src_ref": source_ref}
        return await self._staged(f"{self._place.branch(branch)}/objects/copy", {"dest_path": path}, body)

    async def delete(self, branch: str, paths: Sequence[str]) -> None:
        url = f"{self._place.branch(branch)}/objects/delete"
        for start in range(0, len(paths), LISTED_DELETES):
            body = {"paths": list(paths[start : start + LISTED_DELETES])}
            refused = (await self._server.tell(answers.NotDoneList, "POST", url, body=body, again=True)).errors
            if refused:
                raise error_of(Error(refused[0].message), refused[0].status_code)

    async def reset(self, branch: str) -> None:
        await self._reset(branch, "reset", "")

    async def reset_path(self, branch: str, path: str) -> None:
        await self._reset(branch, "object", path)

    async def reset_prefix(self, branch: str, prefix: str) -> None:
        await self._reset(branch, "common_prefix", prefix)

    async def compact(self, branch: str) -> None:
        await self._server.tell(type(None), "POST", f"{self._place.branch(branch)}/compact", again=True)

    async def _staged(self, url: str, query: Query, body: object) -> Entry:
        told = await self._server.tell(answers.Stats, "POST", url, {**query, "details": True}, body=body, again=True)
        return answers.entry_of(told)

    async def _reset(self, branch: str, kind: str, path: str) -> None:
        body = {"type": kind, "path": path}
        await self._server.tell(type(None), "PUT", self._place.branch(branch), body=body)
