"""How results are shown: as tables on a terminal, plain when piped, as JSON when asked for.

Whatever comes from a lake is shown with its control characters escaped: a path or message cannot play on the terminal
of who reads it, nor forge a line of what a script reads.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click
import msgspec

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")

TOGETHER = 1000
"""Rows of a table that are laid out together: more would be long in memory, and late."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Column(msgspec.Struct, Generic[Item], frozen=True):
    """A column of a table: its heading, and what it shows of an item, in what style."""

    heading: str
    cell: Callable[[Item], Any]
    style: str | Callable[[Item], str] = ""
    right: bool = False
    width: int | None = None
    """Characters that a terminal shows; a pipe gets them all."""

    def text(self, item: Item) -> str:
        return visible(text_of(self.cell(item)))

    def style_of(self, item: Item) -> str:
        return self.style if isinstance(self.style, str) else self.style(item)


class Output:
    """Shows results on standard output. It is the only thing that writes there."""

    def __init__(self, *, json: bool = False, color: bool = True, terminal: bool | None = None) -> None:
        self.json = json
        self.terminal = sys.stdout.isatty() if terminal is None else terminal
        self._color = color

    def document(self, value: Any) -> None:
        """A value as one JSON document."""
        click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2 if self.terminal else -1))

    def rows(self, items: Iterable[Item], columns: Sequence[Column[Item]]) -> int:
        """Each item as a row, as soon as it is there; in JSON each is a line. How many there were."""
        rest = iter(items)
        count = 0
        while some := list(islice(rest, TOGETHER if self.terminal and not self.json else 1)):
            self._some(some, columns, heading=count == 0)
            count += len(some)
        return count

    def done(self, value: Any, sentence: str) -> None:
        """What a command did: a sentence for people, *value* as a document for machines."""
        if self.json:
            self.document(value)
        else:
            self.say(sentence)

    def fields(self, value: Any, fields: Sequence[tuple[str, Any]]) -> None:
        """One thing, field by field; *value* is its document."""
        if self.json:
            self.document(value)
            return
        width = max(len(name) for name, _ in fields)
        for name, content in fields:
            for place, line in enumerate(text_of(content).split("\n")):
                label = f"{name if place == 0 else '':{width}}"
                shown = visible(line)
                self.say(f"{self.styled(label, 'dim')}  {shown}" if self.terminal else f"{name}\t{shown}")

    def say(self, text: str = "") -> None:
        """A line for people."""
        click.echo(text, color=None if self._color else False)

    def write(self, pieces: Iterable[bytes]) -> None:
        """Bytes as they are."""
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()

    def styled(self, text: str, style: str) -> str:
        """*text* in a colour, where there are colours."""
        if not (self.terminal and self._color and style):
            return text
        return click.style(text, dim=True) if style == "dim" else click.style(text, fg=style)

    def _some(self, items: Sequence[Item], columns: Sequence[Column[Item]], *, heading: bool) -> None:
        if self.json:
            for item in items:
                click.echo(msgspec.json.encode(item))
        elif self.terminal:
            self._table(items, columns, heading=heading)
        else:
            for item in items:
                click.echo("\t".join(column.text(item) for column in columns))

    def _table(self, items: Sequence[Item], columns: Sequence[Column[Item]], *, heading: bool) -> None:
        from rich.table import Table  # noqa: PLC0415  (only a terminal needs it)
        from rich.text import Text  # noqa: PLC0415

        table = Table(box=None, pad_edge=False, show_header=heading, header_style="dim")
        for column in columns:
            table.add_column(column.heading, justify="right" if column.right else "left", overflow="fold")
        for item in items:
            table.add_row(*(Text(column.text(item)[: column.width], column.style_of(item)) for column in columns))
        self._console.print(table)

    @cached_property
    def _console(self) -> Console:
        from rich.console import Console  # noqa: PLC0415

        return Console(
            file=sys.stdout, color_system="auto" if self._color else None, highlight=False, emoji=False, markup=False
        )


def text_of(value: Any) -> str:
    """A value for people."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return str(value)


def visible(text: str) -> str:
    """*text* with its control characters, and those that turn the direction of writing, as escapes."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)
