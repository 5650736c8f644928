"""Hooks run on a server. Where a lake is opened here, whoever commits is told that there are some which nobody ran."""

from __future__ import annotations

from itertools import islice

from headwater.cli.session import session

ACTIONS = "_lakefs_actions/"
"""Where action files lie in a branch."""


def warn_of_hooks(repository: str, branch: str) -> None:
    """Say so if *branch* has action files, and no server looked at what was committed to it just now."""
    if session().settings.endpoint is not None:
        return
    committed = session().repository(repository).ref(f"{branch}@")
    if [*islice(committed.list(ACTIONS), 1)]:
        session().warn(f"no hook of {ACTIONS} was run: hooks run on a server, and this lake is opened without one")
