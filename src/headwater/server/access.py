"""Who makes a request, and what they may do."""

from __future__ import annotations

from headwater.auth import Access, Auth, NotAuthenticated, Permission
from headwater.errors import HeadwaterError
from headwater.server.http import Request

COOKIE = "internal_auth_session"
"""The cookie of whoever logged in with a browser: a token, by the name that clients of lakeFS know."""


class NotSignedIn(HeadwaterError):
    """This is not for everybody: the caller has to say who they are, and has not."""

    def __init__(self) -> None:
        super().__init__("sign in first: this takes an access key id and its secret, or a token")


class Caller:
    """Who makes a request. Without *access* it is anybody."""

    __slots__ = ("_access", "_client", "access_key_id", "name")

    def __init__(self, name: str, access_key_id: str, access: Access | None, client: str) -> None:
        self.name = name
        self.access_key_id = access_key_id
        self._access = access
        self._client = client

    @property
    def signed_in(self) -> bool:
        return self._access is not None

    def require(self, action: str, resource: str) -> None:
        """Raise unless the caller may do *action* on *resource*: `Forbidden`, or of anybody `NotSignedIn`."""
        if self._access is None:
            raise NotSignedIn
        if not self._access.allows(action, resource, self._client):
            self._access.require(Permission(action, resource), self._client)  # which says why

    def may(self, action: str, resource: str) -> bool:
        """Whether the caller may do *action* on *resource*."""
        return self._access is not None and self._access.allows(action, resource, self._client)


class Callers:
    """Establishes who makes requests, by Basic credentials, bearer tokens and cookies."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    async def of(self, request: Request) -> Caller:
        """Who makes *request*; anybody, if it does not say. `NotAuthenticated` if what it says is not true."""
        header = request.header("authorization")
        client = request.client
        if header is None:
            token = _cookie(request)
            if token is None:
                return Caller("", "", None, client)
            try:
                identity = await self._auth.authenticator.bearer(token, client, counted=False)
            except NotAuthenticated:  # a cookie of long ago, which the browser sends by itself
                return Caller("", "", None, client)
        else:
            authenticator = self._auth.authenticator
            identity = authenticator.known(header) or await authenticator.header(header, client)
        access = self._auth.accesses.known(identity) or await self._auth.accesses.of(identity)
        return Caller(identity.user, identity.access_key_id, access, client)


def _cookie(request: Request) -> str | None:
    for part in (request.header("cookie") or "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE and value:
            return value
    return None
