"""Running the application: worker processes behind one port, stopped gracefully.

Workers are spawned, not forked: the object stores' client has threads, which do not survive a fork.
"""

from __future__ import annotations

import logging
import multiprocessing
import socket
import ssl
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels

from headwater.server.application import Application
from headwater.server.beginning import Beginning, CannotStart, Replaced
from headwater.server.config import BadConfiguration, Settings, address_of
from headwater.server.limits import GRACEFUL, MAX_HEAD


def serve(settings: Settings, begun: Callable[[], None]) -> None:
    """Answer as *settings* say until told to stop. Requests under way are finished first.

    *begun* is called when nothing but the workers is left to start. `CannotStart` if no worker ever came to answer; one
    that dies later is replaced.
    """
    multiprocessing.set_start_method("spawn", force=True)
    host, port = _free_address(settings.listen)
    certificate, key = _certificate(settings)
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
        ssl_cert=certificate,
        ssl_key=key,
        ssl_protocol_min=SSLProtocols.tls12,
    )
    server.on_startup(begun)
    with _alone_on(host, port), tempfile.TemporaryDirectory(prefix="headwater-", ignore_cleanup_errors=True) as shared:
        beginning = Beginning(Path(shared))
        server.respawned_wrks = Replaced(beginning)
        _log_only_after(beginning)
        try:
            server.serve(target_loader=partial(_load, settings, Path(shared)), wrap_loader=False)
        except SystemExit:
            failure = beginning.failure()
            if failure is None:
                raise
            raise failure from None


def _free_address(listen: str) -> tuple[str, int]:
    """The address and port that *listen* means, if nobody answers there yet.

    Workers share their port, which lets another server share it, too: each would get some of the requests.
    """
    name, port = address_of(listen)
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise BadConfiguration(f"listen={listen!r}: {name!r} is no address of this machine: {error.strerror}") from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise CannotStart(
                f"cannot answer on {listen}: {error.strerror}. Choose another address or port with --listen HOST:PORT"
            ) from None
    return str(address[0]), port


@contextmanager
def _alone_on(host: str, port: int) -> Iterator[None]:
    """Keep other servers from *port* of *host* before the first worker listens, and while the only one is replaced.

    A name that is no file's, which goes with this process however it ends. Elsewhere than on Linux, workers share one
    socket that is open all the time.
    """
    with socket.socket(socket.AF_UNIX) as name:
        if sys.platform == "linux":
            try:
                name.bind(f"\0headwater on {host}:{port}")
            except OSError:
                raise CannotStart(
                    f"cannot answer on {host}:{port}: another server is about to; choose another with --listen"
                ) from None
        yield


def _certificate(settings: Settings) -> tuple[Path | None, Path | None]:
    """The files of the certificate and its key, if they are set and belong together."""
    if not settings.tls_certificate:
        return None, None
    certificate, key = Path(settings.tls_certificate), Path(settings.tls_key)
    for file in (certificate, key):
        with file.open("rb"):  # for an error that names it
            pass
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        files = f"tls_certificate={str(certificate)!r}, tls_key={str(key)!r}"
        raise BadConfiguration(f"{files}: no certificate in PEM and the key to it: {error}") from None
    return certificate, key


def _log_only_after(beginning: Beginning) -> None:
    """Have Granian say nothing before a worker has answered: why none does is told once, in our words."""
    logging.getLogger("_granian").addFilter(lambda _: beginning.was_seen)


def _load(settings: Settings, shared: Path, *_: Any) -> Application:
    """The application, in a worker. The engine is imported here: what only waits for workers need not have it."""
    from headwater.arrow import look_for_no_pandas  # noqa: PLC0415
    from headwater.server.starting import application  # noqa: PLC0415

    look_for_no_pandas()
    beginning = Beginning(shared)
    _log_only_after(beginning)
    return application(settings, beginning, shared)
