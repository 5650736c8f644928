"""Users, what they may do, and how they prove who they are: `docs/iam.md`.

auth = Auth(store, server_secret, real_outside())
credential = await auth.setup.run("ann")
identity = await auth.authenticator.basic(credential.access_key_id, credential.secret_access_key, client="10.0.0.1")
(await auth.accesses.of(identity)).require(Permission(permissions.READ_OBJECT, resources.object_in("sales", "a")))
"""

from headwater.auth import permissions, resources
from headwater.auth.auth import Auth
from headwater.auth.directory.listing import ALL, Page, Window
from headwater.auth.directory.records import Credential, CredentialWithSecret, Group, Policy, User
from headwater.auth.errors import (
    AlreadyExists,
    AlreadySetUp,
    AuthError,
    BadRequest,
    CorruptRecord,
    Forbidden,
    InvalidPolicy,
    NotAuthenticated,
    NotFound,
    TooManyAttempts,
)
from headwater.auth.login.identity import Identity
from headwater.auth.login.keyring import Key
from headwater.auth.login.tokens import Token
from headwater.auth.permissions import NOTHING, AllOf, AnyOf, Permission, Requirement, all_of, any_of
from headwater.auth.policy.access import Access, Decision
from headwater.auth.policy.statement import Statement

__all__ = [
    "ALL",
    "NOTHING",
    "Access",
    "AllOf",
    "AlreadyExists",
    "AlreadySetUp",
    "AnyOf",
    "Auth",
    "AuthError",
    "BadRequest",
    "CorruptRecord",
    "Credential",
    "CredentialWithSecret",
    "Decision",
    "Forbidden",
    "Group",
    "Identity",
    "InvalidPolicy",
    "Key",
    "NotAuthenticated",
    "NotFound",
    "Page",
    "Permission",
    "Policy",
    "Requirement",
    "Statement",
    "Token",
    "TooManyAttempts",
    "User",
    "Window",
    "all_of",
    "any_of",
    "permissions",
    "resources",
]
