"""A hook that lets commits pass, or has them wait: so that a test knows that one is under way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.actions.listener import Answer, Listener, Received, listening


class Gate:
    """Open to begin with."""

    def __init__(self, listener: Listener) -> None:
        hook = f"{{id: w, type: webhook, properties: {{url: '{listener.url}/'}}}}"
        self.action = f"on: {{pre-commit: }}\nhooks: [{hook}]\n".encode()
        self._open, self._asked = threading.Event(), threading.Event()
        self._open.set()
        listener.answers = self._answer

    def close(self) -> None:
        """Have commits wait."""
        self._asked.clear()
        self._open.clear()

    def wait(self) -> None:
        """Until a commit waits."""
        assert self._asked.wait(60)

    def open(self) -> None:
        """Let them pass."""
        self._open.set()

    def _answer(self, _: Received) -> Answer:
        self._asked.set()
        return Answer() if self._open.wait(60) else Answer(500)


@contextmanager
def gated() -> Iterator[Gate]:
    with listening() as listener:
        gate = Gate(listener)
        try:
            yield gate
        finally:
            gate.open()
