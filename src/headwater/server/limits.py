"""Every limit of the server, each with its reason."""

from __future__ import annotations

MAX_DOCUMENT = 8 * 1024 * 1024
"""Bytes of a JSON document in a request: a thousand paths of the greatest length fit, several times over."""

MAX_TARGET = 32 * 1024
"""Bytes of a request's path and query together."""

DEFAULT_PAGE = 100
"""Results of a page when the client does not say how many."""

MAX_PAGE = 1000
"""Results of a page at most; who asks for more gets so many."""

CHUNK = 256 * 1024
"""Bytes that are sent to a client at a time, so that what is in memory of a body is bounded by little."""

REPOSITORIES = 1000
"""Repositories whose caches a worker keeps."""

REMEMBERED = 1.0
"""Seconds for which a worker believes what it read of a repository's record, where reading it again means waiting."""

GRACEFUL = 30
"""Seconds that requests have to finish when the server is told to stop."""

READINESS = 3.0
"""Seconds that the key-value store has to answer for a worker to be ready: probes wait for some seconds, not longer."""

START_AGAIN = 2.0
"""Seconds that a worker waits that cannot begin, where others could, before it ends and is replaced."""

REQUEST_SECONDS = 3600
"""Seconds that a request may take. Uploads and downloads of large objects over slow lines are within it."""

SENT_AT_ONCE = 256 * 1024
"""Bytes of an object that are read before the head of the answer is sent: then a read that fails is an error, not a
connection that breaks."""

SENT_AS_FILE = 1024 * 1024
"""Bytes from which on an object that is a file of this machine is left to the kernel to send."""

PRESIGNED = 900
"""Seconds that a presigned URL lasts."""

GATHERED = 1024 * 1024
"""Bytes of an upload that are read before it is written: one call of the store, and no thread waits for a client."""

MAX_HEAD = 256 * 1024
"""Bytes of the head of a request, and of what is read of a connection at a time."""

ISSUED_HOURS = 6
"""Hours after the one in which it was given out that an address can still be linked. Well within the safety age of
garbage collection."""

MAX_URLS = 1000
"""URLs of the parts of an upload that one answer has; more are to be had one at a time."""

MAX_PARTS = 10_000
"""Parts of an upload: what S3 takes."""

MAX_SOURCES = 10_000
"""Sources of one import: each prefix is at least one request to a store, one after the other."""

LINES = 32 * 1024
"""Bytes of an answer of many lines that are gathered before they are sent: many lines a call, and no long wait."""

MAX_TABLE = 1024 * 1024 * 1024
"""Bytes of a table of objects to import: some millions of rows. It is in memory while it is committed."""

PART_SECONDS = 6 * 3600
"""Seconds that the URL of a part lasts: all of them are given out before the first is used, and a large object takes
its time."""

MAX_SERIES = 2000
"""Counts or times of one name that a worker keeps apart: more branches than anybody looks at in a graph."""

SHARE_EVERY = 1.0
"""Seconds between two times that a worker writes its numbers out for the others."""

WATCH_EVERY = 0.5
"""Seconds between two looks for requests that take too long."""

ADDRESSES = 10_000
"""Addresses whose requests are counted at a time, where they are limited."""

BURST = 2.0
"""Seconds' worth of requests that an address may make at once."""

WRITTEN_ROWS = 128
"""Rows of a segment that are kept together as they stand in listings: a page writes so many too many at its ends."""

WRITTEN_BYTES = 32 * 1024 * 1024
"""Bytes of rows, as they stand in listings, that a worker keeps: those of some hundred thousand objects."""
