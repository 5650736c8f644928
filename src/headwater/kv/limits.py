"""Every limit of the key-value layer, each with its reason.

They are a contract in both directions: a caller may use all of it, a driver may count on no more. A driver whose
database has a tighter limit raises `LimitExceeded` naming that limit.
"""

from __future__ import annotations

MAX_KEY = 1024
"""Bytes of a key: what S3 allows the name of an object to be, so that any object's name can be a key."""

MAX_VALUE = 400 * 1024
"""Bytes of a value: about what DynamoDB allows an item to be. What is larger belongs in the object store."""

MAX_PARTITION = 255
"""Bytes of a partition's name: a repository's name and an id; with the tenant it fits every database's index."""

MAX_TENANT = 63
"""Characters of a tenant's name: what a DNS label allows, which is what such names are usually taken from."""

MAX_BULK = 10_000
"""Keys, values or operations in one bulk call: what fits into memory at once even when each value is large-ish."""

MAX_PAGE = 10_000
"""Entries that a caller may ask for in one page of a scan."""

PAGE = 1_000
"""Entries in a page of a scan unless told otherwise: a listing's worth, and what most databases answer in one go."""
