"""Keys as names of objects: escaped so that names sort as the keys do, and safe on every store and file system.

A name is the escaped partition, a slash, and the escaped key. Letters, digits and `-` stand for themselves, save `z`;
every other byte becomes a lead character that sorts where the byte does, and what tells it from its neighbours:

    00-2c  "!" and two hex digits          3a-40  "=" and 0 to 6          7a-ff  "z" and two hex digits
    2e 2f  ".0" and ".1"                   5b-60  "_" and 0 to 5

An escaped key of over 200 characters is cut into directories, `first 200 characters~/next 200~/rest`, because a file
system takes 255 in one. `~` sorts behind everything else, so a cut key stays behind the key that is its first part.
"""

from __future__ import annotations

import re
import string

SEGMENT = 200
"""Characters of a name between two slashes: file systems take 255, and the partition may need them."""

_PLAIN = (string.ascii_letters + string.digits + "-").replace("z", "").encode()


def _code(byte: int) -> str:
    if byte in _PLAIN:
        return chr(byte)
    if byte < 0x2D:
        return f"!{byte:02x}"
    if byte < 0x30:
        return f".{byte - 0x2E}"
    if byte < 0x41:
        return f"={byte - 0x3A}"
    if byte < 0x61:
        return f"_{byte - 0x5B}"
    return f"z{byte:02x}"


_CODES = [_code(byte) for byte in range(256)]
_BYTES = {code: byte for byte, code in enumerate(_CODES)}
_CODE = re.compile(r"[!z][0-9a-f]{2}|[.=_][0-9]|[-0-9A-Za-y]")


def directory_of(partition: bytes) -> str:
    """What the names of all keys of *partition* begin with."""
    return _escaped(partition) + "/"


def name_of(partition: bytes, key: bytes) -> str:
    return directory_of(partition) + _escaped(key)


def key_of(name: str, partition: bytes) -> bytes:
    escaped = name.removeprefix(directory_of(partition)).replace("~/", "")
    return bytes(_BYTES[code] for code in _CODE.findall(escaped))


def _escaped(some: bytes) -> str:
    escaped = "".join([_CODES[byte] for byte in some])
    return "~/".join([escaped[first : first + SEGMENT] for first in range(0, len(escaped), SEGMENT)])
