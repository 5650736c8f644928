"""Policies: made, listed, changed, deleted."""

from __future__ import annotations

import msgspec

from headwater.auth import Statement
from headwater.server.api.answers import Page, PageQuery
from headwater.server.api.auth.answers import POLICY, Policy, listed, policy_answer, window_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import ALL, Group, Needs, needs

group = Group("auth")


class PolicyCreation(msgspec.Struct, frozen=True):
    """What a policy is to say. Of a change, the *id* is that of the path; *creation_date* is passed over."""

    statement: list[Statement]
    id: str = ""
    creation_date: int | None = None


@group.operation("GET", "/auth/policies", "listPolicies", needs("auth:ListPolicies", ALL))
async def list_policies(call: Call, query: PageQuery) -> Page[Policy]:
    """List policies"""
    return listed(await call.services.auth.policies.list(window_of(query)), policy_answer)


@group.operation(
    "POST",
    "/auth/policies",
    "createPolicy",
    (Needs("auth:CreatePolicy", "arn:lakefs:auth:::policy/{body.id}"),),
    status=201,
)
async def create_policy(call: Call, body: PolicyCreation) -> Policy:
    """Make a policy, which does nothing until it is attached"""
    return policy_answer(await call.services.auth.policies.create(body.id, body.statement))


@group.operation("GET", "/auth/policies/{policyId}", "getPolicy", needs("auth:ReadPolicy", POLICY))
async def get_policy(call: Call) -> Policy:
    """A policy"""
    return policy_answer(await call.services.auth.policies.get(call["policyId"]))


@group.operation("PUT", "/auth/policies/{policyId}", "updatePolicy", needs("auth:UpdatePolicy", POLICY))
async def update_policy(call: Call, body: PolicyCreation) -> Policy:
    """Let a policy say something else, wherever it is attached"""
    return policy_answer(await call.services.auth.policies.update(call["policyId"], body.statement))


@group.operation("DELETE", "/auth/policies/{policyId}", "deletePolicy", needs("auth:DeletePolicy", POLICY), status=204)
async def delete_policy(call: Call) -> None:
    """Delete a policy, and detach it first wherever it is attached"""
    await call.services.auth.policies.delete(call["policyId"])
