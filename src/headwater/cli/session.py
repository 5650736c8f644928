"""What all commands of one call share: the settings, the lake, and how to show what comes of it."""

from __future__ import annotations

import getpass
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.settings import FILE, BadSettings, Known, Settings, read_settings

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.sdk.sync import Lake, Repository


class Session:
    """One call of `hw`. The lake is opened when it is first needed, and closed when the command ends."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}
        """The settings that were given as options."""

        self.json = False
        self.color = True

    @cached_property
    def known(self) -> Known:
        return read_settings(self.options, os.environ, Path(FILE).expanduser())

    @property
    def settings(self) -> Settings:
        return self.known.settings

    @cached_property
    def committer(self) -> str:
        if self.settings.committer:
            return self.settings.committer
        try:
            return getpass.getuser()
        except (KeyError, OSError):  # a user without a name, as in a container
            return ""

    @cached_property
    def output(self) -> Output:
        from headwater.cli.output import Output  # noqa: PLC0415  (rich is not imported before it shows something)

        return Output(json=self.json, color=self.colored)

    @property
    def colored(self) -> bool:
        """Whether there may be colours, where there is a terminal."""
        return self.color and "NO_COLOR" not in os.environ

    @cached_property
    def lake(self) -> Lake:
        lake = self._open()
        click.get_current_context().find_root().call_on_close(lake.close)
        return lake

    def repository(self, name: str) -> Repository:
        return self.lake.repo(name)

    def warn(self, text: str) -> None:
        from headwater.cli.output import visible  # noqa: PLC0415

        click.secho(f"hw: {visible(text)}", fg="yellow", err=True, color=None if self.colored else False)

    def _open(self) -> Lake:
        import headwater  # noqa: PLC0415  (the engine is large, and not every command needs it)
        from headwater.arrow import look_for_no_pandas  # noqa: PLC0415

        look_for_no_pandas()
        settings = self.settings
        if settings.endpoint is not None:
            return self._connect(settings.endpoint)
        if settings.lake is not None:
            return headwater.open(self.directory, durability=settings.durability, committer=self.committer)
        if settings.kv is not None:
            return headwater.open(kv=settings.kv, storage=settings.storage, committer=self.committer)
        raise BadSettings(
            "say where the lake is: hw --lake DIR …, or HEADWATER_LAKE or HEADWATER_ENDPOINT in the environment, or "
            "lake or endpoint in ~/.headwater.toml"
        )

    @property
    def directory(self) -> Path:
        """That of an embedded lake. `BadSettings` if it is not in one."""
        if self.settings.lake is None:
            raise BadSettings("this is for a lake in a directory: hw --lake DIR …")
        return Path(self.settings.lake).expanduser()

    def _connect(self, endpoint: str) -> Lake:
        import headwater  # noqa: PLC0415

        access_key_id, secret_access_key = self.credentials
        return headwater.connect(endpoint, access_key_id, secret_access_key)

    @property
    def credentials(self) -> tuple[str, str]:
        """Of whoever asks a server. `BadSettings` if there are none."""
        settings = self.settings
        if settings.access_key_id is None or settings.secret_access_key is None:
            raise BadSettings(
                f"{settings.endpoint} asks who you are: set HEADWATER_ACCESS_KEY_ID and HEADWATER_SECRET_ACCESS_KEY in "
                "the environment, or keep them with hw profile save"
            )
        return settings.access_key_id, settings.secret_access_key


def session() -> Session:
    """The session of the command that runs."""
    return click.get_current_context().find_root().ensure_object(Session)
