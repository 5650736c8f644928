"""What every command of `hw` has: the global options, wherever they stand, and errors told in a line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import click

from headwater.cli import commands
from headwater.cli.exits import Exit, in_a_line, status_of
from headwater.errors import HeadwaterError


def global_options(*, hidden: bool) -> list[click.Parameter]:
    """The options that every command takes. The help of one command does not repeat them."""
    setting: dict[str, Any] = {"callback": _set, "expose_value": False, "hidden": hidden}
    return [
        click.Option(["--lake"], metavar="DIR", help="The directory of an embedded lake.", **setting),
        click.Option(["--endpoint"], metavar="URL", help="The server to use.", **setting),
        click.Option(["--profile"], metavar="NAME", help="The lake of that name in ~/.headwater.toml.", **setting),
        click.Option(
            ["--json"], is_flag=True, help="Answer in JSON: a document, or a line for each result.", **setting
        ),
        click.Option(["--no-color"], is_flag=True, help="No colours, even on a terminal.", **setting),
    ]


def _set(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if not value:
        return
    from headwater.cli.session import Session  # noqa: PLC0415  (who asks for help needs no session)

    session = context.find_root().ensure_object(Session)
    match parameter.name:
        case "json":
            session.json = True
        case "no_color":
            session.color = False
        case str(name):
            session.options[name] = value


class Command(click.Command):
    """A command of `hw`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params += global_options(hidden=True)


class Group(click.Group):
    """Commands that belong together, as `hw branch`."""

    command_class = Command
    group_class = type  # groups within are such as this one

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params += global_options(hidden=True)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but a word that is nearly a command is answered with that command."""
        if args and self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches  # noqa: PLC0415  (few mistype)

            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            if near:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)


class Root(Group):
    """`hw` itself: its commands are imported when they are called, and not to be listed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params = [*global_options(hidden=False), *(each for each in self.params if each.name == "version")]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's)
        return list(commands.COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's)
        return commands.load(cmd_name) if cmd_name in commands.COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (click's)
        for title, section in commands.SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, place.summary) for name, place in section.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = "hw",
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002, FBT001, FBT002  (click's; who ends the process is this)
        **extra: Any,
    ) -> NoReturn:
        """Run a command, and end the process with its status. An expected error is one line, not a traceback."""
        sys.exit(
            _status_of_running(
                lambda: super(Root, self).main(args, prog_name, complete_var, standalone_mode=False, **extra)
            )
        )


def _status_of_running(run: Callable[[], Any]) -> int:
    try:
        status = run()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:  # who read the output had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except (click.Abort, KeyboardInterrupt):
        click.echo("hw: interrupted", err=True)
        return Exit.INTERRUPTED
    except (HeadwaterError, OSError) as error:
        _complain(in_a_line(error))
        return status_of(error)
    return status if isinstance(status, int) else Exit.DONE


def _complain(text: str) -> None:
    """Say what went wrong. It may quote what is in a lake, so control characters in it are escaped."""
    from headwater.cli.output import visible  # noqa: PLC0415

    click.echo("hw: " + "\n".join(map(visible, text.splitlines())), err=True)


def group(name: str) -> Callable[[Callable[..., Any]], Group]:
    """Make a group of commands out of a function that has nothing but a docstring."""
    return click.group(name, cls=Group)


def command(name: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a command out of a function."""
    return click.command(name, cls=Command)
