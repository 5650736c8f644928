"""What may be done, by its name, and what a request needs to be allowed, as plain data.

The names are those of lakeFS, so that its policies mean the same here. An operation says what it needs once, as a
value: `all_of(Permission(CREATE_REPOSITORY, repository(name)), Permission(ATTACH_STORAGE_NAMESPACE, namespace(uri)))`.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

LIST_REPOSITORIES: Final = "fs:ListRepositories"
CREATE_REPOSITORY: Final = "fs:CreateRepository"
READ_REPOSITORY: Final = "fs:ReadRepository"
UPDATE_REPOSITORY: Final = "fs:UpdateRepository"
DELETE_REPOSITORY: Final = "fs:DeleteRepository"
ATTACH_STORAGE_NAMESPACE: Final = "fs:AttachStorageNamespace"
IMPORT_FROM_STORAGE: Final = "fs:ImportFromStorage"
IMPORT_CANCEL: Final = "fs:ImportCancel"
LIST_OBJECTS: Final = "fs:ListObjects"
READ_OBJECT: Final = "fs:ReadObject"
WRITE_OBJECT: Final = "fs:WriteObject"
DELETE_OBJECT: Final = "fs:DeleteObject"
LIST_BRANCHES: Final = "fs:ListBranches"
CREATE_BRANCH: Final = "fs:CreateBranch"
READ_BRANCH: Final = "fs:ReadBranch"
REVERT_BRANCH: Final = "fs:RevertBranch"
DELETE_BRANCH: Final = "fs:DeleteBranch"
CREATE_COMMIT: Final = "fs:CreateCommit"
READ_COMMIT: Final = "fs:ReadCommit"
LIST_COMMITS: Final = "fs:ListCommits"
CREATE_META_RANGE: Final = "fs:CreateMetaRange"
LIST_TAGS: Final = "fs:ListTags"
CREATE_TAG: Final = "fs:CreateTag"
READ_TAG: Final = "fs:ReadTag"
DELETE_TAG: Final = "fs:DeleteTag"
READ_CONFIG: Final = "fs:ReadConfig"

LIST_USERS: Final = "auth:ListUsers"
CREATE_USER: Final = "auth:CreateUser"
READ_USER: Final = "auth:ReadUser"
UPDATE_USER: Final = "auth:UpdateUser"
DELETE_USER: Final = "auth:DeleteUser"
LIST_GROUPS: Final = "auth:ListGroups"
CREATE_GROUP: Final = "auth:CreateGroup"
READ_GROUP: Final = "auth:ReadGroup"
UPDATE_GROUP: Final = "auth:UpdateGroup"
DELETE_GROUP: Final = "auth:DeleteGroup"
ADD_GROUP_MEMBER: Final = "auth:AddGroupMember"
REMOVE_GROUP_MEMBER: Final = "auth:RemoveGroupMember"
LIST_POLICIES: Final = "auth:ListPolicies"
CREATE_POLICY: Final = "auth:CreatePolicy"
READ_POLICY: Final = "auth:ReadPolicy"
UPDATE_POLICY: Final = "auth:UpdatePolicy"
DELETE_POLICY: Final = "auth:DeletePolicy"
ATTACH_POLICY: Final = "auth:AttachPolicy"
DETACH_POLICY: Final = "auth:DetachPolicy"
LIST_CREDENTIALS: Final = "auth:ListCredentials"
CREATE_CREDENTIALS: Final = "auth:CreateCredentials"
READ_CREDENTIALS: Final = "auth:ReadCredentials"
DELETE_CREDENTIALS: Final = "auth:DeleteCredentials"

READ_ACTION: Final = "ci:ReadAction"

GET_GARBAGE_COLLECTION_RULES: Final = "retention:GetGarbageCollectionRules"
SET_GARBAGE_COLLECTION_RULES: Final = "retention:SetGarbageCollectionRules"
PREPARE_GARBAGE_COLLECTION_COMMITS: Final = "retention:PrepareGarbageCollectionCommits"
PREPARE_GARBAGE_COLLECTION_UNCOMMITTED: Final = "retention:PrepareGarbageCollectionUncommitted"
SWEEP_GARBAGE: Final = "retention:SweepGarbage"

GET_BRANCH_PROTECTION_RULES: Final = "branches:GetBranchProtectionRules"
SET_BRANCH_PROTECTION_RULES: Final = "branches:SetBranchProtectionRules"

LIST_PULL_REQUESTS: Final = "pr:ListPullRequests"
READ_PULL_REQUEST: Final = "pr:ReadPullRequest"
WRITE_PULL_REQUEST: Final = "pr:WritePullRequest"

ACTIONS: Final = frozenset(
    value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
)
"""Every action that something may need. What a policy says of others has no effect."""


class Permission(msgspec.Struct, frozen=True):
    """To do *action* to *resource*, which is named in full: a `*` in it is a `*`."""

    action: str
    resource: str


class AllOf(msgspec.Struct, frozen=True):
    """Every one of *parts*. With no parts it is always met: for what anyone who is known may do."""

    parts: tuple[Requirement, ...]


class AnyOf(msgspec.Struct, frozen=True):
    """At least one of *parts*. With no parts it is never met."""

    parts: tuple[Requirement, ...]


Requirement: TypeAlias = Permission | AllOf | AnyOf
"""What a request needs to be allowed."""

NOTHING: Final = AllOf(())
"""What needs no permission, only to be known."""


def all_of(*parts: Requirement) -> AllOf:
    return AllOf(parts)


def any_of(*parts: Requirement) -> AnyOf:
    return AnyOf(parts)
