"""What is set of a repository: protected branches, how long what is kept, and its metadata."""

from __future__ import annotations

import msgspec

from headwater.garbage import RetentionRule, RetentionRules
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, needs
from headwater.server.protection import BranchRule, ProtectionRules, RuleNotFound

group = Group("repositories")
internal = Group("internal")


class GarbageCollectionRules(msgspec.Struct, frozen=True):
    """For how many days what a branch once held is kept, unless a rule for the branch says otherwise."""

    default_retention_days: int
    branches: list[RetentionRule] = []


class RepositoryMetadataSet(msgspec.Struct, frozen=True):
    """Metadata to set; what else there is stays."""

    metadata: dict[str, str]


class RepositoryMetadataKeys(msgspec.Struct, frozen=True):
    """Metadata to delete, by name."""

    keys: list[str]


class RuleDeletion(msgspec.Struct, frozen=True):
    """Which rule is to go."""

    pattern: str


@group.operation(
    "GET",
    "/repositories/{repository}/settings/branch_protection",
    "getBranchProtectionRules",
    needs("branches:GetBranchProtectionRules", REPOSITORY),
)
async def get_branch_protection_rules(call: Call) -> list[BranchRule]:
    """Which branches are protected. The ETag names this version of the rules"""
    found = await call.services.rules.protection(await call.repository())
    call.headers.append((b"etag", f'"{found.etag}"'.encode()))
    return list((found.rules or ProtectionRules()).rules)


@group.operation(
    "PUT",
    "/repositories/{repository}/settings/branch_protection",
    "setBranchProtectionRules",
    needs("branches:SetBranchProtectionRules", REPOSITORY),
    status=204,
)
async def set_branch_protection_rules(call: Call, body: list[BranchRule]) -> None:
    """Replace the rules; with If-Match, if they are still those"""
    if_match = call.request.header("if-match")
    repository = await call.repository()
    expected = None if if_match is None else if_match.strip().strip('"')
    await call.services.rules.set_protection(repository, ProtectionRules(tuple(body)), expected)


@internal.operation(
    "GET",
    "/repositories/{repository}/branch_protection",
    "internalGetBranchProtectionRules",
    needs("branches:GetBranchProtectionRules", REPOSITORY),
)
async def get_rules(call: Call) -> list[BranchRule]:
    """Which branches are protected"""
    return await get_branch_protection_rules(call)


@internal.operation(
    "POST",
    "/repositories/{repository}/branch_protection",
    "internalCreateBranchProtectionRule",
    needs("branches:SetBranchProtectionRules", REPOSITORY),
    status=204,
)
async def create_rule(call: Call, body: BranchRule) -> None:
    """Add a rule; content if there is one for that pattern"""
    repository, rules = await call.repository(), call.services.rules
    await rules.change_protection(repository, lambda known: known if body in known else (*known, body))


@internal.operation(
    "DELETE",
    "/repositories/{repository}/branch_protection",
    "internalDeleteBranchProtectionRule",
    needs("branches:SetBranchProtectionRules", REPOSITORY),
    status=204,
)
async def delete_rule(call: Call, body: RuleDeletion) -> None:
    """Delete a rule"""
    repository, rules = await call.repository(), call.services.rules

    def without(known: tuple[BranchRule, ...]) -> tuple[BranchRule, ...]:
        if all(rule.pattern != body.pattern for rule in known):
            raise RuleNotFound(f"no rule of {repository.name!r} has the pattern {body.pattern[:300]!r}")
        return tuple(rule for rule in known if rule.pattern != body.pattern)

    await rules.change_protection(repository, without)


@internal.operation(
    "GET",
    "/repositories/{repository}/branch_protection/set_allowed",
    "createBranchProtectionRulePreflight",
    needs("branches:SetBranchProtectionRules", REPOSITORY),
    status=204,
)
async def may_set_rules(call: Call) -> None:
    """Whether the caller may protect branches"""
    await call.repository()


@group.operation(
    "GET",
    "/repositories/{repository}/settings/gc_rules",
    "getGCRules",
    needs("retention:GetGarbageCollectionRules", REPOSITORY),
)
async def get_gc_rules(call: Call) -> GarbageCollectionRules:
    """For how long what is kept; not found, if everything is"""
    repository = await call.repository()
    rules = (await call.services.rules.retention(repository)).rules
    if rules is None:
        raise RuleNotFound(f"repository {repository.name!r} has no rules of retention: everything is kept")
    return GarbageCollectionRules(rules.default_retention_days, list(rules.branches))


@group.operation(
    "PUT",
    "/repositories/{repository}/settings/gc_rules",
    "setGCRules",
    needs("retention:SetGarbageCollectionRules", REPOSITORY),
    status=204,
)
async def set_gc_rules(call: Call, body: GarbageCollectionRules) -> None:
    """Replace for how long what is kept"""
    rules = RetentionRules(body.default_retention_days, tuple(body.branches))
    await call.services.rules.set_retention(await call.repository(), rules)


@group.operation(
    "DELETE",
    "/repositories/{repository}/settings/gc_rules",
    "deleteGCRules",
    needs("retention:SetGarbageCollectionRules", REPOSITORY),
    status=204,
)
async def delete_gc_rules(call: Call) -> None:
    """Keep everything"""
    await call.services.rules.set_retention(await call.repository(), None)


@internal.operation(
    "GET",
    "/repositories/{repository}/gc/rules",
    "internalGetGarbageCollectionRules",
    needs("retention:GetGarbageCollectionRules", REPOSITORY),
)
async def internal_get_gc_rules(call: Call) -> GarbageCollectionRules:
    """The same as getGCRules"""
    return await get_gc_rules(call)


@internal.operation(
    "POST",
    "/repositories/{repository}/gc/rules",
    "internalSetGarbageCollectionRules",
    needs("retention:SetGarbageCollectionRules", REPOSITORY),
    status=204,
)
async def internal_set_gc_rules(call: Call, body: GarbageCollectionRules) -> None:
    """The same as setGCRules"""
    await set_gc_rules(call, body)


@internal.operation(
    "DELETE",
    "/repositories/{repository}/gc/rules",
    "internalDeleteGarbageCollectionRules",
    needs("retention:SetGarbageCollectionRules", REPOSITORY),
    status=204,
)
async def internal_delete_gc_rules(call: Call) -> None:
    """The same as deleteGCRules"""
    await delete_gc_rules(call)


@internal.operation(
    "GET",
    "/repositories/{repository}/gc/rules/set_allowed",
    "setGarbageCollectionRulesPreflight",
    needs("retention:SetGarbageCollectionRules", REPOSITORY),
    status=204,
)
async def may_set_gc_rules(call: Call) -> None:
    """Whether the caller may set for how long what is kept"""
    await call.repository()


@internal.operation(
    "POST",
    "/repositories/{repository}/metadata",
    "setRepositoryMetadata",
    needs("fs:UpdateRepository", REPOSITORY),
    status=204,
)
async def set_repository_metadata(call: Call, body: RepositoryMetadataSet) -> None:
    """Set some of the metadata of a repository"""
    name = call["repository"]
    await call.services.lake.change_metadata(name, lambda known: {**known, **body.metadata})
    call.services.repositories.forget(name)


@internal.operation(
    "DELETE",
    "/repositories/{repository}/metadata",
    "deleteRepositoryMetadata",
    needs("fs:UpdateRepository", REPOSITORY),
    status=204,
)
async def delete_repository_metadata(call: Call, body: RepositoryMetadataKeys) -> None:
    """Delete some of the metadata of a repository"""
    name, gone = call["repository"], set(body.keys)
    await call.services.lake.change_metadata(
        name, lambda known: {key: value for key, value in known.items() if key not in gone}
    )
    call.services.repositories.forget(name)
