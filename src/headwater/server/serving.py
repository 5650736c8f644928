"""Running the application: worker processes behind one port, stopped gracefully.

Workers are spawned, not forked: the object stores' client has threads, which do not survive a fork.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels

from headwater.server.application import Application
from headwater.server.config import Settings, address_of
from headwater.server.limits import GRACEFUL, MAX_HEAD


def serve(settings: Settings) -> None:
    """Answer as *settings* say until told to stop. Requests under way are finished first."""
    multiprocessing.set_start_method("spawn", force=True)
    host, port = address_of(settings.listen)
    server = Granian(
        "headwater",
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        workers=settings.workers,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        # pipeline_flush stays off: with it, all that a slow client has yet to read is in memory
        http1_settings=HTTP1Settings(max_buffer_size=MAX_HEAD),
        backpressure=settings.max_requests,
        websockets=False,
        log_enabled=True,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        respawn_interval=0.5,
        workers_kill_timeout=GRACEFUL,
        ssl_cert=Path(settings.tls_certificate) if settings.tls_certificate else None,
        ssl_key=Path(settings.tls_key) if settings.tls_key else None,
        ssl_protocol_min=SSLProtocols.tls12,
    )
    with tempfile.TemporaryDirectory(prefix="headwater-", ignore_cleanup_errors=True) as shared:
        server.serve(target_loader=partial(_load, settings, Path(shared)), wrap_loader=False)


def _load(settings: Settings, shared: Path, *_: Any) -> Application:
    """The application, in a worker. The engine is imported here: what only waits for workers need not have it."""
    from headwater.server.starting import application  # noqa: PLC0415

    return application(settings, shared)
