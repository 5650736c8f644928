"""Every limit of the pipeline, each with its reason."""

from __future__ import annotations

LISTED_KEYS = 1000
"""Keys that are kept out of a scan by a list in its filter, which costs no join; more are joined away."""

ROWS_A_TASK = 250_000
"""Entries that a task makes segments of: some 40 of them, so that the seams, which the driver mends, are few."""

BATCH_ROWS = 16_384
"""Rows of an Arrow batch between the JVM and Python: a few megabytes of entries."""

MAX_FILES = 1_000_000
"""Files of one write: the driver lists them, some 300 bytes each, and commits them as entries."""

STREAM_HISTORY = 10_000
"""Commits that are looked through for the last micro-batch of a stream: what others committed since it stopped."""

SAMPLE = 100
"""Entries that a summary shows of what it found."""

SIDE_BY_SIDE = 16
"""Objects that one task asks for, reads or copies at a time: enough to hide the latency of an object store."""

SEGMENTS_A_TASK = 64
"""Segments that one task of the data source reads: some 400,000 entries, a second of work."""

LISTED_AT_ONCE = 8
"""Tasks a core that ask for the files of segments: a request each, some dozens a second."""

LOCAL_FILES = 10_000
"""Segments in a directory that the driver looks for itself: it takes less than starting tasks does."""

PRESIGNED_TASKS = 1000
"""Tasks of a read by presigned URLs, at most: with more files a task reads several, one after the other."""

PACE = 10.0
"""Seconds' worth of objects that a sweep with a rate deletes at a time: it is even, and ends when it is to."""

COMPARED = 32
"""Segments, of both sides together, that are compared at a time: some 100,000 rows of each, and tens of megabytes."""
