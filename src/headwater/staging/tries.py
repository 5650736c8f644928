"""Beginning again when somebody else was faster: bounded, with pauses that grow and that no two share."""

from __future__ import annotations

from collections.abc import AsyncIterator

from headwater.outside import Outside
from headwater.staging.errors import Contended
from headwater.staging.limits import FIRST_PAUSE, LONGEST_PAUSE, TRIES


async def tries(outside: Outside, what: str) -> AsyncIterator[int]:
    """Numbers the tries of *what*, pausing between them. `Contended` when there were too many.

    The second try comes at once: a lost race most often means that the way is free now.
    """
    for number in range(TRIES):
        if number > 1:
            longest = min(FIRST_PAUSE * 2 ** (number - 2), LONGEST_PAUSE)
            await outside.sleep(longest * (1 + outside.random(1)[0]) / 256)
        yield number
    raise Contended(f"{what}: others were faster {TRIES} times in a row; try again when there is less going on")
