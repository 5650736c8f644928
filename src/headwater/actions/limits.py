"""Every limit of actions, each with its reason."""

from __future__ import annotations

MAX_FILES = 100
"""Files of actions in one branch: all of them are read before each operation that has hooks."""

MAX_FILE = 64 * 1024
"""Bytes of one file: many screens of what people write."""

MAX_HOOKS = 20
"""Hooks of one action. They run one after the other, while somebody waits."""

MAX_NESTING = 20
"""How deep a file may nest."""

MAX_CONDITION = 200
"""Characters of an `if`."""

MAX_PARSED = 1000
"""Files that are kept as they were understood, by where their bytes are: bytes never change in their place."""

TIMEOUT = 60.0
"""Seconds that a hook has, unless it says otherwise: what lakeFS gives it."""

MAX_TIMEOUT = 600.0
"""Seconds that a hook may say it needs. A branch takes no other commit of the same process meanwhile."""

MAX_OUTPUT = 64 * 1024
"""Bytes that are kept of what one hook said."""

MAX_ANSWER = 16 * 1024
"""Bytes that are read of the answer to a webhook: they are for people."""

MAX_EVENT = 256 * 1024
"""Bytes of what a hook is told."""

POLL = 2.0
"""Seconds between two looks at a run in Airflow that is waited for."""

SCRIPTS = 4
"""Scripts that one worker runs at a time. Others wait: each is a process."""

MAX_SCRIPT = 256 * 1024
"""Bytes of a script."""

SCRIPT_STEPS = 100_000_000
"""Instructions of one script: a few seconds of reckoning, which is not what hooks are for."""

SCRIPT_MEMORY = 512 * 1024 * 1024
"""Bytes of address space of a process that runs a script; some 100 MiB of it the process needs for itself."""

SCRIPT_READS = 1000
"""Times that a script may ask for something."""

MAX_READ = 1024 * 1024
"""Bytes of an object that a script may read: it is for manifests and schemas, not for data."""

MAX_SCRIPT_PAGE = 1000
"""Entries or changes that a script is given at a time."""

BACKGROUND = 32
"""Runs of hooks that come after, which one worker has at a time. Whoever would begin more waits for one to end."""

STOPPING = 10.0
"""Seconds that hooks have to end when the server stops."""

RETENTION = 90 * 86_400_000
"""Milliseconds for which runs are kept, and what their hooks said."""

FORGET_EVERY = 100
"""Runs after which a worker looks for some that are too old."""

MAX_REASON = 1000
"""Characters of why a hook failed that whoever is refused is told. The run has the rest."""

MAX_COMMITS = 10_000
"""Commits of which it is kept which action files they have: mostly those of their parents, so it takes little."""
