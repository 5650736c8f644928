"""Who is asking, once that has been established."""

from __future__ import annotations

import msgspec


class Identity(msgspec.Struct, frozen=True):
    """The user whose credential was shown, or was to log in. *incarnation* tells it from later namesakes."""

    user: str
    incarnation: bytes
    access_key_id: str
