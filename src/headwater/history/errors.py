"""What can go wrong with commits, clocks, names and expressions."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class HistoryError(HeadwaterError):
    """The root of this layer's errors."""


class InvalidRecord(HistoryError):
    """A commit or tag cannot be as asked: a field is malformed, or two of them contradict each other."""


class LimitExceeded(InvalidRecord):
    """A field is beyond a limit; the message names both."""


class BadName(HistoryError):
    """No branch, tag or repository may have this name; the message tells the rule."""


class BadExpression(HistoryError):
    """An expression such as `main~2` cannot be understood; the message tells from which character on."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(f"{text[:300]!r}, character {position + 1}: {reason}")
        self.text = text
        self.position = position


class BadCursor(HistoryError):
    """What was passed as `after` did not come with a page of this log."""


class NotFound(HistoryError):
    """There is no such commit, or no commit where the expression leads."""


class CommitNotFound(NotFound):
    """The repository has no commit with this id."""

    def __init__(self, commit: str) -> None:
        super().__init__(f"there is no commit {commit} in this repository")
        self.commit = commit


class NoSuchAncestor(NotFound):
    """The history is shorter than that."""


class AmbiguousPrefix(HistoryError):
    """Several commits begin with these digits; some are named."""

    def __init__(self, prefix: str, candidates: list[str]) -> None:
        super().__init__(f"several commits begin with {prefix!r}: {', '.join(candidates)}, …: give more digits")
        self.prefix = prefix
        self.candidates = candidates


class NotAnAncestor(HistoryError):
    """The range begins at a commit that is not in the first-parent history of its end."""


class CorruptRecord(HistoryError):
    """A stored commit, delta or tag is not what its name promises. It is never served."""


class UnknownFormat(CorruptRecord):
    """A stored record is of a format that this version does not know, most likely a later one."""


class CorruptClock(HistoryError):
    """The clock index contradicts the commits, or lacks one it must have."""
