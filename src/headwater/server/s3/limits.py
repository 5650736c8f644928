"""Every limit of the S3 gateway, each with its reason."""

from __future__ import annotations

MAX_KEY = 1024
"""Bytes of a key, the reference and the slash included: S3's."""

MAX_DOCUMENT = 4 * 1024 * 1024
"""Bytes of an XML document in a request: 10,000 parts with the longest checksums, or 1,000 of the longest keys."""

MAX_KEYS = 1000
"""Keys of a page, and of one DeleteObjects: S3's."""

MAX_USER_METADATA = 2048
"""Bytes of all names and values of an object's user metadata: S3's."""

MAX_HEADER = 1024
"""Characters of a content header that is kept with an object: it is in every listing of the index."""

MAX_TAGS = 10
MAX_TAG_KEY = 128
MAX_TAG_VALUE = 256
"""Tags of an object, and characters of one: S3's."""

MAX_BUCKETS = 9_999
"""Buckets of a page of ListBuckets: S3's 10,000, less the one that is read to know whether there are more."""

GATHERED = 1024 * 1024
"""Bytes of a body that are read before anything is written: one call of the store, and no thread waits for a client."""

TOGETHER = 16
"""Conditional deletes of one DeleteObjects under way at a time."""

MAX_PART = 10_000
"""The number of a part at most, and how many parts an object has: S3's."""

MAX_PART_CHECKSUMS = 64 * 1024
"""Characters of all checksums of an object's parts together that are kept with it: an entry is not to grow large."""
