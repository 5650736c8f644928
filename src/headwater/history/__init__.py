"""Commits, the clocks that place them, and every question about their ancestry: `docs/history.md`."""

from headwater.history.ancestry import is_ancestor, merge_base, merge_bases
from headwater.history.clock import Clock, Component
from headwater.history.commit import Commit
from headwater.history.commits import CommitStore
from headwater.history.errors import (
    AmbiguousPrefix,
    BadCursor,
    BadExpression,
    BadName,
    CommitNotFound,
    CorruptClock,
    CorruptRecord,
    HistoryError,
    InvalidRecord,
    LimitExceeded,
    NoSuchAncestor,
    NotAnAncestor,
    NotFound,
    UnknownFormat,
)
from headwater.history.expression import Expression, parse, resolve
from headwater.history.frontier import all_parents, first_parent, newest_first
from headwater.history.lineage import as_of, between, has_landed, is_first_parent_ancestor, nth_ancestor
from headwater.history.log import LogPage, Touched, log
from headwater.history.names import check_name, check_repository_name, is_name, is_repository_name
from headwater.history.signature import Signature, Verification, key_id, public_key, sign, verify, verify_any
from headwater.history.tag import Tag

__all__ = [
    "AmbiguousPrefix",
    "BadCursor",
    "BadExpression",
    "BadName",
    "Clock",
    "Commit",
    "CommitNotFound",
    "CommitStore",
    "Component",
    "CorruptClock",
    "CorruptRecord",
    "Expression",
    "HistoryError",
    "InvalidRecord",
    "LimitExceeded",
    "LogPage",
    "NoSuchAncestor",
    "NotAnAncestor",
    "NotFound",
    "Signature",
    "Tag",
    "Touched",
    "UnknownFormat",
    "Verification",
    "all_parents",
    "as_of",
    "between",
    "check_name",
    "check_repository_name",
    "first_parent",
    "has_landed",
    "is_ancestor",
    "is_first_parent_ancestor",
    "is_name",
    "is_repository_name",
    "key_id",
    "log",
    "merge_base",
    "merge_bases",
    "newest_first",
    "nth_ancestor",
    "parse",
    "public_key",
    "resolve",
    "sign",
    "verify",
    "verify_any",
]
