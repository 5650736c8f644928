"""Logging in, who one is then, and the very first administrator."""

from __future__ import annotations

from email.utils import formatdate

import msgspec

from headwater.server.access import COOKIE
from headwater.server.api.auth.answers import CredentialsWithSecret, User, secret_answer, user_answer
from headwater.server.api.calling import Call
from headwater.server.api.operation import ANYONE, SIGNED_IN, Group

group = Group("auth")
first_steps = Group("internal")


class CurrentUser(msgspec.Struct, frozen=True):
    """Who is asking."""

    user: User


class LoginInformation(msgspec.Struct, frozen=True):
    """A credential to log in with."""

    access_key_id: str
    secret_access_key: str


class AuthenticationToken(msgspec.Struct, frozen=True):
    """What stands for a login, as a bearer token or a cookie, until *token_expiration*, in seconds since 1970."""

    token: str
    token_expiration: int


class AuthCapabilities(msgspec.Struct, frozen=True):
    """What a server can do about users: here, nothing that would take sending mail."""

    invite_user: bool = False
    forgot_password: bool = False


class LoginConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How one logs in, for a web page."""

    rbac: str = msgspec.field(default="internal", name="RBAC")
    login_url: str = "/api/v1/auth/login"
    login_failed_message: str = "The credentials don't match."
    login_cookie_names: tuple[str, ...] = (COOKIE,)
    logout_url: str = "/"


class SetupState(msgspec.Struct, frozen=True):
    """Whether there is an administrator yet."""

    state: str
    comm_prefs_missing: bool
    login_config: LoginConfig


class AccessKeyCredentials(msgspec.Struct, frozen=True):
    """The credentials that the first administrator is to have."""

    access_key_id: str
    secret_access_key: str


class Setup(msgspec.Struct, frozen=True):
    """The first administrator. Whatever else clients tell of people is passed over."""

    username: str
    key: AccessKeyCredentials | None = None


class CommPrefsInput(msgspec.Struct, frozen=True):
    """What a person would like to be sent. Nothing is sent, and nothing of it is kept."""


@group.operation("GET", "/user", "getCurrentUser", SIGNED_IN)
async def get_current_user(call: Call) -> CurrentUser:
    """Who is asking"""
    return CurrentUser(user_answer(await call.services.auth.users.get(call.caller.name)))


@group.operation("POST", "/auth/login", "login", ANYONE)
async def login(call: Call, body: LoginInformation) -> AuthenticationToken:
    """Exchange a credential for a token, which is also set as a cookie"""
    _, token = await call.services.auth.authenticator.login(
        body.access_key_id, body.secret_access_key, call.request.client
    )
    until = formatdate(token.expires // 1000, usegmt=True)
    secure = "; Secure" if call.request.scheme == "https" else ""
    cookie = f"{COOKIE}={token.text}; Path=/; Expires={until}; HttpOnly; SameSite=Strict{secure}"
    call.headers.append((b"set-cookie", cookie.encode()))
    return AuthenticationToken(token.text, token.expires // 1000)


@first_steps.operation("GET", "/auth/capabilities", "getAuthCapabilities", ANYONE)
async def get_auth_capabilities(call: Call) -> AuthCapabilities:  # noqa: ARG001
    """What the server can do about users"""
    return AuthCapabilities()


@first_steps.operation("GET", "/setup_lakefs", "getSetupState", ANYONE)
async def get_setup_state(call: Call) -> SetupState:
    """Whether there is an administrator yet"""
    done = await call.services.auth.setup.is_done()
    return SetupState(
        "initialized" if done else "not_initialized", comm_prefs_missing=False, login_config=LoginConfig()
    )


@first_steps.operation("POST", "/setup_lakefs", "setup", ANYONE)
async def setup(call: Call, body: Setup) -> CredentialsWithSecret:
    """Make the first administrator, if there never was one. Its secret is shown this once"""
    key = body.key
    made = await call.services.auth.setup.run(
        body.username,
        access_key_id=None if key is None else key.access_key_id,
        secret_access_key=None if key is None else key.secret_access_key,
    )
    return secret_answer(made)


@first_steps.operation("POST", "/setup_comm_prefs", "setupCommPrefs", ANYONE)
async def setup_comm_prefs(call: Call, body: CommPrefsInput) -> None:
    """Nothing: for clients that insist on asking people what mail they would like"""
