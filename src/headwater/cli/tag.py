"""`hw tag`: names for commits, that stay where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from headwater.cli.commanding import group
from headwater.cli.exits import Exit
from headwater.cli.options import KEY_FILE, message_option, metadata_option, trust_option
from headwater.cli.places import REPOSITORY, TAG, Place, ref_in
from headwater.cli.session import session
from headwater.cli.showing import TAGS, Named, short
from headwater.cli.signing import VERDICTS
from headwater.errors import HeadwaterError


class NoSuchTag(HeadwaterError):
    """There is no tag of that name."""


@group("tag")
def tag() -> None:
    """Make, list and delete tags."""


@tag.command("create")
@click.argument("tag", type=TAG)
@click.option("--from", "source", metavar="REF", help="The commit it names; the default branch's, unless told.")
@message_option("What it is about.")
@metadata_option
@click.option("--sign", type=KEY_FILE, help="An Ed25519 private key, as ~/.ssh/id_ed25519, to sign it with.")
def create(tag: Place, source: str | None, message: str | None, metadata: Mapping[str, str], sign: Path | None) -> None:
    """Name a commit, for good."""
    from headwater.cli.keys import private_key  # noqa: PLC0415  (few sign)

    signing_key = None if sign is None else private_key(sign)
    repository = session().repository(tag.repository)
    named = repository.default_branch if source is None else ref_in(tag.repository, source)
    made = repository.create_tag(tag.ref, named, message=message or "", metadata=metadata, signing_key=signing_key)
    session().output.done(made, f"created {tag} at {short(made.commit)}")


@tag.command("list")
@click.argument("repository", type=REPOSITORY)
@click.argument("prefix", default="")
def list_all(repository: Place, prefix: str) -> None:
    """List the tags of a repository, those whose names begin with PREFIX."""
    session().output.rows(session().repository(repository.repository).tags(prefix), TAGS)


@tag.command("show")
@click.argument("tag", type=TAG)
def show(tag: Place) -> None:
    """Show a tag."""
    found = next(iter(session().repository(tag.repository).tags(tag.ref)), None)
    if found is None or found.name != tag.ref:
        raise NoSuchTag(f"there is no tag {tag.ref!r} in repository {tag.repository!r}: hw tag list {tag.repository}")
    fields = [
        ("name", found.name),
        ("commit", found.commit),
        ("tagger", found.tagger),
        ("time", found.time),
        ("message", found.message),
        *((f"metadata {key}", value) for key, value in found.metadata.items()),
    ]
    session().output.fields(found, fields)


@tag.command("verify")
@click.argument("tag", type=TAG)
@trust_option
def verify(tag: Place, trust: Sequence[Path]) -> None:
    """Look whether somebody who is trusted signed a tag. The status is 1 unless it is so."""
    from headwater.cli.keys import public_key  # noqa: PLC0415  (few sign)

    found = session().repository(tag.repository).verify_tag(tag.ref, [public_key(file) for file in trust])
    session().output.done(found, VERDICTS[found.verdict].format(what=tag))
    if found.verdict != "good":
        click.get_current_context().exit(Exit.FAILED)


@tag.command("delete")
@click.argument("tag", type=TAG)
def delete(tag: Place) -> None:
    """Delete a tag. The commit stays; `hw undo` brings the tag back."""
    session().repository(tag.repository).delete_tag(tag.ref)
    session().output.done(Named(tag.ref), f"deleted {tag}")
