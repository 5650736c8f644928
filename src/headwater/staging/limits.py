"""Every limit of staging, each with its reason."""

from __future__ import annotations

GRACE = 60.0
"""Seconds that what a dropped token holds is left alone. A read that began before the token was dropped and is over
within half of it has seen the branch as it was; the other half is for clocks that differ."""

TIDY_AFTER = 90.0
"""Seconds between two clean-ups by one process: longer than the grace period, so that the second one takes what the
first has noticed."""

TIDY_ROUNDS = 4
"""Clean-ups after the last change of a branch: one notices, one deletes, one finds nothing more, and one may fail."""

TIDY_AT_ONCE = 10_000
"""Staged entries that are deleted on the way of somebody who waits for a commit: some 50 ms."""

SEALED = 100
"""Sealed tokens of a branch: each is one more place to look for every reader. They pile up only if committers crash."""

TRIES = 40
"""Times that an operation is begun again because somebody else was faster: with the pauses between, a minute."""

DEADLINE = 900.0
"""Seconds after which no other try is begun, be each of them slow: nobody waits for an answer any longer."""

FIRST_PAUSE = 0.005
"""Seconds to wait before the second try, twice as long before the next, and so on, each shortened at random."""

LONGEST_PAUSE = 2.0
"""Seconds that a pause between tries grows to."""

ONE_PIPELINE = 64
"""Staged values that are written in the pipeline that first makes a branch dirty; more are a bulk call of their own."""

JOURNAL_LOOK = 64
"""Records that a look at one path of an append repository reads at a time: a file is mostly appended to a few times
between two commits."""
