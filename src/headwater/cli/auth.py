"""`hw auth`: users, groups, policies and credentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import click
import msgspec

from headwater.auth import Statement
from headwater.cli.commanding import group
from headwater.cli.options import confirm, yes_option
from headwater.cli.output import Column
from headwater.cli.people.opening import Asking
from headwater.cli.people.people import Credential, CredentialWithSecret, Group, Policy, User
from headwater.cli.session import session
from headwater.cli.settings import BadSettings


class UserShown(msgspec.Struct, frozen=True):
    """A user, the groups it is in, and the policies that apply to it through them or by themselves."""

    id: str
    created: Any
    friendly_name: str | None
    email: str | None
    groups: Sequence[str]
    policies: Sequence[str]


class GroupShown(msgspec.Struct, frozen=True):
    id: str
    created: Any
    description: str | None
    members: Sequence[str]
    policies: Sequence[str]


class Named(msgspec.Struct, frozen=True):
    """What something was done to."""

    id: str


USERS: Sequence[Column[User]] = (
    Column("user", lambda user: user.id),
    Column("created", lambda user: user.created),
    Column("name", lambda user: user.friendly_name),
    Column("e-mail", lambda user: user.email),
)
GROUPS: Sequence[Column[Group]] = (
    Column("group", lambda group: group.id),
    Column("created", lambda group: group.created),
    Column("description", lambda group: group.description),
)
POLICIES: Sequence[Column[Policy]] = (
    Column("policy", lambda policy: policy.id),
    Column("created", lambda policy: policy.created),
    Column("statements", lambda policy: len(policy.statement), right=True),
)
CREDENTIALS: Sequence[Column[Credential]] = (
    Column("access key id", lambda credential: credential.access_key_id),
    Column("created", lambda credential: credential.created),
)


@group("auth")
def auth() -> None:
    """Say who may do what."""


@auth.command("whoami")
def whoami() -> None:
    """Show whom the credentials belong to."""
    asking = Asking(session())
    user = asking.run(asking.people.myself())
    session().output.done(user, user.id)


@auth.command("setup")
@click.argument("user")
def setup(user: str) -> None:
    """Make a user an administrator of a lake in a directory: the first one, or the way back in.

    Its credential is shown this once.
    """
    asking = Asking(session())
    _tell_secret(asking.run(asking.people.set_up(user)))


@auth.group("user")
def user_group() -> None:
    """Users."""


@user_group.command("create")
@click.argument("user")
def create_user(user: str) -> None:
    """Make a user, who has no credentials yet and may do nothing."""
    asking = Asking(session())
    session().output.done(asking.run(asking.people.create_user(user)), f"created user {user}")


@user_group.command("list")
def list_users() -> None:
    """List users."""
    asking = Asking(session())
    session().output.rows(asking.run(asking.people.users()), USERS)


@user_group.command("show")
@click.argument("user")
def show_user(user: str) -> None:
    """Show a user, with its groups and all policies that apply."""
    asking = Asking(session())
    found = asking.run(asking.people.user(user))
    groups = [each.id for each in asking.run(asking.people.groups_of(user))]
    policies = [each.id for each in asking.run(asking.people.policies_of_user(user, effective=True))]
    shown = UserShown(found.id, found.created, found.friendly_name, found.email, groups, policies)
    fields = [
        ("user", found.id),
        ("created", found.created),
        ("name", found.friendly_name),
        ("e-mail", found.email),
        ("groups", ", ".join(groups)),
        ("policies", ", ".join(policies)),
    ]
    session().output.fields(shown, fields)


@user_group.command("delete")
@click.argument("user")
@yes_option
def delete_user(user: str, *, yes: bool) -> None:
    """Delete a user and its credentials."""
    confirm(f"Delete user {user} and all credentials of it?", yes=yes)
    asking = Asking(session())
    asking.run(asking.people.delete_user(user))
    session().output.done(Named(user), f"deleted user {user}")


@auth.group("group")
def group_group() -> None:
    """Groups of users."""


@group_group.command("create")
@click.argument("group")
@click.option("--description", metavar="TEXT")
def create_group(group: str, description: str | None) -> None:
    """Make a group."""
    asking = Asking(session())
    session().output.done(asking.run(asking.people.create_group(group, description)), f"created group {group}")


@group_group.command("list")
def list_groups() -> None:
    """List groups."""
    asking = Asking(session())
    session().output.rows(asking.run(asking.people.groups()), GROUPS)


@group_group.command("show")
@click.argument("group")
def show_group(group: str) -> None:
    """Show a group, with its members and policies."""
    asking = Asking(session())
    found = asking.run(asking.people.group(group))
    members = [each.id for each in asking.run(asking.people.members(group))]
    policies = [each.id for each in asking.run(asking.people.policies_of_group(group))]
    shown = GroupShown(found.id, found.created, found.description, members, policies)
    fields = [
        ("group", found.id),
        ("created", found.created),
        ("description", found.description),
        ("members", ", ".join(members)),
        ("policies", ", ".join(policies)),
    ]
    session().output.fields(shown, fields)


@group_group.command("delete")
@click.argument("group")
@yes_option
def delete_group(group: str, *, yes: bool) -> None:
    """Delete a group. Its members stay."""
    confirm(f"Delete group {group}?", yes=yes)
    asking = Asking(session())
    asking.run(asking.people.delete_group(group))
    session().output.done(Named(group), f"deleted group {group}")


@group_group.command("add")
@click.argument("group")
@click.argument("user")
def add(group: str, user: str) -> None:
    """Put a user into a group."""
    asking = Asking(session())
    asking.run(asking.people.add(group, user))
    session().output.done(Named(group), f"{user} is in {group}")


@group_group.command("remove")
@click.argument("group")
@click.argument("user")
def remove(group: str, user: str) -> None:
    """Take a user out of a group."""
    asking = Asking(session())
    asking.run(asking.people.remove(group, user))
    session().output.done(Named(group), f"{user} is not in {group} any more")


@auth.group("policy")
def policy_group() -> None:
    """Policies, which say what may be done."""


@policy_group.command("create")
@click.argument("policy")
@click.argument("file", type=click.File("rb"))
def create_policy(policy: str, file: BinaryIO) -> None:
    """Make a policy of the statements in a file, a list in JSON. It does nothing until it is attached."""
    asking = Asking(session())
    made = asking.run(asking.people.create_policy(policy, _statements(file)))
    session().output.done(made, f"created policy {policy}")


@policy_group.command("update")
@click.argument("policy")
@click.argument("file", type=click.File("rb"))
def update_policy(policy: str, file: BinaryIO) -> None:
    """Let a policy say something else, wherever it is attached."""
    asking = Asking(session())
    made = asking.run(asking.people.update_policy(policy, _statements(file)))
    session().output.done(made, f"updated policy {policy}")


@policy_group.command("list")
def list_policies() -> None:
    """List policies."""
    asking = Asking(session())
    session().output.rows(asking.run(asking.people.policies()), POLICIES)


@policy_group.command("show")
@click.argument("policy")
def show_policy(policy: str) -> None:
    """Show what a policy says."""
    asking = Asking(session())
    found = asking.run(asking.people.policy(policy))
    statements = msgspec.json.format(msgspec.json.encode(found.statement), indent=2).decode()
    fields = [("policy", found.id), ("created", found.created), ("statement", statements)]
    session().output.fields(found, fields)


@policy_group.command("delete")
@click.argument("policy")
@yes_option
def delete_policy(policy: str, *, yes: bool) -> None:
    """Delete a policy, and detach it first wherever it is attached."""
    confirm(f"Delete policy {policy}?", yes=yes)
    asking = Asking(session())
    asking.run(asking.people.delete_policy(policy))
    session().output.done(Named(policy), f"deleted policy {policy}")


@policy_group.command("attach")
@click.argument("policy")
@click.option("--user", metavar="NAME")
@click.option("--group", metavar="NAME")
def attach(policy: str, user: str | None, group: str | None) -> None:
    """Let a policy apply to a user, or to all of a group."""
    asking = Asking(session())
    if user is not None and group is None:
        asking.run(asking.people.attach_to_user(policy, user))
    elif group is not None and user is None:
        asking.run(asking.people.attach_to_group(policy, group))
    else:
        raise click.UsageError("say to whom: --user NAME, or --group NAME")
    session().output.done(Named(policy), f"{policy} applies to {user or group}")


@policy_group.command("detach")
@click.argument("policy")
@click.option("--user", metavar="NAME")
@click.option("--group", metavar="NAME")
def detach(policy: str, user: str | None, group: str | None) -> None:
    """Let a policy apply to a user, or to a group, no more."""
    asking = Asking(session())
    if user is not None and group is None:
        asking.run(asking.people.detach_from_user(policy, user))
    elif group is not None and user is None:
        asking.run(asking.people.detach_from_group(policy, group))
    else:
        raise click.UsageError("say from whom: --user NAME, or --group NAME")
    session().output.done(Named(policy), f"{policy} applies to {user or group} no more")


@auth.group("credential")
def credential_group() -> None:
    """Credentials: access keys and their secrets."""


@credential_group.command("create")
@click.argument("user")
def create_credential(user: str) -> None:
    """Make a credential for a user. Its secret is shown this once."""
    asking = Asking(session())
    _tell_secret(asking.run(asking.people.create_credential(user)))


@credential_group.command("list")
@click.argument("user")
def list_credentials(user: str) -> None:
    """List the credentials of a user, without their secrets."""
    asking = Asking(session())
    session().output.rows(asking.run(asking.people.credentials(user)), CREDENTIALS)


@credential_group.command("delete")
@click.argument("user")
@click.argument("access_key_id")
def delete_credential(user: str, access_key_id: str) -> None:
    """Delete a credential: nobody can ask by it any more."""
    asking = Asking(session())
    asking.run(asking.people.delete_credential(user, access_key_id))
    session().output.done(Named(access_key_id), f"deleted {access_key_id}")


def _tell_secret(made: CredentialWithSecret) -> None:
    fields = [("access key id", made.access_key_id), ("secret access key", made.secret_access_key)]
    session().output.fields(made, fields)


def _statements(file: BinaryIO) -> list[Statement]:
    """What is in *file*: a list of statements, or a policy as lakeFS writes it, which has one."""
    text = file.read()
    try:
        found = msgspec.json.decode(text)
        return msgspec.convert(found["statement"] if isinstance(found, dict) else found, list[Statement])
    except (msgspec.MsgspecError, KeyError, UnicodeDecodeError) as error:
        raise BadSettings(f"FILE: expected a list of statements in JSON: {error}") from None
