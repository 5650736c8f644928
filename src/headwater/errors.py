"""The root of every error that Headwater raises on purpose.

Each layer keeps its own small hierarchy below this root, next to the code that raises it. A message says what was
wrong, with the offending name, and what to do next; it never holds a secret.
"""

from __future__ import annotations


class HeadwaterError(Exception):
    """Something Headwater expected might go wrong, did. Anything else that escapes is a defect."""
