"""Starting a script in a process of its own, answering what it asks, and ending it when its time is over."""

from __future__ import annotations

import asyncio
import math
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from headwater.actions.errors import HookFailed
from headwater.actions.kinds.setting import ScriptRun
from headwater.actions.limits import MAX_OUTPUT, MAX_SCRIPT, SCRIPT_MEMORY, SCRIPT_STEPS, SCRIPTS
from headwater.actions.scripts.library import Library

SANDBOX = Path(__file__).with_name("sandbox.py")

LINE = 4 * (MAX_OUTPUT + MAX_SCRIPT)
"""Bytes of a line that a script may send: more is not read, and it is ended."""


class Scripts:
    """Runs scripts, so many at a time; others wait for their turn, and their time does not begin before."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(SCRIPTS)

    async def run(self, script: ScriptRun) -> None:
        """Run *script* to its end, or `HookFailed`. When this returns, its process is gone."""
        async with self._room:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", str(SANDBOX),
                stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={}, cwd="/", limit=LINE, start_new_session=True,
            )  # fmt: skip
            try:
                async with asyncio.timeout(script.seconds):
                    await _converse(process, script)
            except TimeoutError:
                raise HookFailed(
                    f"the script was not through within {script.seconds:g} seconds, and was ended"
                ) from None
            finally:
                await _end(process)


async def _converse(process: Process, script: ScriptRun) -> None:
    """Answer what the script asks until it ends."""
    assert process.stdin is not None  # noqa: S101  (all three are pipes)
    assert process.stdout is not None  # noqa: S101
    library = Library(script.snapshot)
    await _tell(process, _beginning(script))
    while True:
        try:
            line = await process.stdout.readline()
        except ValueError:
            raise HookFailed(f"the script said more than {LINE} bytes at once") from None
        if not line:
            raise HookFailed(await _crashed(process))
        said: dict[str, Any] = msgspec.json.decode(line)
        if "ended" in said:
            return
        if "failed" in said:
            raise HookFailed(str(said["failed"]))
        if "print" in said:
            script.output.line(said["print"])
        else:
            await _tell(process, await library.answer(said["call"], said["positional"], said["named"]))


def _beginning(script: ScriptRun) -> dict[str, Any]:
    return {
        "name": script.name,
        "source": script.source,
        "event": script.event,
        "arguments": script.arguments,
        "output": MAX_OUTPUT,
        "steps": SCRIPT_STEPS,
        "memory": SCRIPT_MEMORY,
        "cpu": math.ceil(script.seconds) + 1,
    }


async def _tell(process: Process, message: dict[str, Any]) -> None:
    assert process.stdin is not None  # noqa: S101
    with suppress(ConnectionError):  # it is gone, which its output tells next
        process.stdin.write(msgspec.json.encode(message) + b"\n")
        await process.stdin.drain()


async def _crashed(process: Process) -> str:
    """What is to be said of a process that ended in the middle."""
    code = await process.wait()
    return f"the script was ended from outside (exit {code}): it may have taken more memory than it may"


async def _end(process: Process) -> None:
    """See to it that the process is gone, and its pipes."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.communicate()
