"""Every limit of the object layer, each with its reason."""

from __future__ import annotations

MAX_NAME = 1024
"""Bytes of a name together with the prefix of the store's URI: what S3 allows a key to be."""

MAX_SEGMENT = 255
"""Bytes between two slashes of a name: what a file system allows the name of a file to be."""

MAX_CONDITIONAL = 64 * 1024 * 1024
"""Bytes of a body that is put under a condition: it is one request, held in memory as a whole."""

PART = 8 * 1024 * 1024
"""Bytes of one part of a streamed put to a remote store. What is smaller as a whole goes in one request."""

PARTS_IN_FLIGHT = 4
"""Parts of one streamed put that are sent at a time; with `PART` this bounds the memory that a stream takes."""

MAX_STREAM = PART * 10_000
"""Bytes of a streamed put to a remote store, about 78 GiB: S3 takes 10,000 parts."""

MAX_PAGE = 10_000
"""Entries that a caller may ask for in one page of a listing."""

PAGE = 1_000
"""Entries in a page of a listing unless told otherwise: what S3 answers at a time."""

MAX_METADATA = 2 * 1024
"""Bytes of user metadata with its names and the content type: what S3 allows, and what a file's attribute holds."""

MAX_PRESIGNED = 7 * 24 * 3600
"""Seconds that a presigned URL may last: what S3 allows."""

DELETE_TRIES = 3
"""Times that a bulk delete is sent when its answer does not come: to delete again is harmless."""

CHUNK = 1024 * 1024
"""Bytes that a streamed read hands on at a time, at least, unless the object ends."""

INLINE_READ = 256 * 1024
"""Bytes that a read of a local file may have to be done in place: a copy from the page cache, cheaper than a thread."""

INLINE_WRITE = 64 * 1024
"""Bytes that are written to a file at once, where nobody waits for the disk: some 50 µs, for which a thread would take
as long again."""

CALLS = 32
"""Requests of one store at a time, a thread each."""

STREAMS = 32
"""Streamed puts of one store at a time, a thread each. Apart from `CALLS`, for a stream may be fed by a read."""
