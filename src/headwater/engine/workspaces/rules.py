"""What a bucket is told about workspaces: rules that expire what lies at a path, and a policy of who may write where.

Plain documents, as S3 takes them. They go by the names that `docs/workspaces.md` promises.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from headwater.blob import ExpiryRule
from headwater.blob.namespace import WORKSPACES
from headwater.engine.errors import BadRequest
from headwater.engine.workspaces.writing import MAX_TAGS, tags_of

Access: TypeAlias = Literal["read", "write"]

ANY_ID = f"{'?' * 12}-{'?' * 8}-{'?' * 64}"
"""An id, in the patterns of a policy, where `*` is any text: one in its place would go on into the path."""

MAX_RULE_ID = 255
"""Characters of the id of a rule: S3's."""

_ACTIONS: dict[Access, list[str]] = {
    "read": ["s3:GetObject"],
    "write": ["s3:PutObject", "s3:PutObjectTagging", "s3:DeleteObject", "s3:AbortMultipartUpload"],
}
_PATTERN = re.compile(r"(?P<path>[^*?\[]*)(?P<below>\*\*)?")


def expiry_rule(namespace: str, path: str, days: int) -> ExpiryRule:
    """The rule that expires objects at and below *path*, in all workspaces of a repository.

    It expires what is committed, too. It goes by tags, so only by what was written through Headwater. There is one for
    each path of a repository: its id tells both, where a bucket has several repositories.
    """
    _, prefix = _bucket(namespace)
    segments = [segment for segment in path.strip("/").split("/") if segment]
    tags = tags_of("/".join(segments))
    if not segments or len(tags) < len(segments):
        raise BadRequest(
            f"path {path!r} cannot be told by tags: it has 1 to {MAX_TAGS} names of letters, digits and ' .:/=+@_-'"
        )
    if days < 1:
        raise BadRequest(f"{days} days: a rule expires objects after a day at least")
    where = f"{prefix}{WORKSPACES}"
    told = f"{where} {'/'.join(segments)}"
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    return ExpiryRule(f"headwater {digest} {'/'.join(segments)}"[:MAX_RULE_ID], where, tags, days)


def as_document(rule: ExpiryRule) -> dict[str, Any]:
    """*rule* alone as a lifecycle configuration, as S3's own tools take it."""
    tags = [{"Key": key, "Value": value} for key, value in rule.tags.items()]
    told = {
        "ID": rule.id,
        "Status": "Enabled",
        "Filter": {"And": {"Prefix": rule.prefix, "Tags": tags}},
        "Expiration": {"Days": rule.days},
    }
    return {"Rules": [told]}


def bucket_policy(namespace: str, principal: str, allowed: Sequence[tuple[Access, str]]) -> dict[str, Any]:
    """The policy that lets *principal* read or write paths in any workspace of a repository, and no others."""
    bucket, prefix = _bucket(namespace)
    if not allowed:
        raise BadRequest("say what is allowed, as in --allow write 'a/**'")
    statements: list[dict[str, Any]] = []
    for access, pattern in allowed:
        path = _resource(pattern)
        places = [f"{WORKSPACES}{ANY_ID}/{path}", f"{WORKSPACES}{ANY_ID}.gone/{path}"]
        statements.append(
            {
                "Effect": "Allow",
                "Principal": {"AWS": principal},
                "Action": _ACTIONS[access],
                "Resource": [f"arn:aws:s3:::{bucket}/{prefix}{place}" for place in places],
            }
        )
    return {"Version": "2012-10-17", "Statement": statements}


def _resource(pattern: str) -> str:
    """*pattern* as a policy says it. Only what it can say exactly: in a policy, `*` goes beyond a slash."""
    found = _PATTERN.fullmatch(pattern)
    whole = found is not None and (not found["below"] or found["path"].endswith("/") or not found["path"])
    if found is None or not whole or not pattern:
        raise BadRequest(f"pattern {pattern!r}: a policy can tell a path, as a/b, and all below one, as a/**")
    return found["path"] + ("*" if found["below"] else "")


def _bucket(namespace: str) -> tuple[str, str]:
    """The bucket of a repository, and what the names of its objects there begin with."""
    parts = urlsplit(namespace)
    if parts.scheme != "s3":
        raise BadRequest(f"{namespace.partition('?')[0]}: rules and policies of buckets are for S3")
    prefix = parts.path.strip("/")
    return parts.netloc, f"{prefix}/" if prefix else ""
