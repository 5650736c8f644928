"""`hw completion`: what a shell needs in order to complete commands, options and places."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from headwater.cli.commanding import command


@command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what lets a shell complete commands, options and places.

    For bash and zsh put eval "$(hw completion bash)" into ~/.bashrc, or zsh into ~/.zshrc; for fish:
    hw completion fish > ~/.config/fish/completions/hw.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"{shell}: not known")
    root = click.get_current_context().find_root().command
    click.echo(kind(root, {}, "hw", "_HW_COMPLETE").source())
