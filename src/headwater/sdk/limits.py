"""Every limit of the SDK, each with its reason."""

from __future__ import annotations

from headwater.blob.limits import PART
from headwater.engine.limits import MAX_PAGE

PAGE = MAX_PAGE
"""Results that are fetched at a time, beneath an iterator."""

LOG_PAGE = 100
"""Commits that are fetched at a time: a log is mostly read for its first few."""

GATHERED = PART
"""Bytes of a file being written that are held until it is closed, and then put at once. With more it is streamed."""

AHEAD = 2
"""Chunks that lie between who writes a file and what sends it: a bounded part of it is in memory, whatever its size."""

READ_AHEAD = 4 * 1024 * 1024
"""Bytes that a file open for reading fetches at a time: few requests, and no more memory than a chunk of a write."""

REPOSITORIES = 100
"""Repositories whose caches are kept while no handle of theirs is: programs work on a few at a time."""

GIVING_UP = 5.0
"""Seconds that an interrupted call is waited for while it gives up what it began, as a task of a server."""
