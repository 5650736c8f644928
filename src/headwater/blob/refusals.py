"""What a remote store's failure means, and how to tell it without telling a secret.

The client's own text can hold signed URLs and the server's signing details. So only the method, the URL up to its
query, the status and the error code go into a message, and the original is not chained.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from obstore.exceptions import (
    AlreadyExistsError,
    NotSupportedError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)

from headwater.blob.errors import (
    BlobError,
    BlobUnavailable,
    ConditionFailed,
    NotFound,
    NotSupported,
    OutcomeUnknown,
    PermissionDenied,
    SlowDown,
)

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>|\"reason\":\s*\"(\w{1,60})\"")
_REQUEST = re.compile(r"Error performing ([A-Z]{3,7} [^\s?]+)")
_QUERY = re.compile(r"\?\S*")
_KIND = re.compile(r"kind: (\w+)")
_CAUSE = re.compile(r"kind: ConnectionRefused|dns error|TimedOut|IncompleteMessage|ConnectionReset|certificate")

_NO_SUCH_STORE = frozenset({"NoSuchBucket", "ContainerNotFound"})
_NOT_KNOWN = frozenset({"ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "TokenRefreshRequired"})
_THROTTLED = frozenset({"SlowDown", "ServerBusy", "Throttling", "ThrottlingException", "RequestLimitExceeded"})

Meaning: TypeAlias = tuple[type[BlobError], str]
"""What to raise, and what to say if not just what the server said."""

_MEANINGS: tuple[tuple[type[Exception], Meaning], ...] = (
    (FileNotFoundError, (NotFound, "there is no such object")),
    (AlreadyExistsError, (ConditionFailed, "it is there already: read it and decide anew")),
    (PreconditionError, (ConditionFailed, "it is not as it was when it was read: read it again and decide anew")),
    (NotSupportedError, (NotSupported, "this store cannot do that")),
)


class Refusal:
    """The facts of one failure, read from the client's text, which is where it has them."""

    def __init__(self, error: Exception) -> None:
        text = str(error)
        self.error = error
        status = _STATUS.search(text)
        code = _CODE.search(text)
        self.status = int(status[1]) if status else None
        self.code = (code[1] or code[2]) if code else None
        self._request = _found(_REQUEST, text, 1)
        self._cause = _found(_CAUSE, text, 0).removeprefix("kind: ")
        self.never_sent = _found(_KIND, text, 1) == "Connect"

    def __str__(self) -> str:
        answer = " ".join(str(part) for part in (self.status, self.code) if part)
        told = ": ".join(part for part in (self._request, answer or self._cause) if part)
        return told or _QUERY.sub("", str(self.error).partition("\n")[0])[:200]

    def as_read(self, subject: str) -> BlobError:
        """What to raise for a call that changes nothing."""
        return self._plain(subject) or BlobUnavailable(f"{subject}: {self}")

    def as_write(self, subject: str) -> BlobError:
        """What to raise for a call that may have changed something."""
        plain = self._plain(subject)
        if plain is not None:
            return plain
        if self.never_sent:
            return BlobUnavailable(f"{subject}: {self}")
        return OutcomeUnknown(f"{subject}: {self}: it may have been applied; read to know")

    def _plain(self, subject: str) -> BlobError | None:
        """What needs no thought of whether anything was changed."""
        meaning = self._by_answer() or self._by_kind()
        if meaning is None:
            return None
        error, advice = meaning
        return error(f"{subject}: {advice or self}")

    def _by_answer(self) -> Meaning | None:
        """What the server's code or status says by itself."""
        if self.code in _NO_SUCH_STORE:
            return BlobUnavailable, f"{self}: create the bucket or container first"
        if self.code in _THROTTLED or self.status == 429:
            return SlowDown, ""
        if self.code in _NOT_KNOWN:
            return PermissionDenied, f"{self}: check the credentials and what they allow"
        if self.status == 501:
            return NotSupported, f"{self}: this store cannot do that"
        return None

    def _by_kind(self) -> Meaning | None:
        """What the client made of it."""
        for kind, meaning in _MEANINGS:
            if isinstance(self.error, kind):
                return meaning
        if isinstance(self.error, (PermissionDeniedError, UnauthenticatedError)):
            return PermissionDenied, f"{self}: check the credentials and what they allow"
        return (BlobError, "") if self.status is not None and self.status < 500 else None


def _found(pattern: re.Pattern[str], text: str, group: int) -> str:
    match = pattern.search(text)
    return match[group] if match else ""
