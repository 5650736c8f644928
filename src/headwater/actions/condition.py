"""The `if` of a hook: `success()`, `failure()` and `always()`, joined by `!`, `&&`, `||` and parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from headwater.actions.errors import BadAction
from headwater.actions.limits import MAX_CONDITION

_WORD = re.compile(r"\s*(success\(\s*\)|failure\(\s*\)|always\(\s*\)|true|false|&&|\|\||!|\(|\))")


class Condition:
    """An `if` that was understood. Empty, it is `success()`."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CONDITION:
            raise BadAction(f"if: it has {len(text)} characters; {MAX_CONDITION} at most")
        self._text = text
        self._words = list(_words(text)) or ["success()"]
        self.holds(failed=False)  # which finds out whether it makes sense

    def holds(self, *, failed: bool) -> bool:
        """Whether the hook is to run, after hooks of the same action of which one *failed*, or none."""
        values = {"success()": not failed, "failure()": failed, "always()": True, "true": True, "false": False}
        reader = _Reader(self._words, values)
        result = reader.either()
        if reader.word is not None:
            raise BadAction(f"if: {self._text!r} makes no sense from {reader.word!r} on")
        return result


def _words(text: str) -> Iterator[str]:
    position, text = 0, text.rstrip()
    while position < len(text):
        found = _WORD.match(text, position)
        if found is None:
            raise BadAction(
                f"if: {text[position:][:40]!r} is none of success() failure() always() true false ! && || ( )"
            )
        yield "".join(found.group(1).split())
        position = found.end()


class _Reader:
    """Reads words from left to right; `&&` binds closer than `||`."""

    def __init__(self, words: list[str], values: Mapping[str, bool]) -> None:
        self._words = words
        self._values = values
        self._at = 0

    @property
    def word(self) -> str | None:
        return self._words[self._at] if self._at < len(self._words) else None

    def either(self) -> bool:
        result = self._both()
        while self._took("||"):
            result = self._both() or result
        return result

    def _both(self) -> bool:
        result = self._one()
        while self._took("&&"):
            result = self._one() and result
        return result

    def _one(self) -> bool:
        if self._took("!"):
            return not self._one()
        if self._took("("):
            result = self.either()
            if not self._took(")"):
                raise BadAction("if: a parenthesis is not closed")
            return result
        word = self.word
        if word is None or word not in self._values:
            raise BadAction(f"if: a condition is missing before {word or 'the end'!r}")
        self._at += 1
        return self._values[word]

    def _took(self, word: str) -> bool:
        if self.word != word:
            return False
        self._at += 1
        return True
