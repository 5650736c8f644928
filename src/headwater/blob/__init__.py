"""The object layer: one small interface over a local directory, memory, S3 and its kin, Google and Azure.

    async with await blob.open("s3://bucket/lake?region=eu-west-1") as store:
        stored = await store.put("report.csv", b"a,b\\n")

`docs/blob.md` says what a store promises, how to reach each kind, and how a repository is laid out in one.
"""

from headwater.blob.errors import (
    BadName,
    BlobError,
    BlobUnavailable,
    CannotOpen,
    ConditionFailed,
    LimitExceeded,
    NotFound,
    NotSupported,
    OutcomeUnknown,
    PermissionDenied,
    RangeNotSatisfiable,
    RejectedParts,
    SlowDown,
)
from headwater.blob.expiry import Expiry, ExpiryRule, RuleSet
from headwater.blob.multipart import Multipart, Part
from headwater.blob.opening import open, open_location  # noqa: A004  (reads `blob.open`)
from headwater.blob.store import (
    ANY,
    IF_ABSENT,
    Blob,
    BlobStore,
    Body,
    Condition,
    Fetched,
    IfMatch,
    Listed,
    Method,
    Prefix,
    Stat,
    Stored,
)

__all__ = [
    "ANY",
    "IF_ABSENT",
    "BadName",
    "Blob",
    "BlobError",
    "BlobStore",
    "BlobUnavailable",
    "Body",
    "CannotOpen",
    "Condition",
    "ConditionFailed",
    "Expiry",
    "ExpiryRule",
    "Fetched",
    "IfMatch",
    "LimitExceeded",
    "Listed",
    "Method",
    "Multipart",
    "NotFound",
    "NotSupported",
    "OutcomeUnknown",
    "Part",
    "PermissionDenied",
    "Prefix",
    "RangeNotSatisfiable",
    "RejectedParts",
    "RuleSet",
    "SlowDown",
    "Stat",
    "Stored",
    "open",
    "open_location",
]
