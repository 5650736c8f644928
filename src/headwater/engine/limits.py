"""Every limit of the engine, each with its reason."""

from __future__ import annotations

MAX_PATH = 1022
"""Bytes of a path: with the two that say which key space it is in, a key has 1,024, which every store takes."""

MAX_JOURNALED = 989
"""Bytes of a path in an append repository: what is staged there has a NUL and a stamp of 32 behind its path."""

MAX_PAGE = 1000
"""Entries, changes or references that one page holds, and what it holds unless told otherwise: an answer that is quick
to make, to send and to read."""

MAX_DELETES = 10_000
"""Paths that one call deletes: one bulk call of the key-value layer."""

WAITING = 1000
"""Commits and merges that may wait for one branch in one process. More would wait for longer than any client does."""

INDEX_CACHE = 48 * 1024 * 1024
"""Bytes of indexes of commits that are kept for one repository: some 50,000 small ones, 200 whose deltas are full."""

INDEX_SIZE = 1000
"""Bytes that an index takes in memory without its delta."""

DECODED = 8
"""Times the memory that a delta takes which was decoded, beside its bytes."""

OWN_KEYS = 16 * 1024 * 1024
"""Bytes of keys that commits changed, which are kept for one repository: those of some 40,000 commits of one file."""

OWN_KEYS_SIZE = 200
"""Bytes that a key among them takes, and a commit."""

LOG_CACHE = 1 << 20
"""Bytes of the reference log that are kept in memory: its newest commits, for the next one to be made on top."""

NAMESPACE_ID = 16
"""Bytes of a repository's id, which its partition is named by: a name that comes back is another repository."""

MAX_METADATA = 64 * 1024
"""Bytes of a repository's metadata, names and values: its record is read for every request."""

MAX_PENDING = 32
"""Changes of references that may be under way at once. They pile up only if clients crash; then they are settled."""

PATIENCE = 10.0
"""Seconds after which a change of a reference that is still under way is settled by whoever comes next, be it about
another reference: longer than any change takes. One that took longer would be undone and made again, nothing worse."""

IMPORT_STEP = 1 << 20
"""Entries that an import applies at a time: with the longest paths, half of what one Arrow array of text can hold."""

MAX_IMPORT = 1 << 24
"""Entries of one import: all of them are in memory at once, some 300 bytes each."""

STATS_TOGETHER = 16
"""Objects to import that their stores are asked about at a time: enough to hide the latency of one."""

DUMP_BATCH = 1000
"""Commits of a dump that are read or written in one trip: the more trips, the less of a stalled one is lost."""

DUMP_PART = 8 * 1024 * 1024
"""Bytes from which on a part of a dump is full: what a request to an object store is worth, and little memory."""

COMPACT_AFTER = 20_000
"""Staged entries that one page of a listing may pass over before the branch is compacted: ten times what a page of new
entries reads, and some 50 ms."""

INLINE_BLOCKS = 16
"""Blocks of a growing file that its entry has itself, and lists of each level: with more an entry would be large in
every commit that appends, with fewer a list would be written for too few."""

LISTED_BLOCKS = 1024
"""Blocks of one list: some 90 KB, which is read and checked in a millisecond."""

BLOCK_LISTS = 16 * 1024 * 1024
"""Bytes of lists of blocks that are kept in memory: those of some 200,000 appends."""

PATTERN_PARTS = 64
"""Parts of a pattern: deeper than any directory, and few enough to be looked into one below the other."""

LISTED_TOGETHER = 16
"""Parts that a listing of a workspace is shared out in: a million objects are a thousand pages, one after the other."""

LISTED_DEPTH = 16
"""Directories with nothing beside them that are gone down to find where a listing can be shared out."""

PARTIAL_COMMITS = 100
"""Commits of parts of one workspace: who reads it looks at each, for what of it is committed already."""

COMMITTING = 900_000
"""Milliseconds after which a commit of a workspace is taken for given up, and another may be begun: longer than one of
ten million objects takes."""

HOLD = 5.0
"""Seconds in which a copy reads its source and notes what it holds; else it begins anew. Twice as long is between the
two looks that garbage collection takes at least: a copy that the first one missed is noted by the second."""

MIN_PART = 5 * 1024 * 1024
"""Bytes of a part of an upload at least, unless it is the last: S3's, so that an object has few blocks."""

MAX_BLOCKS = 256
"""Blocks of an object that its entry has itself: some 20 KB in every listing of the index. More go to lists."""

LISTED_NAME = 981
"""Bytes of the name of an open upload that are in the key of its record for listings: with what stands before and
behind them, a key has 1,024."""

UPLOADS_PAGE = 50
"""Open uploads that are read at a time where most of them may lie behind one delimiter."""

UPLOADS_SWEPT = 100
"""Ended uploads of long ago that are forgotten when another one ends: more than end meanwhile."""

EMPTY_TRIES = 8
"""Times that a commit begins anew because commits of other processes took along what was staged."""

MAX_TREE_FILE = 256 * 1024 * 1024
"""Bytes of a tree that somebody else wrote: that of some ten thousand million entries."""

MAX_SEGMENT_FILE = 128 * 1024 * 1024
"""Bytes of a segment that somebody else wrote: twice the weight that segments may have."""

MAX_TIME = 253_402_300_799_999
"""Milliseconds since 1970 at the end of the year 9999: what dates can be told of."""

NOTED_TOGETHER = 10_000
"""Notes of copies that are written at once: a megabyte."""
