"""Every limit of garbage collection, each with its reason."""

from __future__ import annotations

SECOND = 1000
"""Milliseconds."""

DAY = 24 * 3600 * SECOND

SAFETY_AGE = 24 * 3600
"""Seconds for which an object is kept in any case, unless told otherwise: longer than any upload or job takes."""

MIN_AGE = 2 * 3600
"""Seconds that the safety age has at least: the slices of a namespace are hours, and copies of what is younger than an
hour leave no note."""

SETTLE = 10.0
"""Seconds between two looks at least: twice what a copy may take from reading its source to its note."""

SKEW = 300 * SECOND
"""Milliseconds by which the clocks of who plans and who sweeps may differ: a plan that is older need not settle."""

LOOK_EVERY = 300.0
"""Seconds after which a sweep looks again: what comes to be referred to meanwhile, by its id, is spared."""

BATCH = 1000
"""Objects that are deleted at a time: what one request to S3 takes."""

PART = 100_000
"""Objects of one file of a plan: some 2 MB, and what a killed sweep does again at most."""

STRIKE = 1 << 20
"""Addresses that are gathered before they are struck off the candidates: one join for many segments."""

TOGETHER = 16
"""Slices that are listed, and segments that are read, at a time: enough to hide the latency of an object store."""

MAX_RULES = 1000
"""Branches with days of their own: the rules are one small value, read by every run."""

MAX_DAYS = 365_000
"""Days that a rule may give: a thousand years, which is for ever."""

MAX_BRANCH = 300
"""Bytes of the name of a branch in a rule: names of branches are no longer."""
