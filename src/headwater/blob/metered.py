"""A store of objects whose calls are timed: `s3_operation_duration_seconds` and its like, by operation and outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from time import perf_counter
from typing import get_args

from headwater.blob.store import BlobStore
from headwater.blob.surrounded import Request, Surrounded
from headwater.metrics import Metrics


class MeteredBlobs(Surrounded):
    """Hands every call on to *inner* as it is, and tells *metrics* how long it took. Of a stream, until it begins."""

    def __init__(self, inner: BlobStore, metrics: Metrics, kind: str) -> None:
        super().__init__(inner)
        self._timers: dict[tuple[Request, bool], Callable[[float], None]] = {
            (request, failed): metrics.timer(
                f"{kind}_operation_duration_seconds", operation=request, error=str(failed).lower()
            )
            for request in get_args(Request)
            for failed in (False, True)
        }

    def around(self, request: Request) -> AbstractContextManager[None]:
        return _Timed(self._timers, request)


class _Timed:
    """Tells a timer how long it was entered."""

    __slots__ = ("_began", "_request", "_timers")

    def __init__(self, timers: Mapping[tuple[Request, bool], Callable[[float], None]], request: Request) -> None:
        self._timers = timers
        self._request = request
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._timers[self._request, error is not None](perf_counter() - self._began)
