"""What is seen of every request, whichever room answers it: a line in the log, numbers, a span, the time it takes."""

from __future__ import annotations

import asyncio
import re
import secrets
from contextlib import suppress
from time import perf_counter
from typing import Literal, TypeAlias

from headwater.server.http import Request
from headwater.server.limits import WATCH_EVERY
from headwater.server.logs import Log
from headwater.server.telemetry.tally import Timer
from headwater.server.telemetry.telemetry import Telemetry
from headwater.server.telemetry.tracing import Span

Service: TypeAlias = Literal["api", "gateway", "page"]
"""What answers: the REST API, the S3 gateway, or neither. The names are those of lakeFS's metrics."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Observed:
    """A request that is being answered, and what becomes of it."""

    __slots__ = ("began", "overdue", "request", "sent", "service", "span", "status", "task")

    def __init__(self, request: Request, service: Service, span: Span | None, task: asyncio.Task[None]) -> None:
        self.request = request
        self.service = service
        self.span = span
        self.task = task
        self.began = perf_counter()
        self.status = 500
        self.sent = 0
        self.overdue = False


class Observer:
    """Watches requests. One that takes more than *seconds* is cancelled: then its `overdue` is true."""

    def __init__(self, log: Log, telemetry: Telemetry, seconds: float) -> None:
        self.log = log
        self._telemetry = telemetry
        self._seconds = seconds
        self._watched: set[Observed] = set()
        self._timers: dict[tuple[Service, str, int], Timer] = {}
        self._prefix = secrets.token_hex(5)
        self._number = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look for requests that take too long."""
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def begin(self, request: Request, service: Service) -> Observed:
        """*request* came in. It is called what its client calls it, if that may be, or gets a name."""
        told = request.header("x-request-id")
        if told is not None and _ID.fullmatch(told):
            request.id = told
        else:
            self._number += 1
            request.id = f"{self._prefix}-{self._number:x}"
        tracer = self._telemetry.tracer
        span = None if tracer is None else tracer.begin(request)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a server answers each request in a task)
        observed = Observed(request, service, span, task)
        self._watched.add(observed)
        return observed

    def end(self, observed: Observed) -> None:
        """The request was answered, or never will be."""
        self._watched.discard(observed)
        request, status = observed.request, observed.status
        key = observed.service, request.operation, status
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = self._telemetry.tally.timer(
                f"{observed.service}_request_duration_seconds", operation=request.operation or "none", code=str(status)
            )
        timer(perf_counter() - observed.began)
        if observed.service == "api":
            self._telemetry.tally.count("api_requests_total", code=str(status), method=request.method)
        if observed.span is not None:
            observed.span.end(request, status)
        self.log.request(request, status, observed.sent, observed.began)

    def refused(self, limit: str) -> None:
        """A limit refused a request."""
        self._telemetry.tally.count("headwater_requests_refused_total", limit=limit)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_EVERY)
            now = perf_counter()
            services: dict[str, int] = {"api": 0, "gateway": 0}
            for observed in list(self._watched):
                services[observed.service] = services.get(observed.service, 0) + 1
                if now - observed.began > self._seconds and not observed.overdue:
                    observed.overdue = True
                    self.refused("request_seconds")
                    observed.task.cancel()
            self._telemetry.in_progress = services
