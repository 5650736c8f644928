"""Every limit of signed requests, each with its reason."""

from __future__ import annotations

SKEW = 15 * 60
"""Seconds by which a client's clock may be off: S3's."""

MAX_EXPIRES = 7 * 24 * 3600
"""Seconds for which a request may be presigned: S3's, a week."""

MAX_AUTHORIZATION = 8192
"""Characters of an `Authorization` header that are looked at."""

MAX_SIGNED_HEADERS = 100
"""Headers that one signature covers."""

MAX_PARAMETERS = 200
"""Parameters of the query of a signed request: it is sorted."""

SIGNING_KEYS = 10_000
"""Signing keys that are remembered, of one day, region, service and access key each: a few hundred bytes."""

MAX_CHUNK_LINE = 512
"""Bytes of the line ahead of a chunk: its length in hex and its signature are some 100."""

MAX_TRAILERS = 16 * 1024
"""Bytes of all that follows the last chunk: a checksum and a signature are some 200."""

MAX_BODY = 5 << 40
"""Bytes of a body: the largest object of S3, so that no length overflows what counts it."""
