"""Users: made, listed, deleted; their credentials, groups and policies."""

from __future__ import annotations

import msgspec

from headwater.server.api.answers import Page, PageQuery
from headwater.server.api.auth.answers import (
    USER,
    Credentials,
    CredentialsWithSecret,
    Group,
    Policy,
    User,
    credentials_answer,
    group_answer,
    listed,
    policy_answer,
    secret_answer,
    user_answer,
    window_of,
)
from headwater.server.api.calling import Call
from headwater.server.api.operation import ALL, Needs, needs
from headwater.server.api.operation import Group as Operations

group = Operations("auth")


class UserCreation(msgspec.Struct, frozen=True):
    """A user to be. Nobody is invited by mail here: *invite_user* is passed over."""

    id: str
    invite_user: bool = False


class UserPoliciesQuery(PageQuery, frozen=True):
    """Which page of policies: those of the user itself, or, *effective*, also those of its groups."""

    effective: bool = False


@group.operation("GET", "/auth/users", "listUsers", needs("auth:ListUsers", ALL))
async def list_users(call: Call, query: PageQuery) -> Page[User]:
    """List users"""
    return listed(await call.services.auth.users.list(window_of(query)), user_answer)


@group.operation(
    "POST", "/auth/users", "createUser", (Needs("auth:CreateUser", "arn:lakefs:auth:::user/{body.id}"),), status=201
)
async def create_user(call: Call, body: UserCreation) -> User:
    """Make a user, who has no credentials yet and may do nothing"""
    return user_answer(await call.services.auth.users.create(body.id))


@group.operation("GET", "/auth/users/{userId}", "getUser", needs("auth:ReadUser", USER))
async def get_user(call: Call) -> User:
    """A user"""
    return user_answer(await call.services.auth.users.get(call["userId"]))


@group.operation("DELETE", "/auth/users/{userId}", "deleteUser", needs("auth:DeleteUser", USER), status=204)
async def delete_user(call: Call) -> None:
    """Delete a user and its credentials"""
    await call.services.auth.users.delete(call["userId"])


@group.operation("GET", "/auth/users/{userId}/credentials", "listUserCredentials", needs("auth:ListCredentials", USER))
async def list_user_credentials(call: Call, query: PageQuery) -> Page[Credentials]:
    """List the credentials of a user, without their secrets"""
    user = await call.services.auth.users.get(call["userId"])
    return listed(await call.services.auth.credentials.list(user, window_of(query)), credentials_answer)


@group.operation(
    "POST",
    "/auth/users/{userId}/credentials",
    "createCredentials",
    needs("auth:CreateCredentials", USER),
    status=201,
)
async def create_credentials(call: Call) -> CredentialsWithSecret:
    """Make a credential. Its secret is shown this once"""
    user = await call.services.auth.users.get(call["userId"])
    return secret_answer(await call.services.auth.credentials.create(user))


@group.operation(
    "GET",
    "/auth/users/{userId}/credentials/{accessKeyId}",
    "getCredentials",
    needs("auth:ReadCredentials", USER),
)
async def get_credentials(call: Call) -> Credentials:
    """A credential of a user, without its secret"""
    user = await call.services.auth.users.get(call["userId"])
    return credentials_answer(await call.services.auth.credentials.get(user, call["accessKeyId"]))


@group.operation(
    "DELETE",
    "/auth/users/{userId}/credentials/{accessKeyId}",
    "deleteCredentials",
    needs("auth:DeleteCredentials", USER),
    status=204,
)
async def delete_credentials(call: Call) -> None:
    """Delete a credential of a user"""
    user = await call.services.auth.users.get(call["userId"])
    await call.services.auth.credentials.delete(user, call["accessKeyId"])


@group.operation("GET", "/auth/users/{userId}/groups", "listUserGroups", needs("auth:ReadUser", USER))
async def list_user_groups(call: Call, query: PageQuery) -> Page[Group]:
    """List the groups that a user is in"""
    return listed(await call.services.auth.memberships.groups_of(call["userId"], window_of(query)), group_answer)


@group.operation("GET", "/auth/users/{userId}/policies", "listUserPolicies", needs("auth:ReadUser", USER))
async def list_user_policies(call: Call, query: UserPoliciesQuery) -> Page[Policy]:
    """List the policies of a user"""
    attachments = call.services.auth.attachments
    of = attachments.effective_of_user if query.effective else attachments.of_user
    return listed(await of(call["userId"], window_of(query)), policy_answer)


@group.operation(
    "PUT",
    "/auth/users/{userId}/policies/{policyId}",
    "attachPolicyToUser",
    needs("auth:AttachPolicy", USER),
    status=201,
)
async def attach_policy_to_user(call: Call) -> None:
    """Let a policy apply to a user"""
    await call.services.auth.attachments.attach_to_user(call["policyId"], call["userId"])


@group.operation(
    "DELETE",
    "/auth/users/{userId}/policies/{policyId}",
    "detachPolicyFromUser",
    needs("auth:DetachPolicy", USER),
    status=204,
)
async def detach_policy_from_user(call: Call) -> None:
    """Let a policy apply to a user no more"""
    await call.services.auth.attachments.detach_from_user(call["policyId"], call["userId"])
