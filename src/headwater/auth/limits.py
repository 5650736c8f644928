"""Every limit of this layer, each with its reason."""

from __future__ import annotations

MAX_ID = 254
"""Bytes of the id of a user, group or policy: what an e-mail address may have. Two of them fit into a key."""

MAX_TEXT = 1024
"""Bytes of a friendly name, an e-mail address or a description: what fits on a page."""

MAX_PAGE = 1000
"""Users, groups, policies or credentials that one page holds, and what it holds unless told otherwise."""

MAX_STATEMENTS = 100
"""Statements of one policy: more than anyone keeps in mind."""

MAX_ACTIONS = 200
"""Actions that one statement names: there are not that many."""

MAX_RESOURCES = 200
"""Resources that one statement names."""

MAX_ADDRESSES = 200
"""Addresses and networks of one condition."""

MAX_PATTERN = 2048
"""Bytes of an action or resource in a statement: an object's name of 1,024 bytes and what is around it."""

MAX_POLICY = 128 * 1024
"""Bytes of a policy as it is stored: a third of what a store takes for a value."""

MAX_ATTACHED = 100
"""Groups, and policies besides, that a user has, and policies that a group has: all of them are read and compiled."""

MAX_CREDENTIALS = 100
"""Credentials of one user: rotating needs two."""

MAX_SECRET = 256
"""Characters of a secret that was not made here. One that was has 40."""

MIN_SECRET = 8
"""Characters of a secret that was not made here: what is shorter is guessed."""

MIN_SERVER_SECRET = 16
"""Bytes of the server's secret. Everything is sealed and signed under it, so it must not be guessed."""

BELIEVED = 5.0
"""Seconds for which another process's change of users, policies or credentials may not be noticed. A request within
them costs no trip to the store. Changes made through the same process are noticed at once."""

KNOWN = 10_000
"""Users, credentials and headers that one process remembers: a few hundred bytes each, policies aside."""

TOKEN_LIFE = 7 * 24 * 3600.0
"""Seconds for which a login is good unless told otherwise: a week."""

MAX_TOKEN = 4096
"""Characters of a token, or of a header with credentials, that are looked at."""

ATTEMPTS_OF_KEY = (30, 1.0)
"""Attempts with wrong secrets for one access key: so many at once, and so many a second. A secret of 40 characters is
not guessed at any rate; one that a person chose is not guessed at this one."""

ATTEMPTS_OF_CLIENT = (60, 2.0)
"""Attempts with wrong credentials by one client, likewise. Many users may stand behind one address."""

FAMILIAR = 24 * 3600.0
"""Seconds for which a client that had the right secret for an access key is not made to wait for those who have not."""

WATCHED = 20_000
"""Access keys and clients whose wrong attempts are counted at a time. The least recent are forgotten: a few MB."""
