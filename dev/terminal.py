"""What commands print on a terminal: for the README, and for the test that holds it to be true."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

WIDTH = 110
"""Columns: what a page has room for."""


def shown(command: str, directory: Path, environment: Mapping[str, str]) -> str:
    """What *command* of a shell prints on a terminal without colours. `CalledProcessError` if it fails."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    plain = {**os.environ, **environment, "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": str(WIDTH)}
    try:
        running = subprocess.Popen(
            ["bash", "-c", command], cwd=directory, env=plain, stdout=theirs, stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )  # fmt: skip
    finally:
        os.close(theirs)
    with running:
        text = _read(ours)
        complaint = b"" if running.stderr is None else running.stderr.read()
    if running.returncode != 0:
        raise subprocess.CalledProcessError(running.returncode, command, text, complaint)
    return "".join(f"{line.rstrip()}\n" for line in text.replace("\r\n", "\n").splitlines())


def session(page: str) -> list[tuple[str, str]]:
    """The commands of the first terminal session of a page, and what is printed behind each."""
    _, _, rest = page.partition("```console\n")
    text = rest.partition("```")[0]
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            command, printed = found[-1]
            found[-1] = (command, f"{printed}{line}\n")
    return found


def _read(descriptor: int) -> str:
    pieces: list[bytes] = []
    try:
        while piece := os.read(descriptor, 65536):
            pieces.append(piece)
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    finally:
        os.close(descriptor)
    return b"".join(pieces).decode()
