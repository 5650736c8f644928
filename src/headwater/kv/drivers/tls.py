"""TLS, for the drivers whose client libraries want a context: three modes, under the names that MySQL gave them."""

from __future__ import annotations

import ssl
from typing import Literal, TypeAlias

from headwater.kv.errors import CannotOpen
from headwater.location import Location

Mode: TypeAlias = Literal["disabled", "required", "verify_identity"]


def context(location: Location, mode: Mode, authorities: str | None) -> ssl.SSLContext | None:
    """None when disabled. `required` encrypts to whoever answers; `verify_identity` wants a certificate for the host.

    *authorities* is a file of certificates to trust instead of those that the machine does.
    """
    if mode == "disabled":
        return None
    try:
        made = ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise CannotOpen(f"{location}: ssl_ca={authorities}: {error}") from error
    if mode == "required":
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made
