"""Options that several commands take, and mean the same by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from headwater.cli.limits import JOBS, MAX_JOBS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class MetadataType(click.ParamType[tuple[str, str]]):
    """`KEY=VALUE`."""

    name = "KEY=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, content = value.partition("=")
        if not key or not equals:
            self.fail(f"{value!r}: write KEY=VALUE", param, ctx)
        return key, content


class TimeType(click.ParamType[datetime]):
    """A moment: a date, or a date and a time; of this machine's zone unless it says another."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r}: write a date, as 2026-06-01, or a time, as 2026-06-01T12:00:00+02:00", param, ctx)


def _as_dict(ctx: click.Context, param: click.Parameter, value: Sequence[tuple[str, str]]) -> dict[str, str]:
    del ctx, param
    return dict(value)


KEY_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


def trust_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--trust`, at least once."""
    told = "A public key, as id_ed25519.pub; repeatable."
    return click.option("--trust", type=KEY_FILE, multiple=True, required=True, help=told)(function)


def metadata_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--metadata`, as often as wanted."""
    return click.option(
        "--metadata", type=MetadataType(), multiple=True, callback=_as_dict, help="To be kept with it; repeatable."
    )(function)


def message_option(text: str, *, required: bool = False) -> Decorator:
    return click.option("-m", "--message", required=required, metavar="TEXT", help=text)


def yes_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("-y", "--yes", is_flag=True, help="Do not ask.")(function)


def jobs_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "-j", "--jobs", type=click.IntRange(1, MAX_JOBS), default=JOBS, show_default=True, help="Files at a time."
    )(function)


def confirm(question: str, *, yes: bool) -> None:
    """Ask whoever runs this, unless that was answered before. Ends the command if the answer is no."""
    if not yes:
        click.confirm(question, abort=True, err=True)
