"""Every limit of growing files, each with its reason."""

from __future__ import annotations

APPEND_TRIES = 3
"""Times that an append is sent whose outcome was unknown: a store that answers none of them is down."""

SMALL = 4 * 1024 * 1024
"""Bytes from which on a block is worth a request of its own, and is left where it is."""

PACKED = 64 * 1024 * 1024
"""Bytes of a packed object at most: what is written anew if packing fails."""

MAX_OPEN = 1000
"""Commits in progress of one repository. One that waits to be finished keeps its data: more are forgotten ones."""

HISTORY_PAGE = 100
"""Commits in a page of a path's history unless told otherwise."""
