"""Sizes for people."""

from __future__ import annotations


def readable(size: float) -> str:
    """*size* bytes in the unit that leaves one to three digits before the point."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} PiB"
