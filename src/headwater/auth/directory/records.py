"""What is kept of users, groups, policies and credentials.

Each thing with an id has an *incarnation*, 8 random bytes of its own. Whatever is kept beside it (a membership, an
attachment, a credential, a login) names the incarnation that it was made for and counts for no other: so nothing that
a crash or a race leaves behind comes to life when an id is used again.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeVar

import msgspec

from headwater.auth.errors import BadRequest, CorruptRecord
from headwater.auth.limits import MAX_ID, MAX_TEXT
from headwater.auth.policy.statement import Statement

Kind: TypeAlias = Literal["user", "group", "policy"]


class User(msgspec.Struct, frozen=True, array_like=True):
    """*created* is in milliseconds since 1970, here and below."""

    id: str
    incarnation: bytes
    created: int
    friendly_name: str | None = None
    email: str | None = None


class Group(msgspec.Struct, frozen=True, array_like=True):
    id: str
    incarnation: bytes
    created: int
    description: str | None = None


class Policy(msgspec.Struct, frozen=True, array_like=True):
    id: str
    incarnation: bytes
    created: int
    statements: tuple[Statement, ...]


Named: TypeAlias = User | Group | Policy
Record = TypeVar("Record", User, Group, Policy)


class Credential(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a credential: the secret is sealed."""

    access_key_id: str
    user: str
    user_incarnation: bytes
    created: int
    sealed: bytes


class CredentialWithSecret(msgspec.Struct, frozen=True):
    """A credential as it is shown once, to the one who asked for it."""

    access_key_id: str
    secret_access_key: str
    user: str
    created: int

    def __repr__(self) -> str:
        return f"CredentialWithSecret({self.access_key_id!r} of {self.user!r})"


_encoder = msgspec.msgpack.Encoder()


def encode(record: Named | Credential) -> bytes:
    return _encoder.encode(record)


def decode(decoder: msgspec.msgpack.Decoder[Stored], what: str, value: bytes) -> Stored:
    try:
        return decoder.decode(value)
    except msgspec.MsgspecError as error:
        raise CorruptRecord(f"the record of {what} cannot be read: {error}") from error


Stored = TypeVar("Stored")


def kind_of(record: Named) -> Kind:
    match record:
        case User():
            return "user"
        case Group():
            return "group"
        case Policy():
            return "policy"


def is_id(text: str) -> bool:
    """Whether a user, group or policy may be called *text*: anything that is printed and is not all space."""
    try:
        return 0 < len(text.encode()) <= MAX_ID and text.isprintable() and text == text.strip()
    except UnicodeEncodeError:
        return False


def check_id(kind: Kind, text: str) -> None:
    if not is_id(text):
        raise BadRequest(
            f"{kind} {text[:80]!r}: an id has 1 to {MAX_ID} bytes, all of them printable, and no space at either end"
        )


def check_text(field: str, text: str | None) -> None:
    """Raise unless *text* can be stored in what it may take."""
    if text is None:
        return
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise BadRequest(f"{field} cannot be stored as UTF-8: {error}") from error
    if size > MAX_TEXT:
        raise BadRequest(f"{field} has {size} bytes, {MAX_TEXT} at most")
