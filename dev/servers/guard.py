"""Run a command until standard input ends: `python guard.py USER COMMAND…`, where an empty USER is the present one.

Whoever starts a server holds the other end of the pipe. When that process ends, be it by `kill -9`, the pipe ends too,
and so does the server: no test run leaves one behind.
"""

from __future__ import annotations

import subprocess
import sys
from threading import Thread

PATIENCE = 10
"""Seconds that a server may take to stop when it is asked to."""


def main() -> int:
    user, *command = sys.argv[1:]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, user=user or None)
    Thread(target=stop_at_end_of_input, args=(process,), daemon=True).start()
    return process.wait()


def stop_at_end_of_input(process: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main())
