"""A web server that hooks send requests to, as the other side of a webhook or as Airflow would be."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Received(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Answer(NamedTuple):
    """What is answered. Without a status, nothing is until the listener stops."""

    status: int | None = 200
    text: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class Listener:
    """What came in, and what is answered to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.received: list[Received] = []
        self.answers: Callable[[Received], Answer] = lambda _: Answer()
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"


class _Handler(BaseHTTPRequestHandler):
    listener: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        listener = self.listener
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.command, self.path, headers, json.loads(body or b"null"))
        listener.received.append(received)
        answer = listener.answers(received)
        if answer.status is None:
            listener.stopped.wait(60)
            return
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.text.encode())

    do_GET = do_POST  # noqa: N815  (its name for the base class)

    def log_message(self, *_: object) -> None:
        """Nothing: what came in is kept."""


@contextmanager
def listening() -> Iterator[Listener]:
    """A listener on a free port of this machine, until the block ends."""
    handler = type("Handler", (_Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        listener = Listener(server.server_address[1])
        handler.listener = listener  # type: ignore[attr-defined]  # the class was made for this one server
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield listener
        finally:
            listener.stopped.set()
            server.shutdown()
            thread.join()
