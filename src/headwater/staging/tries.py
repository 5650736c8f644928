"""Beginning again when somebody else was faster: bounded, with pauses that grow and that no two share."""

from __future__ import annotations

from collections.abc import AsyncIterator

from headwater.outside import Outside
from headwater.staging.errors import Contended
from headwater.staging.limits import DEADLINE, FIRST_PAUSE, LONGEST_PAUSE, TRIES


async def tries(outside: Outside, what: str) -> AsyncIterator[int]:
    """Numbers the tries of *what*, pausing between them. `Contended` when there were too many, or it takes too long.

    The second try comes at once: a lost race most often means that the way is free now.
    """
    began = outside.elapsed()
    made = 0
    while made < TRIES and (made == 0 or outside.elapsed() - began <= DEADLINE):
        yield made
        made += 1
        if 1 < made < TRIES:
            longest = min(FIRST_PAUSE * 2 ** (made - 2), LONGEST_PAUSE)
            await outside.sleep(longest * (1 + outside.random(1)[0]) / 256)
    seconds = outside.elapsed() - began
    raise Contended(
        f"{what}: others were faster {made} times in a row, in {seconds:.0f} s; try again when there is less going on"
    )
