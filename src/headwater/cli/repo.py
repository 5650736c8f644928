"""`hw repo`: repositories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
import msgspec

from headwater.cli.commanding import group
from headwater.cli.options import confirm, metadata_option, yes_option
from headwater.cli.places import REPOSITORY, Place
from headwater.cli.session import session

if TYPE_CHECKING:
    from headwater.sdk.sync import Repository


class RepositoryShown(msgspec.Struct, frozen=True):
    name: str
    namespace: str
    default_branch: str
    mode: str
    metadata: Mapping[str, str]


@group("repo")
def repo() -> None:
    """Make, list and delete repositories."""


@repo.command("create")
@click.argument("repository", type=REPOSITORY)
@click.option("--namespace", metavar="URI", help="Where its objects are to be, if not in the lake's own storage.")
@click.option("--default-branch", default="main", show_default=True, metavar="NAME")
@click.option("--append", is_flag=True, help="One whose files grow by appends, instead of one of objects.")
@click.option("--read-only", is_flag=True, help="One that takes no writes.")
@metadata_option
def create(
    repository: Place,
    namespace: str | None,
    default_branch: str,
    metadata: Mapping[str, str],
    *,
    append: bool,
    read_only: bool,
) -> None:
    """Make a repository, with one branch and a first, empty commit."""
    made = session().lake.create_repo(
        repository.repository,
        namespace=namespace,
        default_branch=default_branch,
        read_only=read_only,
        metadata=metadata,
        mode="append" if append else "object",
    )
    session().output.done(_shown(made), f"created {made.name}, with branch {made.default_branch}")


@repo.command("list")
@click.argument("prefix", default="")
def list_all(prefix: str) -> None:
    """List repositories, those whose names begin with PREFIX."""
    from headwater.cli.showing import NAMES, Named  # noqa: PLC0415

    session().output.rows((Named(name) for name in session().lake.repos(prefix)), NAMES)


@repo.command("show")
@click.argument("repository", type=REPOSITORY)
def show(repository: Place) -> None:
    """Show where a repository is, and what is kept with it."""
    found = _shown(session().repository(repository.repository))
    metadata = [(f"metadata {key}", value) for key, value in found.metadata.items()]
    session().output.fields(
        found,
        [
            ("name", found.name),
            ("namespace", found.namespace),
            ("default branch", found.default_branch),
            ("mode", found.mode),
            *metadata,
        ],
    )


@repo.command("delete")
@click.argument("repository", type=REPOSITORY)
@yes_option
def delete(repository: Place, *, yes: bool) -> None:
    """Forget a repository, with all its history. Its objects stay, for garbage collection."""
    from headwater.cli.showing import Named  # noqa: PLC0415

    name = session().repository(repository.repository).name
    confirm(f"Forget repository {name} and all its history?", yes=yes)
    session().lake.delete_repo(name)
    session().output.done(Named(name), f"deleted {name}")


def _shown(repository: Repository) -> RepositoryShown:
    return RepositoryShown(
        repository.name, repository.namespace, repository.default_branch, repository.mode, dict(repository.metadata)
    )
