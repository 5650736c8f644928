"""What things are called in policies: the names of lakeFS, so that its policies mean the same here."""

from __future__ import annotations

from typing import Final

EVERYTHING: Final = "*"
"""What is needed to list all of a kind, such as all repositories: a policy must name `*` as well."""

_FILES = "arn:lakefs:fs:::"
_AUTH = "arn:lakefs:auth:::"


def repository(repository: str) -> str:
    return f"{_FILES}repository/{repository}"


def object_in(repository: str, path: str) -> str:
    """An object by its path, on whatever branch."""
    return f"{_FILES}repository/{repository}/object/{path}"


def branch(repository: str, branch: str) -> str:
    return f"{_FILES}repository/{repository}/branch/{branch}"


def tag(repository: str, tag: str) -> str:
    return f"{_FILES}repository/{repository}/tag/{tag}"


def namespace(uri: str) -> str:
    """Where objects are stored, such as `s3://bucket/prefix`."""
    return f"{_FILES}namespace/{uri}"


def user(user: str) -> str:
    return f"{_AUTH}user/{user}"


def group(group: str) -> str:
    return f"{_AUTH}group/{group}"


def policy(policy: str) -> str:
    return f"{_AUTH}policy/{policy}"
