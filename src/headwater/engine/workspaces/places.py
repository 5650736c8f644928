"""Where tools that know nothing of Headwater write what is to be in a workspace."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlsplit

from headwater.blob.names import check_bound
from headwater.blob.namespace import workspace_name, workspace_prefix
from headwater.engine.errors import BadRequest

_HADOOP = {"s3": "s3a"}
"""What Hadoop and Spark call a scheme that others call so."""


def place_of(namespace: str, directory: Path | None, id: str, path: str, scheme: str | None = None) -> str:  # noqa: A002
    """The URI of *path* in the workspace *id* of a repository at *namespace*, without options and without secrets.

    *directory* is the one that the namespace is, where it is one.
    """
    name = workspace_name(id, path) if path else workspace_prefix(id).rstrip("/")
    check_bound(name)  # no path that leads out of the workspace, and none that could not be read back
    parts = urlsplit(namespace)
    if parts.scheme == "mem":
        raise BadRequest("this repository is in the memory of this process: no other tool can write to it")
    if parts.scheme == "file" and directory is None and not parts.path.startswith("/"):
        raise BadRequest(f"{namespace} is in the directory of a lake on the server's machine: write through the server")
    if parts.scheme == "file":
        return f"file://{quote(str(directory or Path(parts.path)))}/{quote(name)}"
    root = f"{parts.netloc}{parts.path}".rstrip("/")
    return f"{scheme or _HADOOP.get(parts.scheme, parts.scheme)}://{root}/{name}"
