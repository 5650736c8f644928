"""Every limit of the simulator, each with its reason."""

from __future__ import annotations

MAX_STEPS = 1_000_000
"""Steps of one run: some seconds, and about 140 MB of trace. A scenario that needs more is two scenarios."""

MAX_SECONDS = 24 * 3600.0
"""Virtual seconds of one run: longer than any time-out or grace period, so that what waits for ever is found out."""

SEEDS = 200
"""Seeds that an exploration tries unless told otherwise: the number within which a missing guard is to be caught."""

SHOWN = 160
"""Characters of one argument of a note, so that a timeline stays readable beside 400 KiB values."""

UNWINDINGS = 100
"""How often an abandoned coroutine that awaits in its clean-up is told to end, before it is left to the collector."""
