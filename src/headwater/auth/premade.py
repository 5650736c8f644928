"""The policies and groups that every installation begins with: those that lakeFS documents, under the same names.

Where its own leave out what came later (pull requests, branch protection), they are put to the policies that they
belong to by their kind: `docs/iam.md` has the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from headwater.auth.policy.statement import Statement
from headwater.auth.resources import EVERYTHING

ADMINS: Final = "Admins"


def _allow(*actions: str, resource: str = EVERYTHING) -> Statement:
    return Statement("allow", actions, resource)


POLICIES: Final[Mapping[str, tuple[Statement, ...]]] = MappingProxyType(
    {
        "FSFullAccess": (_allow("fs:*"), _allow("pr:*")),
        "FSReadWriteAll": (
            _allow(
                "fs:Read*",
                "fs:List*",
                "fs:WriteObject",
                "fs:DeleteObject",
                "fs:RevertBranch",
                "fs:CreateBranch",
                "fs:DeleteBranch",
                "fs:CreateTag",
                "fs:DeleteTag",
                "fs:CreateCommit",
                "fs:CreateMetaRange",
            ),
            _allow("pr:*"),
        ),
        "FSReadAll": (_allow("fs:Read*", "fs:List*"), _allow("pr:Read*", "pr:List*")),
        "RepoManagementFullAccess": (_allow("ci:*"), _allow("retention:*"), _allow("branches:*")),
        "RepoManagementReadAll": (_allow("ci:Read*"), _allow("retention:Get*"), _allow("branches:Get*")),
        "AuthFullAccess": (_allow("auth:*"),),
        "AuthManageOwnCredentials": (
            _allow(
                "auth:CreateCredentials",
                "auth:DeleteCredentials",
                "auth:ListCredentials",
                "auth:ReadCredentials",
                resource="arn:lakefs:auth:::user/${user}",
            ),
        ),
    }
)

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        ADMINS: ("FSFullAccess", "AuthFullAccess", "RepoManagementFullAccess"),
        "SuperUsers": ("FSFullAccess", "AuthManageOwnCredentials", "RepoManagementReadAll"),
        "Developers": ("FSReadWriteAll", "AuthManageOwnCredentials", "RepoManagementReadAll"),
        "Viewers": ("FSReadAll", "AuthManageOwnCredentials"),
    }
)
"""By name, the policies that are attached to each."""
