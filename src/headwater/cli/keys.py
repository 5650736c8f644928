"""Ed25519 keys as people have them: in the files of OpenSSH, or in PEM."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_pem_public_key,
    load_ssh_private_key,
    load_ssh_public_key,
)

from headwater.cli.settings import BadSettings


def private_key(file: Path) -> bytes:
    """The private key in *file*. A passphrase is asked for, if the key has one."""
    content = file.read_bytes()
    load = load_ssh_private_key if b"OPENSSH" in content else load_pem_private_key
    try:
        try:
            key = load(content, None)
        except TypeError:  # it has a passphrase
            key = load(content, _passphrase(file))
    except ValueError as error:
        raise BadSettings(f"{file} is no private key that can be read: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise BadSettings(f"{file} is no Ed25519 key: make one with ssh-keygen -t ed25519")
    return key.private_bytes_raw()


def public_key(file: Path) -> bytes:
    """The public key in *file*."""
    content = file.read_bytes()
    try:
        key = load_pem_public_key(content) if content.startswith(b"-----") else load_ssh_public_key(content)
    except ValueError as error:
        raise BadSettings(f"{file} is no public key that can be read: {error}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise BadSettings(f"{file} is no Ed25519 key")
    return key.public_bytes_raw()


def _passphrase(file: Path) -> bytes:
    if not sys.stdin.isatty():
        raise BadSettings(f"{file} has a passphrase, and there is no terminal to ask for it")
    answer: str = click.prompt(f"passphrase of {file}", hide_input=True, err=True)
    return answer.encode()
