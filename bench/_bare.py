"""A server that answers "hello" to everything, on Granian as Headwater sets it up: `python -m bench._bare PORT`."""

from __future__ import annotations

import sys
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from headwater.server.limits import MAX_HEAD

HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"5")]


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while (await receive())["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": b"hello"})


if __name__ == "__main__":
    Granian(
        "bench._bare:application",
        port=int(sys.argv[1]),
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(max_buffer_size=MAX_HEAD, pipeline_flush=True),
        backpressure=1024,
        websockets=False,
        log_level=LogLevels.warning,
    ).serve()
