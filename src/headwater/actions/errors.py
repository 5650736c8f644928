"""What can go wrong with actions."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class ActionError(HeadwaterError):
    """The root of this layer's errors."""


class BadAction(ActionError):
    """A file of actions is not as it must be. The message names the file, and the place in it."""


class HookFailed(ActionError):
    """A hook did not go well, which its message explains. It holds no secret."""


class HookRefused(ActionError):
    """A hook that comes before failed, so nothing was done. The message names the hook, and the run that tells more."""


class RunNotFound(ActionError):
    """There is no such run, or hook in it; or it was too long ago."""
