"""What branches, tags and repositories may be called.

A name of a branch or tag never contains what means something around it: the `~`, `^` and `@` of expressions, the `:` of
addresses, the `+` of workspaces, or what a URI would have to escape. And it never reads as a whole commit id.
"""

from __future__ import annotations

import re

from headwater.history.errors import BadName
from headwater.history.limits import MAX_NAME

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_COMMIT_ID = re.compile(r"[0-9A-Fa-f]{64}")
_REPOSITORY = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")

NAME_RULE = (
    f"a name has 1 to {MAX_NAME} letters, digits, '_', '-', '.' and '/'; it starts with one of the first three, does "
    "not end with '/' or '.', or contain '..', '//' or '/.'; and it is not a whole commit id"
)


def is_name(text: str) -> bool:
    """Whether a branch or tag may be called *text*."""
    return (
        len(text) <= MAX_NAME
        and _NAME.fullmatch(text) is not None
        and not text.endswith(("/", "."))
        and not (".." in text or "//" in text or "/." in text)
        and _COMMIT_ID.fullmatch(text) is None
    )


def check_name(text: str) -> None:
    """Raise unless a branch or tag may be called *text*."""
    if not is_name(text):
        raise BadName(f"{text[:300]!r}: {NAME_RULE}")


def is_repository_name(text: str) -> bool:
    """Whether a repository may be called *text*."""
    return _REPOSITORY.fullmatch(text) is not None


def check_repository_name(text: str) -> None:
    """Raise unless a repository may be called *text*: S3 clients see it as a bucket, so it must do as one."""
    if not is_repository_name(text):
        raise BadName(
            f"{text[:300]!r}: a repository's name has 3 to 63 lower-case letters, digits and '-', and does not start "
            "with '-'"
        )
