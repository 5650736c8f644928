"""What clients are told of users, groups, policies and credentials."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from headwater import auth
from headwater.auth import Statement
from headwater.auth.directory.listing import Item
from headwater.server.api.answers import Page, PageQuery, Pagination, Result
from headwater.server.limits import MAX_PAGE

USER = "arn:lakefs:auth:::user/{userId}"
GROUP = "arn:lakefs:auth:::group/{groupId}"
POLICY = "arn:lakefs:auth:::policy/{policyId}"


class User(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whoever may ask for anything."""

    id: str
    creation_date: int
    friendly_name: str | None = None
    email: str | None = None


class Group(msgspec.Struct, frozen=True, omit_defaults=True):
    """A group of users."""

    id: str
    creation_date: int
    name: str | None = None
    description: str | None = None


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """What those who have it may do, and may not."""

    id: str
    statement: list[Statement]
    creation_date: int | None = None


class Credentials(msgspec.Struct, frozen=True):
    """A credential without its secret."""

    access_key_id: str
    creation_date: int


class CredentialsWithSecret(msgspec.Struct, frozen=True):
    """A credential as it is shown once."""

    access_key_id: str
    secret_access_key: str
    creation_date: int


def user_answer(user: auth.User) -> User:
    return User(user.id, user.created // 1000, user.friendly_name, user.email)


def group_answer(group: auth.Group) -> Group:
    return Group(group.id, group.created // 1000, group.id, group.description)


def policy_answer(policy: auth.Policy) -> Policy:
    return Policy(policy.id, list(policy.statements), policy.created // 1000)


def credentials_answer(credential: auth.Credential) -> Credentials:
    return Credentials(credential.access_key_id, credential.created // 1000)


def secret_answer(made: auth.CredentialWithSecret) -> CredentialsWithSecret:
    return CredentialsWithSecret(made.access_key_id, made.secret_access_key, made.created // 1000)


def window_of(query: PageQuery) -> auth.Window:
    """The part of a listing that *query* asks for."""
    return auth.Window(query.prefix, query.after, query.size)


def listed(page: auth.Page[Item], render: Callable[[Item], Result]) -> Page[Result]:
    """A page of the directory as a page of the API."""
    pagination = Pagination(page.after is not None, page.after or "", len(page.items), MAX_PAGE)
    return Page(pagination, [render(each) for each in page.items])
