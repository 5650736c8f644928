"""Every limit of staging, each with its reason."""

from __future__ import annotations

GRACE = 60.0
"""Seconds that what a dropped token holds is left alone. A read that began before the token was dropped and is over
within half of it has seen the branch as it was; the other half is for clocks that differ."""

SEALED = 100
"""Sealed tokens of a branch: each is one more place to look for every reader. They pile up only if committers crash."""

TRIES = 40
"""Times that an operation is begun again because somebody else was faster: with the pauses between, a minute."""

FIRST_PAUSE = 0.005
"""Seconds to wait before the second try, twice as long before the next, and so on, each shortened at random."""

LONGEST_PAUSE = 2.0
"""Seconds that a pause between tries grows to."""

ONE_PIPELINE = 64
"""Staged values that are written in the pipeline that first makes a branch dirty; more are a bulk call of their own."""

JOURNAL_LOOK = 64
"""Records that a look at one path of an append repository reads at a time: a file is mostly appended to a few times
between two commits."""
