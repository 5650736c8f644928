"""Branches, tags and what was done to them, on a server."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.engine.findings import Report
from headwater.engine.workspaces.ids import workspace_of
from headwater.history import Signature
from headwater.history import Tag as SignedTag
from headwater.outside import real_outside
from headwater.sdk.limits import LOG_PAGE, PAGE
from headwater.sdk.ports import Found
from headwater.sdk.remote import answers
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.urls import segment
from headwater.sdk.results import RefChange, Tag
from headwater.sdk.wire.signatures import CommitSignatures, signature_of, signature_told, told


class Refs:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._server = place.server

    async def check_branch(self, name: str) -> None:
        if workspace_of(name) is None:  # of one, it is told when something is written
            await self._server.ask(answers.Named, self._place.branch(name))

    async def create_branch(self, name: str, source: str) -> None:
        body = {"name": name, "source": source}
        await self._server.tell(str, "POST", f"{self._place.path}/branches", body=body)

    async def delete_branch(self, name: str) -> None:
        await self._server.tell(type(None), "DELETE", self._place.branch(name))

    async def branches(self, prefix: str, after: str) -> Found[str]:
        query = {"prefix": prefix, "after": after, "amount": PAGE}
        page = await self._server.ask(answers.Page[answers.Named], f"{self._place.path}/branches", query)
        return [each.id for each in page.results], page.after

    async def heads(self, prefix: str, after: str) -> Found[tuple[str, str]]:
        """The names of branches, and their commits."""
        query = {"prefix": prefix, "after": after, "amount": PAGE}
        page = await self._server.ask(answers.Page[answers.Head], f"{self._place.path}/branches", query)
        return [(each.id, each.commit_id) for each in page.results], page.after

    async def create_tag(
        self, name: str, source: str, *, message: str, metadata: Mapping[str, str], signing_key: bytes | None
    ) -> Tag:
        body: dict[str, object] = {"id": name, "ref": source, "message": message, "metadata": metadata}
        if signing_key is not None:
            body |= await self._signed(name, source, message, metadata, signing_key)
        made = await self._server.tell(answers.Tag, "POST", f"{self._place.path}/tags", body=body)
        return answers.tag_of(made)

    async def signed_tag(self, name: str) -> SignedTag:
        """Its id is computed here, of what the server says that the tag is: so the signature is of just that."""
        told = await self._server.ask(answers.Tag, self._place.tag(name))
        tag = SignedTag.create(
            told.id,
            told.commit_id,
            message=told.message,
            tagger=told.tagger,
            time=told.creation_time_ms,
            metadata=told.metadata,
        )
        signature = None if told.signature is None else signature_of(told.signature)
        return msgspec.structs.replace(tag, signature=signature)

    async def _signed(
        self, name: str, source: str, message: str, metadata: Mapping[str, str], signing_key: bytes
    ) -> dict[str, object]:
        """What the server is told of a signed tag. It is signed here: the key goes nowhere."""
        target = await self._server.ask(answers.Named, f"{self._place.path}/commits/{segment(source)}")
        tagger = (await self._server.ask(answers.CurrentUser, "/user")).user.id
        now = real_outside().now()
        tag = SignedTag.create(name, target.id, message=message, tagger=tagger, time=now, metadata=metadata)
        return {"ref": target.id, "creation_time_ms": now, "signature": signature_told(tag.signed(signing_key))}

    async def add_signature(self, ref: str, signature: Signature) -> None:
        await self._server.tell(type(None), "POST", self._signatures(ref), body=told(signature))

    async def signatures(self, ref: str) -> tuple[str, list[Signature]]:
        found = await self._server.ask(CommitSignatures, self._signatures(ref))
        return found.id, [signature_of(each) for each in found.signatures]

    def _signatures(self, ref: str) -> str:
        return f"{self._place.path}/commits/{segment(ref)}/signatures"

    async def delete_tag(self, name: str) -> None:
        await self._server.tell(type(None), "DELETE", self._place.tag(name))

    async def tags(self, prefix: str, after: str) -> Found[Tag]:
        query = {"prefix": prefix, "after": after, "amount": PAGE}
        page = await self._server.ask(answers.Page[answers.Tag], f"{self._place.path}/tags", query)
        return [answers.tag_of(each) for each in page.results], page.after

    async def ref_log(self, after: str) -> Found[RefChange]:
        query = {"after": after, "amount": LOG_PAGE}
        page = await self._server.ask(answers.Page[RefChange], f"{self._place.path}/ref_log", query)
        return page.results, page.after

    async def undo_ref(self, change: str) -> None:
        await self._server.tell(type(None), "POST", f"{self._place.path}/ref_log/{segment(change)}/undo")

    async def check(self) -> Report:
        return await self._server.ask(Report, f"{self._place.path}/check")
