"""A small S3 server that breaks its word on demand: for what no honest server can be made to do."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

Trouble = Literal[
    "slow down", "too many", "broken", "forbidden", "not implemented", "conflict", "hang up", "late hang up"
]

NOTHING: Mapping[str, str] = {}

_ANSWERS = {
    "slow down": (503, "SlowDown"),
    "too many": (429, "TooManyRequests"),
    "broken": (500, "InternalError"),
    "forbidden": (403, "SignatureDoesNotMatch"),
    "not implemented": (501, "NotImplemented"),
    "conflict": (409, "ConditionalRequestConflict"),
}


class Pretender:
    """What the server does: *heeds* these conditions, one put at a time or not, and is in this *trouble*."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.objects: dict[str, bytes] = {}
        self.heeds = {"If-Match", "If-None-Match"}
        self.meeting: threading.Barrier | None = None
        self.trouble: Trouble | None = None
        self.requests = 0
        self.rules: str | None = None
        self.told_with_rules: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def uri(self) -> str:
        return f"s3://bucket/lake?region=us-east-1&endpoint={self.endpoint}"

    def put(self, path: str, body: bytes, if_match: str | None, if_none_match: str | None) -> bool:
        """With a *meeting*, two conditions are looked at before either is acted on: a race, without chance."""
        if self.meeting is None:
            with self._lock:
                return self._holds(path, if_match, if_none_match) and self._write(path, body)
        holds = self._holds(path, if_match, if_none_match)
        with suppress(threading.BrokenBarrierError):
            self.meeting.wait(0.05)
        if self.meeting.broken:
            self.meeting.reset()
        return holds and self._write(path, body)

    def _holds(self, path: str, if_match: str | None, if_none_match: str | None) -> bool:
        now = self.objects.get(path)
        if if_none_match is not None and "If-None-Match" in self.heeds and now is not None:
            return False
        return if_match is None or "If-Match" not in self.heeds or (now is not None and etag(now) == if_match)

    def _write(self, path: str, body: bytes) -> bool:
        self.objects[path] = body
        return True


def etag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


@contextmanager
def pretending() -> Iterator[Pretender]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if "lifecycle" in self.path:
                self._answer_rules()
                return
            body = pretender.objects.get(self._path())
            if self._in_trouble():
                return
            if body is None:
                self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            else:
                self._answer(200, body, etag(body))

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if "lifecycle" in self.path:
                self._take_rules(body)
                return
            if pretender.trouble == "late hang up":
                pretender.put(self._path(), body, self.headers["If-Match"], self.headers["If-None-Match"])
            if self._in_trouble():
                return
            if pretender.put(self._path(), body, self.headers["If-Match"], self.headers["If-None-Match"]):
                self._answer(200, b"", etag(body))
            else:
                self._answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self._in_trouble():
                return
            keys = re.findall(r"<Key>(.*?)</Key>", body.decode())
            for key in keys:
                pretender.objects.pop(f"/bucket/{key}", None)
            deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
            self._answer(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

        def _answer_rules(self) -> None:
            if pretender.rules is None:
                self._answer(404, b"<Error><Code>NoSuchLifecycleConfiguration</Code></Error>")
            else:
                self._answer(200, pretender.rules.encode(), further=pretender.told_with_rules)

        def _take_rules(self, body: bytes) -> None:
            """As S3 does: what is not repeated of the headers beside the rules is forgotten."""
            told = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
            if self.path.partition("?")[0] != "/bucket" or self.headers["content-md5"] != told:
                self._answer(400, b"<Error><Code>InvalidRequest</Code></Error>")
                return
            pretender.rules = body.decode()
            kept = {name: self.headers[name] for name in pretender.told_with_rules if name in self.headers}
            pretender.told_with_rules = kept
            self._answer(200, b"")

        def _path(self) -> str:
            return urlsplit(self.path).path

        def _in_trouble(self) -> bool:
            pretender.requests += 1
            match pretender.trouble:
                case None:
                    return False
                case "hang up" | "late hang up":
                    self.close_connection = True
                case trouble:
                    status, code = _ANSWERS[trouble]
                    self._answer(
                        status, f"<Error><Code>{code}</Code><StringToSign>SIGNED</StringToSign></Error>".encode()
                    )
            return True

        def _answer(
            self, status: int, body: bytes, tag: str | None = None, further: Mapping[str, str] = NOTHING
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
            if tag is not None:
                self.send_header("ETag", tag)
            for name, value in further.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pretender = Pretender(f"http://127.0.0.1:{server.server_port}")
    serving = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    serving.start()
    try:
        yield pretender
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
