"""A store of objects whose calls are timed: `s3_operation_duration_seconds` and its like, by operation and outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

    @contextmanager
    def around(self, request: Request) -> Iterator[None]:
        began = perf_counter()
        failed = True
        try:
            yield
            failed = False
        finally:
            self._timers[request, failed](perf_counter() - began)
