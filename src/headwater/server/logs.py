"""What the server tells its operator: a line of JSON for each request, if wanted, and for each defect.

No line has a query, a header or a body: those may hold secrets. A path may not.
"""

from __future__ import annotations

import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

from headwater.server.http import Request


class Log:
    """Writes lines of JSON. *access* is where requests are told, if anywhere; *errors* where defects are."""

    def __init__(self, access: BinaryIO | None = None, errors: BinaryIO | None = None) -> None:
        self._access = access
        self._errors = errors or sys.stderr.buffer

    def request(self, request: Request, status: int, sent: int, began: float) -> None:
        """A request was answered. *began* is when it came, by `time.perf_counter`."""
        if self._access is None:
            return
        line = {
            "time": _now(),
            "request_id": request.id,
            "client": request.client,
            "user": request.user,
            "method": request.method,
            "path": request.raw_path,
            "operation": request.operation,
            "status": status,
            "received": request.received,
            "sent": sent,
            "milliseconds": round((time.perf_counter() - began) * 1000, 3),
        }
        _write(self._access, line)

    def damage(self, request: Request, error: Exception) -> None:
        """Something stored is not as it must be, or a request could not be answered for a reason nobody foresaw."""
        line = {"time": _now(), "request_id": request.id, "operation": request.operation, "error": str(error)}
        _write(self._errors, line)

    def defect(self, what: str, error: BaseException, request_id: str = "") -> None:
        """Something went wrong that should not be able to. With a traceback: this is for whoever mends it."""
        trace = "".join(traceback.format_exception(error))
        _write(self._errors, {"time": _now(), "request_id": request_id, "defect": what, "traceback": trace})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _write(stream: BinaryIO, line: dict[str, Any]) -> None:
    stream.write(msgspec.json.encode(line) + b"\n")
    stream.flush()
