"""Every limit of the history layer, each with its reason. A commit with all of them full still fits one KV value."""

from __future__ import annotations

MAX_PARENTS = 8
"""Parents of a commit: merges have two; a few more leave room for imports from systems that merge several at once."""

MAX_MESSAGE = 64 * 1024
"""Bytes of a message: more than anybody writes, and less than what a program might pour into it."""

MAX_PERSON = 1024
"""Bytes of a committer's or tagger's name: an e-mail address or a service account's full name, with room."""

MAX_METADATA = 1_000
"""Pairs of metadata: run ids, versions, counts. What has more is data, and belongs in a file."""

MAX_METADATA_BYTES = 64 * 1024
"""Bytes of all keys and values of metadata together."""

MAX_OWN = 64 * 1024
"""Bytes of a commit's own changes: above the 32 KiB at which they are spilled into a tree, so that the cap may move."""

MAX_INHERITED = 256 * 1024
"""Bytes of the inherited changes: within a KV value, and eight times what is usual."""

MAX_TIME = 253_402_300_800_000 - 1
"""Milliseconds since 1970: the last one of the year 9999, which is where calendars in most languages end."""

MAX_COMPONENTS = 32
"""Components that a clock keeps. Each branch off a branch, and each move of one that is not a commit, adds one, without
end; a clock that is full lets go of its oldest. 32 cost some 400 bytes a commit; few histories need a second look."""

MIN_PREFIX = 4
"""Hex digits of an abbreviated commit id, as in git: fewer name anything."""

CANDIDATES = 5
"""Commits that an error about an ambiguous prefix lists."""

MAX_NAME = 255
"""Bytes of the name of a branch or tag: what file systems allow a name to be, as tools make files of them."""

MAX_EXPRESSION = 1024
"""Characters of a reference expression: a name and far more steps than anybody can follow."""

MAX_LOG_PAGE = 1_000
"""Commits that a caller may ask for in one page of a log."""

LOG_BATCH = 100
"""Commits that a filtered log fetches and looks at in one go."""

MAX_LOG_EXAMINED = 10_000
"""Commits that one page of a filtered log looks at before it answers, be it with nothing: a caller can then go on, give
up or show progress."""

READ_AHEAD = 32
"""Commits that a search through the graph fetches at once: branches are usually merged within as many."""

CACHE_BYTES = 64 * 1024 * 1024
"""Bytes of commits and deltas kept in memory for one repository: some 100,000 small commits."""
