"""Secrets that hooks send along: named in an action file as `{{ ENV.NAME }}`, known to the server alone.

Only variables whose names the server's configuration allows can be named. What was filled in is blotted out of whatever
a hook says later, for the other side may repeat what it was sent.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from urllib.parse import quote, quote_plus

from headwater.actions.errors import HookFailed

_NAMED = re.compile(r"\{\{\s*ENV\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_BLOT = "******"


class Secrets:
    """The variables that may be named, and which of them one hook was given."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._given: set[str] = set()

    def filled(self, text: str) -> str:
        """*text* with the values of the variables that it names. `HookFailed` if there is one that it may not."""
        return _NAMED.sub(lambda found: self._value(found.group(1)), text)

    def hide(self, text: str) -> None:
        """Blot *text* out, too: what was made of a secret."""
        if text:
            self._given.add(text)

    @property
    def longest(self) -> int:
        """Characters of the longest form of what was filled in: so much of one that is cut through may remain."""
        return max((len(form) for value in self._given for form in _forms(value)), default=0)

    def blotted(self, text: str) -> str:
        """*text* without anything that was filled in, as it is or as it is written in URLs and headers."""
        for value in sorted(self._given, key=len, reverse=True):
            for form in _forms(value):
                text = text.replace(form, _BLOT)
        return text

    def _value(self, name: str) -> str:
        value = self._variables.get(name)
        if value is None:
            raise HookFailed(
                f"{{{{ ENV.{name} }}}}: the server has none, or its setting hook_environment does not allow it"
            )
        self.hide(value)
        return value


def _forms(value: str) -> set[str]:
    """*value* as it may show up somewhere: as it is, in a URL, in a header of Basic credentials, in JSON."""
    coded = base64.b64encode(value.encode()).decode()
    return {value, quote(value, safe=""), quote(value), quote_plus(value), coded, json.dumps(value)[1:-1]}
