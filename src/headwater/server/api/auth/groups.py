"""Groups: made, listed, deleted; their members and policies."""

from __future__ import annotations

import msgspec

from headwater.server.api.answers import Page, PageQuery
from headwater.server.api.auth.answers import (
    GROUP,
    Group,
    Policy,
    User,
    group_answer,
    listed,
    policy_answer,
    user_answer,
    window_of,
)
from headwater.server.api.calling import Call
from headwater.server.api.operation import ALL, Needs, needs
from headwater.server.api.operation import Group as Operations

group = Operations("auth")


class GroupCreation(msgspec.Struct, frozen=True):
    """A group to be."""

    id: str
    description: str | None = None


@group.operation("GET", "/auth/groups", "listGroups", needs("auth:ListGroups", ALL))
async def list_groups(call: Call, query: PageQuery) -> Page[Group]:
    """List groups"""
    return listed(await call.services.auth.groups.list(window_of(query)), group_answer)


@group.operation(
    "POST",
    "/auth/groups",
    "createGroup",
    (Needs("auth:CreateGroup", "arn:lakefs:auth:::group/{body.id}"),),
    status=201,
)
async def create_group(call: Call, body: GroupCreation) -> Group:
    """Make a group, which has no members and no policies yet"""
    return group_answer(await call.services.auth.groups.create(body.id, description=body.description))


@group.operation("GET", "/auth/groups/{groupId}", "getGroup", needs("auth:ReadGroup", GROUP))
async def get_group(call: Call) -> Group:
    """A group"""
    return group_answer(await call.services.auth.groups.get(call["groupId"]))


@group.operation("DELETE", "/auth/groups/{groupId}", "deleteGroup", needs("auth:DeleteGroup", GROUP), status=204)
async def delete_group(call: Call) -> None:
    """Delete a group; its members and policies stay"""
    await call.services.auth.groups.delete(call["groupId"])


@group.operation("GET", "/auth/groups/{groupId}/members", "listGroupMembers", needs("auth:ReadGroup", GROUP))
async def list_group_members(call: Call, query: PageQuery) -> Page[User]:
    """List the members of a group"""
    return listed(await call.services.auth.memberships.users_of(call["groupId"], window_of(query)), user_answer)


@group.operation(
    "PUT",
    "/auth/groups/{groupId}/members/{userId}",
    "addGroupMembership",
    needs("auth:AddGroupMember", GROUP),
    status=201,
)
async def add_group_membership(call: Call) -> None:
    """Put a user into a group"""
    await call.services.auth.memberships.add(call["groupId"], call["userId"])


@group.operation(
    "DELETE",
    "/auth/groups/{groupId}/members/{userId}",
    "deleteGroupMembership",
    needs("auth:RemoveGroupMember", GROUP),
    status=204,
)
async def delete_group_membership(call: Call) -> None:
    """Take a user out of a group"""
    await call.services.auth.memberships.remove(call["groupId"], call["userId"])


@group.operation("GET", "/auth/groups/{groupId}/policies", "listGroupPolicies", needs("auth:ReadGroup", GROUP))
async def list_group_policies(call: Call, query: PageQuery) -> Page[Policy]:
    """List the policies of a group"""
    return listed(await call.services.auth.attachments.of_group(call["groupId"], window_of(query)), policy_answer)


@group.operation(
    "PUT",
    "/auth/groups/{groupId}/policies/{policyId}",
    "attachPolicyToGroup",
    needs("auth:AttachPolicy", GROUP),
    status=201,
)
async def attach_policy_to_group(call: Call) -> None:
    """Let a policy apply to the members of a group"""
    await call.services.auth.attachments.attach_to_group(call["policyId"], call["groupId"])


@group.operation(
    "DELETE",
    "/auth/groups/{groupId}/policies/{policyId}",
    "detachPolicyFromGroup",
    needs("auth:DetachPolicy", GROUP),
    status=204,
)
async def detach_policy_from_group(call: Call) -> None:
    """Let a policy apply to the members of a group no more"""
    await call.services.auth.attachments.detach_from_group(call["policyId"], call["groupId"])
