"""What can go wrong about users, their credentials and what they may do.

Whoever is refused for who they claim to be learns nothing but that: a wrong secret, an unknown key and a deleted user
read the same.
"""

from __future__ import annotations

from headwater.errors import HeadwaterError


class AuthError(HeadwaterError):
    """The root of this layer's errors."""


class BadRequest(AuthError):
    """Something that was asked for makes no sense, which the message explains. Nothing was changed."""


class InvalidPolicy(BadRequest):
    """A statement of a policy says nothing that could be followed, or is beyond a limit. Nothing was changed."""


class NotFound(AuthError):
    """There is no user, group, policy or credential of that id, or it is not attached to what was named."""


class AlreadyExists(AuthError):
    """There is a user, group, policy or credential of that id already. Nothing was changed."""


class AlreadySetUp(AuthError):
    """There was a first administrator before. Nothing was changed."""


class CorruptRecord(AuthError):
    """What is stored cannot be read, or was sealed under another secret of the server."""


class NotAuthenticated(AuthError):
    """The caller is not who it claims to be, or claims nothing. It is never said why."""

    def __init__(self) -> None:
        super().__init__("these credentials are not valid: check the access key id and its secret, or log in again")


class TooManyAttempts(AuthError):
    """Too many attempts with wrong credentials: nothing was looked at. Try again after *wait* seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"too many attempts with wrong credentials: try again in {max(1, round(wait))} s")
        self.wait = wait


class Forbidden(AuthError):
    """The caller is known and may not do this."""
