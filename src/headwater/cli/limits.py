"""Every limit of the command line, each with its reason."""

from __future__ import annotations

JOBS = 8
"""Files that are sent or fetched at a time: what hides the way to a server or a store, and an fsync shared by many."""

MAX_JOBS = 256
"""Files at a time at most: each may be open, and programs may have some 1,000 files open."""

AHEAD = 4
"""Files that wait for each job: a listing of millions does not become millions of tasks."""

CHUNK = 1024 * 1024
"""Bytes of a file that are in memory at a time, for each job."""

FAILURES = 20
"""Failures that are told one by one. All are counted."""

WHOLE = 4 * 1024 * 1024
"""Bytes up to which a file is read or written at once: that is fewer requests, and `JOBS` of them are little memory."""
