"""Hooks: what is run before and after a commit, a merge, or the making and deleting of a branch or tag.

The files that say which hooks there are lie in the branch, under `_lakefs_actions/`. `docs/actions.md` tells of them.
"""

from headwater.actions.actions import Actions
from headwater.actions.destinations import Destinations
from headwater.actions.errors import ActionError, BadAction, HookFailed, HookRefused, RunNotFound
from headwater.actions.executing import Executor
from headwater.actions.occasion import Doer, Done, Occasion
from headwater.actions.runs import HookRun, Run, Runs

__all__ = [
    "ActionError",
    "Actions",
    "BadAction",
    "Destinations",
    "Doer",
    "Done",
    "Executor",
    "HookFailed",
    "HookRefused",
    "HookRun",
    "Occasion",
    "Run",
    "RunNotFound",
    "Runs",
]
