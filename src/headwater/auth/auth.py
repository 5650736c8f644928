"""The face of this layer: all that is known of who may do what, over one partition of a store."""

from __future__ import annotations

from headwater.auth.directory.attachments import Attachments
from headwater.auth.directory.credentials import Credentials
from headwater.auth.directory.groups import Groups
from headwater.auth.directory.links import Links
from headwater.auth.directory.memberships import Memberships
from headwater.auth.directory.policies import Policies
from headwater.auth.directory.realm import Realm
from headwater.auth.directory.sealing import Sealer, derive
from headwater.auth.directory.users import Users
from headwater.auth.login.accesses import Accesses
from headwater.auth.login.attempts import Attempts
from headwater.auth.login.authenticator import Authenticator
from headwater.auth.login.keyring import Keyring
from headwater.auth.login.tokens import Tokens
from headwater.auth.setup import Setup
from headwater.auth.signatures import Signatures
from headwater.kv import Store
from headwater.outside import Outside


class Auth:
    """Users and their groups, policies and credentials; who is asking; and what they may do.

    identity = auth.authenticator.known(header) or await auth.authenticator.header(header, client)
    access = auth.accesses.known(identity) or await auth.accesses.of(identity)
    access.require(Permission(READ_OBJECT, object_in("sales", "a/b")), client)

    Every process of a server has one, over the same store and with the same secret. What one changes it notices at
    once, and the others within `BELIEVED` seconds.
    """

    def __init__(self, store: Store, server_secret: bytes, outside: Outside) -> None:
        realm = Realm(store, outside, Sealer(server_secret, outside.random))
        links = Links(realm)
        self.credentials = Credentials(realm)
        self.users = Users(realm, links, self.credentials)
        self.groups = Groups(realm, links)
        self.policies = Policies(realm, links)
        self.memberships = Memberships(links, self.users, self.groups)
        self.attachments = Attachments(links, self.users, self.groups, self.policies)
        self.setup = Setup(
            realm,
            users=self.users,
            groups=self.groups,
            policies=self.policies,
            memberships=self.memberships,
            attachments=self.attachments,
            credentials=self.credentials,
        )
        self.keyring = Keyring(realm, self.credentials)
        self.accesses = Accesses(realm, self.users, self.attachments)
        self.tokens = Tokens(derive(server_secret, "tokens"), outside)
        attempts = Attempts(outside)
        self.authenticator = Authenticator(realm, self.keyring, self.tokens, attempts)
        self.signatures = Signatures(self.keyring, attempts, outside)
