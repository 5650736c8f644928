"""What is not of any protocol: health, the description of the API, and a page for whoever comes with a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

import headwater
from headwater.errors import HeadwaterError
from headwater.kv import StoreError
from headwater.server.api.documentation import documentation
from headwater.server.api.errors import told
from headwater.server.api.openapi import document
from headwater.server.api.table import OPERATIONS
from headwater.server.http import Request, Response
from headwater.server.limits import READINESS
from headwater.server.services import Services

_JSON = (b"content-type", b"application/json")
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_HTML = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
)
_NOTHING = Response(404, (_TEXT,), b"there is nothing here; the API is under /api/v1\n")


class Pages:
    """The room of pages."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._document = b""
        self._pages: dict[str, Callable[[], Response]] = {
            "/": lambda: Response(200, _HTML, _WELCOME),
            "/docs": lambda: Response(200, _HTML, documentation(OPERATIONS)),
            "/healthcheck": lambda: Response(204),
            "/metrics": self._metrics,
            "/openapi.json": lambda: Response(200, (_JSON,), self._described()),
        }

    async def __call__(self, request: Request) -> Response:
        request.operation = "page"
        if request.method not in ("GET", "HEAD"):
            return Response(405, (_TEXT, (b"allow", b"GET, HEAD")), b"pages are only read\n")
        if request.path == "/readiness":
            return await self._ready()
        page = self._pages.get(request.path)
        return _NOTHING if page is None else page()

    def refuse(self, request: Request, why: HeadwaterError) -> Response:  # noqa: ARG002  (a room's)
        """The answer to a request that is not looked at, or not any longer."""
        return told(why)

    async def _ready(self) -> Response:
        """Whether the key-value store answers, before whoever asks has lost patience."""
        try:
            async with asyncio.timeout(READINESS):
                await self._services.store.get(b"settings", b"readiness")
        except (StoreError, TimeoutError) as error:
            why = str(error) or f"the key-value store did not answer within {READINESS:g} s"
            return Response(503, (_JSON,), msgspec.json.encode({"ready": False, "message": why}))
        return Response(200, (_JSON,), msgspec.json.encode({"ready": True, "version": headwater.__version__}))

    def _metrics(self) -> Response:
        if not self._services.settings.metrics:
            return _NOTHING
        return Response(
            200, ((b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),), self._services.telemetry.page()
        )

    def _described(self) -> bytes:
        self._document = self._document or msgspec.json.encode(document(OPERATIONS))
        return self._document


_WELCOME = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Headwater</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style></head>
<body><h1>Headwater</h1><p>Git for data: branches, commits, merges and time travel over an object store.</p>
<ul><li><a href="/docs">The API</a>, for people</li><li><a href="/openapi.json">The same</a>, for machines</li>
<li><a href="/readiness">Whether it is ready</a></li></ul></body></html>
"""
