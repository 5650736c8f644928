"""Every limit of the index, each with its reason. Measurements are in `docs/index.md`."""

from __future__ import annotations

MAX_KEY = 1024
"""Bytes of a key, the two of its key space included: what the key-value layer takes, for staged entries live there."""

MAX_EDIT = 400 * 1024
"""Bytes of an entry in its staged form: what a value of the key-value layer may have."""

MAX_DELTA = 32 * 1024
"""Bytes of a delta, both parts together. Beyond it the delta is spilled into a tree.

Some 220 changes with keys of 90 bytes: to decode them costs a lookup less than to decode a segment, and a commit stays
one small write.
"""

MAX_BULK = 1 << 24
"""Edits that are applied at once: with keys of 100 bytes, about 4 GB in memory. More are applied in several steps."""

BULK = 2_000
"""Keys from which on they are compared with a tree in bulk, segment by segment, and not one by one."""

PAGE = 1_000
"""Entries in a page of a listing or diff unless told otherwise: a listing's worth."""

MAX_PAGE = 10_000
"""Entries that a caller may ask for in one page."""

MIN_ROWS = 2_048
"""Rows that a segment has at least, unless it is the last one or heavy: what a request to an object store is worth."""

CUT_BITS = 12
"""Low bits of a key's hash that are zero where a segment may end: every 4,096 rows on average, after `MIN_ROWS`.

A mean of 6,144 rows: a cold lookup decodes 2 ms worth of Parquet; a full delta of keys all over the repository rewrites
about 1.3 M rows; a thousand million entries are 163,000 segments, and their tree is 15 MB.
"""

MAX_ROWS = 32_768
"""Rows that a segment has at most: 1 in 1,800 segments would have more."""

MAX_WEIGHT = 64 * 1024 * 1024
"""Weight of a segment at most (see `boundaries`), so that a segment of large payloads fits into memory many times."""

BLOCK_WEIGHT = 64
"""What a block weighs in bytes: two numbers, and an address that compresses."""

SLOT = 64
"""Rows between two keys that a segment in use keeps in memory: 1.5 % of the keys, and six steps left to search."""

TOGETHER = 16
"""Segments that are read or written at a time: enough to hide the latency of an object store."""

ASIDE = 20_000
"""Rows from which on work on them goes to a thread under an event loop: less than that is a few milliseconds."""

CACHE_BYTES = 4 * 1024**3
"""Bytes of decoded segments in a cache directory unless told otherwise: some 20 million entries."""

CACHE_MEMORY = 256 * 1024**2
"""Bytes of decoded segments in memory where there is no cache directory, unless told otherwise."""

MAPPED_WEIGHT = 16 * 1024
"""Bytes of memory that an open mapped segment counts for: its sparse keys, and the objects around them."""

MAPPED_RESIDENT = 128 * 1024**2
"""Bytes of mapped segments whose pages a process keeps as its own. Those of others come back from the system's cache of
files, a microsecond a page."""

OPEN_TREES = 64
"""Trees that a process keeps: those of the branches in use, and of their last few spills."""

KEPT_ON_WRITE = 50_000
"""Edits of one write whose segments go to the cache right away: those of a spill or a commit, not of a large import."""

LISTED_STRIPES = 512
"""Segments of a tree up to which their keys are kept as objects: some 3 million entries, and 200 KB of memory. Every
lookup begins with a search in them, which then takes a fifth of the time."""

FIRST_STEP = 16
"""Entries that a listing with a delimiter reads first. It reads more at a time the longer nothing is rolled up."""

SEEK_STEP = 2
"""Entries that it reads after a seek past a common prefix: most likely the next one begins right there."""

MAX_CONFLICTS = 1_000
"""Conflicts that a merge reports one by one. It counts all of them."""
