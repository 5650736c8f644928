"""How often somebody may be wrong.

Wrong secrets are counted by access key and by client, each in a bucket that empties with time; when one is full,
nothing is looked at until there is room again. Who knows an access key id (it is no secret) could fill its bucket to
keep its owner out; and who shares an address with others may be held up by theirs. So a client that has had the right
secret for an access key lately is counted by itself when it uses that again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from headwater.auth.errors import TooManyAttempts
from headwater.auth.limits import ATTEMPTS_OF_CLIENT, ATTEMPTS_OF_KEY, FAMILIAR, WATCHED
from headwater.auth.login.clients import counted_as
from headwater.auth.login.remembered import Remembered
from headwater.outside import Outside

Name = TypeVar("Name", bound=Hashable)


class Attempts:
    """The wrong attempts of late, in one process."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._by_key: _Buckets[str] = _Buckets(*ATTEMPTS_OF_KEY)
        self._by_client: _Buckets[str] = _Buckets(*ATTEMPTS_OF_CLIENT)
        self._by_both: _Buckets[tuple[str, str]] = _Buckets(*ATTEMPTS_OF_KEY)
        self._familiar: Remembered[tuple[str, str], float] = Remembered(WATCHED)

    def check(self, access_key_id: str, client: str) -> None:
        """Raise `TooManyAttempts` unless *client* may try this access key now."""
        if not self._is_familiar(access_key_id, client):
            self.check_client(client)
        self.check_key(access_key_id, client)

    def check_key(self, access_key_id: str, client: str) -> None:
        """The same, whatever else the client has been wrong about."""
        now = self._outside.elapsed()
        if self._is_familiar(access_key_id, client):
            _refuse(self._by_both.wait((access_key_id, client), now))
        else:
            _refuse(self._by_key.wait(access_key_id, now))

    def check_client(self, client: str) -> None:
        """Raise `TooManyAttempts` unless *client* may try anything now."""
        _refuse(self._by_client.wait(counted_as(client), self._outside.elapsed()))

    def wrong(self, access_key_id: str, client: str) -> None:
        self.wrong_key(access_key_id, client)
        self.wrong_client(client)

    def wrong_key(self, access_key_id: str, client: str) -> None:
        """Count a wrong attempt that is not held against the client when it tries something else."""
        now = self._outside.elapsed()
        self._by_key.add(access_key_id, now)
        self._by_both.add((access_key_id, client), now)

    def wrong_client(self, client: str) -> None:
        """Count a wrong attempt that was about no access key."""
        self._by_client.add(counted_as(client), self._outside.elapsed())

    def right(self, access_key_id: str, client: str) -> None:
        self._familiar.put((access_key_id, client), self._outside.elapsed())

    def _is_familiar(self, access_key_id: str, client: str) -> bool:
        at = self._familiar.get((access_key_id, client))
        return at is not None and self._outside.elapsed() - at <= FAMILIAR


def _refuse(wait: float) -> None:
    if wait > 0:
        raise TooManyAttempts(wait)


class _Buckets(Generic[Name]):
    """A level for each name, which falls by *rate* a second and blocks from *burst* on."""

    def __init__(self, burst: int, rate: float) -> None:
        self._burst = burst
        self._rate = rate
        self._levels: Remembered[Name, tuple[float, float]] = Remembered(WATCHED)

    def wait(self, name: Name, now: float) -> float:
        """Seconds until there is room for one more."""
        return max(0.0, (self._level(name, now) + 1 - self._burst) / self._rate)

    def add(self, name: Name, now: float) -> None:
        self._levels.put(name, (self._level(name, now) + 1, now))

    def _level(self, name: Name, now: float) -> float:
        level, at = self._levels.get(name) or (0.0, now)
        return max(0.0, level - (now - at) * self._rate)
