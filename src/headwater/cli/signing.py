"""`hw sign` and `hw verify`: who stands by a commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from headwater.cli.commanding import command
from headwater.cli.exits import Exit
from headwater.cli.options import KEY_FILE, trust_option
from headwater.cli.places import REF, Place
from headwater.cli.session import session

VERDICTS = {
    "good": "{what} is signed by a key that is trusted",
    "bad": "the signature of {what} is forged: it names a key that is trusted, and is not by it",
    "unknown": "{what} is signed by a key that is not among those given",
    "unsigned": "{what} is not signed",
}


class Signed(msgspec.Struct, frozen=True):
    """The commit that was signed."""

    commit: str


@command("sign")
@click.argument("ref", type=REF)
@click.option("--key", type=KEY_FILE, required=True, help="An Ed25519 private key, as ~/.ssh/id_ed25519.")
def sign(ref: Place, key: Path) -> None:
    """Sign a commit. Its id covers all that it holds, and all that led to it."""
    from headwater.cli.keys import private_key  # noqa: PLC0415  (few sign)

    repository = session().repository(ref.repository)
    commit = repository.commit(ref.ref)
    repository.sign_commit(commit, private_key(key))
    session().output.done(Signed(commit.id), f"signed {commit.id}")


@command("verify")
@click.argument("ref", type=REF)
@trust_option
def verify(ref: Place, trust: Sequence[Path]) -> None:
    """Look whether somebody who is trusted signed a commit. The status is 1 unless it is so."""
    from headwater.cli.keys import public_key  # noqa: PLC0415  (few sign)

    found = session().repository(ref.repository).verify_commit(ref.ref, [public_key(file) for file in trust])
    session().output.done(found, VERDICTS[found.verdict].format(what=ref))
    if found.verdict != "good":
        click.get_current_context().exit(Exit.FAILED)
