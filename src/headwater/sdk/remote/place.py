"""Where on a server a repository is, and what is in it: the beginnings of the paths of its operations."""

from __future__ import annotations

from headwater.sdk.remote.connection import Connection
from headwater.sdk.remote.urls import segment


class Place:
    """A repository of a server."""

    def __init__(self, connection: Connection, repository: str) -> None:
        self.server = connection
        self.repository = repository
        self.path = f"/repositories/{segment(repository)}"

    def branch(self, name: str) -> str:
        return f"{self.path}/branches/{segment(name)}"

    def ref(self, expression: str) -> str:
        return f"{self.path}/refs/{segment(expression)}"

    def tag(self, name: str) -> str:
        return f"{self.path}/tags/{segment(name)}"
