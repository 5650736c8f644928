"""From the settings to whoever knows the people of a lake."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

import click

from headwater.auth import Auth
from headwater.cli.people.here import PeopleHere
from headwater.cli.people.people import People
from headwater.cli.people.there import PeopleThere
from headwater.cli.session import Session
from headwater.cli.settings import BadSettings
from headwater.outside import real_outside
from headwater.sdk.opening import open_stores
from headwater.sdk.remote.connection import Connection
from headwater.sdk.remote.limits import SILENCE
from headwater.sdk.sync.running import Runner

Result = TypeVar("Result")


class Asking:
    """Whom to ask of people, and the loop that asking runs on. Closed when the command ends."""

    def __init__(self, session: Session) -> None:
        self._runner = Runner()
        click.get_current_context().find_root().call_on_close(self._runner.close)
        self.people: People = self._runner.run_on_loop(_open(session))
        click.get_current_context().find_root().call_on_close(lambda: self.run(self.people.aclose()))

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run_on_loop(coroutine)


async def _open(session: Session) -> People:
    settings = session.settings
    if settings.endpoint is not None:
        return PeopleThere(Connection(settings.endpoint, *session.credentials, silence=SILENCE, ca=None))
    opened = await open_stores(session.directory, durability=settings.durability)
    return PeopleHere(opened, Auth(opened.store, _secret(session), real_outside()))


def _secret(session: Session) -> bytes:
    """What the server of a directory seals secrets with."""
    try:
        from headwater.server.config import Settings  # noqa: PLC0415  (the server need not be installed for the rest)
        from headwater.server.starting import secret_of  # noqa: PLC0415
    except ImportError as error:
        raise BadSettings(f"{error}: users belong to servers; pip install 'headwater[server]'") from None
    return secret_of(Settings(data=str(session.directory)))
