"""Workspaces on a server. What is written by other tools goes to the object store, past it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.engine.workspaces.places import place_of
from headwater.sdk.remote import answers
from headwater.sdk.remote.place import Place
from headwater.sdk.remote.urls import segment
from headwater.sdk.results import Commit


class Workspaces:
    def __init__(self, place: Place, namespace: str) -> None:
        self._place = place
        self._server = place.server
        self._namespace = namespace

    async def begin(self, branch: str) -> str:
        """Beginning twice is no harm: nothing is recorded."""
        url = f"{self._place.branch(branch)}/workspaces"
        return (await self._server.tell(answers.Named, "POST", url, again=True)).id

    async def check(self, branch: str, id: str) -> None:  # noqa: A002  (it is one)
        await self._server.ask(answers.Named, self._url(branch, id))

    def place(self, id: str, path: str, scheme: str | None) -> str:  # noqa: A002  (it is one)
        return place_of(self._namespace, None, id, path, scheme)

    async def commit(
        self,
        branch: str,
        id: str,  # noqa: A002  (it is one)
        message: str,
        *,
        patterns: Sequence[str] | None,
        retry: bool,
        metadata: Mapping[str, str],
    ) -> Commit:
        body = {"message": message, "metadata": metadata, "patterns": patterns, "retry": retry}
        url = f"{self._url(branch, id)}/commits"
        return answers.commit_of(await self._server.tell(answers.Commit, "POST", url, body=body))

    async def revert(self, branch: str, id: str, patterns: Sequence[str]) -> int:  # noqa: A002  (it is one)
        url = f"{self._url(branch, id)}/revert"
        return (await self._server.tell(answers.Count, "POST", url, body={"patterns": patterns}, again=True)).count

    async def remove(self, branch: str, id: str, patterns: Sequence[str]) -> int:  # noqa: A002  (it is one)
        url = f"{self._url(branch, id)}/remove"
        return (await self._server.tell(answers.Count, "POST", url, body={"patterns": patterns}, again=True)).count

    async def discard(self, branch: str, id: str) -> None:  # noqa: A002  (it is one)
        await self._server.tell(type(None), "DELETE", self._url(branch, id))

    def _url(self, branch: str, id: str) -> str:  # noqa: A002  (it is one)
        return f"{self._place.branch(branch)}/workspaces/{segment(id)}"
