"""Addresses as servers take them: of a place of the server's own machine, as the API of lakeFS writes it."""

from __future__ import annotations

from urllib.parse import unquote

FILE = "file://"
LOCAL = "local://"


def address_told(uri: str) -> str:
    """What the server is told of *uri*."""
    return f"{LOCAL}{unquote(uri.removeprefix(FILE))}" if uri.startswith(FILE) else uri
