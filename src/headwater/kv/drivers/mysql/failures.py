"""What the failure of a statement means for its caller, by the number that the server or asyncmy gives it."""

from __future__ import annotations

import ssl

from asyncmy import errors

from headwater.kv.errors import CannotOpen, LimitExceeded, SlowDown, StoreError, StoreUnavailable, UnknownOutcome

FAILURES = (errors.MySQLError, OSError)
"""All that asyncmy raises. A `TimeoutError` is an `OSError`."""

_DEADLOCK, _LOCK_WAIT = 1213, 1205
_TOO_MANY = {1040, 1203, 1226}
"""Too many connections: of all, of this user, of this user in this hour."""

_GONE = 2006
"""What asyncmy says when it finds the connection closed before it has sent."""

_TOO_LONG = {1153, 1301, 1406, 1118}
"""A packet, a result, a value or a row is longer than the server takes."""

_UNDECIDED = {1053, 1080, 1158, 1159, 1160, 1161, 1180, 1927, 3058, 4031}
"""Shut down, killed, a broken connection or an error in the middle of a commit: it is open what became of it."""

_UNFIT = {1044, 1045, 1049, 1142, 1143, 1227, 1251, 1698, 2059, 2026}
"""Who we are, which database, what we may do there: trying again will not change it."""


def was_never_sent(error: Exception) -> bool:
    """Whether the connection was found closed before a byte of the statement went out.

    A proxy that lost its server says the same number, but as an answer, and answers carry a state.
    """
    return isinstance(error, errors.MySQLError) and _number(error) == _GONE and error.sqlstate is None


def was_rolled_back_for_others(error: Exception) -> bool:
    """Whether the server chose this statement as the loser of a deadlock."""
    return _was_answered(error) and _number(error) == _DEADLOCK


def failure(error: Exception, *, writes: bool) -> StoreError:
    """What a statement that failed after it was sent means: an answer says that it was rolled back, most times."""
    number = _number(error)
    if _was_answered(error) and number not in _UNDECIDED:
        if number in _TOO_LONG:
            return LimitExceeded(f"a limit of MySQL: {reason(error)}")
        if number == _LOCK_WAIT:
            return SlowDown(f"MySQL: {reason(error)}")
        return StoreUnavailable(f"MySQL refused: {reason(error)}")
    if writes:
        return UnknownOutcome(f"the answer of MySQL to a write never came: {reason(error)}")
    return StoreUnavailable(f"the answer of MySQL never came: {reason(error)}")


def not_connected(error: Exception) -> StoreError:
    """What it means that there is no session: nothing was sent."""
    number = _number(error)
    if number in _TOO_MANY:
        return SlowDown(f"MySQL takes no more connections: {reason(error)}")
    if number in _UNFIT or isinstance(error.__cause__, ssl.SSLError):
        return CannotOpen(f"MySQL: {reason(error)}")
    return StoreUnavailable(f"no connection to MySQL: {reason(error)}")


def reason(error: Exception) -> str:
    said = error.args[1] if isinstance(error, errors.MySQLError) and len(error.args) > 1 else str(error)
    return f"{said}" or type(error).__name__


def _was_answered(error: Exception) -> bool:
    """Whether this is the server's own answer. Numbers from 2000 to 2999 are those of clients, proxies among them."""
    return isinstance(error, errors.MySQLError) and error.sqlstate is not None and not 2000 <= _number(error) < 3000


def _number(error: Exception) -> int:
    number = error.args[0] if isinstance(error, errors.MySQLError) and error.args else None
    return number if isinstance(number, int) else 0
