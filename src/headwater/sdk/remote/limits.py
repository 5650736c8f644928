"""Every limit of asking a server, each with its reason."""

from __future__ import annotations

CONNECT = 10.0
"""Seconds to be connected: a server that is there answers within milliseconds."""

SILENCE = 600.0
"""Seconds that a server may say nothing, unless told otherwise. A commit of very many changes takes minutes, and is
silent until it is done; a connection that is lost is noticed sooner."""

CONNECTIONS = 32
"""Connections at a time. More requests wait their turn: a server works on so many at once, too."""

IDLE = 20.0
"""Seconds that a connection is kept for the next request. Servers, and what is between, close idle ones before long."""

TRIES = 5
"""Times that a request is sent which may be sent again."""

FIRST_WAIT = 0.05
LONGEST_WAIT = 3.0
"""Seconds to wait before a request is sent again: they double from the first to the longest, and each wait is anything
up to that, so that many clients do not come back at once."""

POLL = 0.05
LONGEST_POLL = 2.0
"""Seconds between two looks at a task of the server, which double from the first to the longest."""

LISTED_DELETES = 1000
"""Paths that the server deletes in one request."""
