"""Addresses that are given out for clients to write to by themselves, and to link afterwards.

An address names in itself for which repository, branch and path it was given out, under a key that follows from the
server's secret. So nothing is stored for it, any worker can check it, and nobody can link what they were not given: the
objects of others in the same namespace among it.
"""

from __future__ import annotations

import hashlib
import hmac

from headwater.auth.directory.sealing import derive
from headwater.blob.namespace import HOUR, data_name, parse_data_name, slice_of, span
from headwater.engine.errors import BadRequest
from headwater.engine.repository import Repository
from headwater.outside import Outside
from headwater.server.limits import ISSUED_HOURS

_DIGITS = 32


class IssuedAddresses:
    """Gives out addresses, and knows its own. All workers of a lake have the same secret."""

    def __init__(self, server_secret: bytes, outside: Outside) -> None:
        self._key = derive(server_secret, "issued addresses")
        self._outside = outside

    def issue(self, repository: Repository, branch: str, path: str) -> str:
        """A name in the namespace of *repository* that nobody has written to, for *path* on *branch*."""
        chosen, now = self._outside.random(16).hex(), self._outside.now()
        return data_name(now, f"{chosen}-{self._mark(repository, branch, path, slice_of(now), chosen)}")

    def check(self, repository: Repository, branch: str, path: str, name: str) -> None:
        """Raise `BadRequest` unless *name* was given out for this, and not too long ago."""
        parts = parse_data_name(name)
        chosen, _, mark = ("", "", "") if parts is None else parts.id.partition("-")
        if parts is None or not hmac.compare_digest(mark, self._mark(repository, branch, path, parts.slice, chosen)):
            raise BadRequest(
                f"physical_address: {name[:200]!r} was not given out for {path[:80]!r} on branch {branch[:80]!r}: "
                "ask for an address, write there, and link it"
            )
        if self._outside.now() >= span(parts.slice).end + ISSUED_HOURS * HOUR:
            raise BadRequest(f"physical_address: it was given out more than {ISSUED_HOURS} hours ago: ask for another")

    def _mark(self, repository: Repository, branch: str, path: str, slice_: str, chosen: str) -> str:
        told = f"{repository.record.id}\0{branch}\0{path}\0{slice_}\0{chosen}"
        return hmac.new(self._key, told.encode(errors="replace"), hashlib.sha256).hexdigest()[:_DIGITS]
