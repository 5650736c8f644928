"""Branches, tags and what was done to them, over the engine."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.engine import branches, ref_log, signing
from headwater.engine.check import check
from headwater.engine.findings import Report
from headwater.engine.repository import Repository
from headwater.engine.write import check_there
from headwater.history import Signature
from headwater.history import Tag as SignedTag
from headwater.refs.errors import RefNotFound
from headwater.refs.tags import find_tag
from headwater.sdk.limits import LOG_PAGE, PAGE
from headwater.sdk.ports import Found
from headwater.sdk.results import RefChange, Tag, ref_change_of, tag_of


class Refs:
    def __init__(self, repository: Repository, committer: str) -> None:
        self._repository = repository
        self._committer = committer

    async def check_branch(self, name: str) -> None:
        await check_there(self._repository, name)

    async def create_branch(self, name: str, source: str) -> None:
        await branches.create_branch(self._repository, name, source, by=self._committer)

    async def delete_branch(self, name: str) -> None:
        await branches.delete_branch(self._repository, name, by=self._committer)

    async def branches(self, prefix: str, after: str) -> Found[str]:
        page = await branches.list_branches(self._repository, prefix=prefix, after=after, amount=PAGE)
        names = [name for name, _ in page]
        return names, names[-1] if len(names) == PAGE else None

    async def create_tag(
        self, name: str, source: str, *, message: str, metadata: Mapping[str, str], signing_key: bytes | None
    ) -> Tag:
        tag = await branches.create_tag(
            self._repository,
            name,
            source,
            message=message,
            tagger=self._committer,
            metadata=metadata,
            signing_key=signing_key,
        )
        return tag_of(tag)

    async def signed_tag(self, name: str) -> SignedTag:
        tag = await find_tag(self._repository.store, self._repository.partition, name)
        if tag is None:
            raise RefNotFound(f"there is no tag {name[:300]!r}")
        return tag

    async def add_signature(self, ref: str, signature: Signature) -> None:
        await signing.add_signature(self._repository, ref, signature)

    async def signatures(self, ref: str) -> tuple[str, list[Signature]]:
        return await signing.signatures_of(self._repository, ref)

    async def delete_tag(self, name: str) -> None:
        await branches.delete_tag(self._repository, name, by=self._committer)

    async def tags(self, prefix: str, after: str) -> Found[Tag]:
        page = await branches.list_tags(self._repository, prefix=prefix, after=after, amount=PAGE)
        found = [tag_of(tag) for tag in page]
        return found, found[-1].name if len(found) == PAGE else None

    async def ref_log(self, after: str) -> Found[RefChange]:
        page = await ref_log.ref_log(self._repository, after=after, amount=LOG_PAGE)
        return [ref_change_of(entry) for entry in page.entries], page.after

    async def undo_ref(self, change: str) -> None:
        await ref_log.undo_ref(self._repository, change, by=self._committer)

    async def check(self) -> Report:
        return await check(self._repository)
