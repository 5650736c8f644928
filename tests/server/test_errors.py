"""Every error that a caller can bring about has a status. What has none is a defect or damage, and is told as one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import headwater
from headwater.blob.errors import BlobError
from headwater.errors import HeadwaterError
from headwater.server.api.errors import STATUSES, status_of

ELSEWHERE = ("testing", "cli", "pipeline", "sdk", "kv.drivers")
"""What no request of the REST API reaches."""

OTHER_WORDS = (
    "auth.signatures",
    "server.s3",
    "server.beginning",
    "server.config",
    "server.iceberg",
    "server.nessie",
    "server.web",
)
"""What speaks for itself, in the words of its own protocol."""

DAMAGE = {
    "Corrupt",
    "CorruptClock",
    "CorruptRecord",
    "CorruptRef",
    "Missing",
    "OutOfOrder",
    "PredicateFailed",
    "UnknownFormat",
}
"""Something stored is not as it must be; or an error got out that has a handler further down."""

INSIDE = {"BadAction", "HookFailed"}
"""What is written down in the run of an action, and told as `HookRefused`."""


def errors() -> Iterator[type[HeadwaterError]]:
    for module in pkgutil.walk_packages(headwater.__path__, "headwater."):
        if not module.name.removeprefix("headwater.").startswith(ELSEWHERE):
            importlib.import_module(module.name)
    found = [HeadwaterError]
    while found:
        error = found.pop()
        found += error.__subclasses__()
        yield error


def test_every_error_that_is_no_damage_has_a_status() -> None:
    unknown = {
        f"{error.__module__}.{error.__name__}"
        for error in errors()
        if not error.__subclasses__()
        and not error.__module__.removeprefix("headwater.").startswith((*ELSEWHERE, *OTHER_WORDS))
        and error.__module__.startswith("headwater.")
        and not any(kind.__name__ in STATUSES for kind in error.__mro__)
        and error.__name__ not in DAMAGE | INSIDE
    }
    assert unknown == set()


def test_every_status_is_of_an_error_that_there_is() -> None:
    assert set(STATUSES) <= {error.__name__ for error in errors()}


def test_what_another_storage_says_is_no_defect_of_this_server() -> None:
    """Such as that there are no credentials for it, where a client names a bucket to import from."""
    assert status_of(BlobError("s3://elsewhere/a: no credentials")) == 502
