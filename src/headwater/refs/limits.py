"""Every limit of references, each with its reason."""

from __future__ import annotations

HEADS = 20
"""Earlier heads that a branch record keeps: enough to undo what one notices, small enough to be read each time."""

RECENT = 5.0
"""Seconds for which a writer may believe a record that it has seen. It looks again before it acknowledges; what this
bounds is how long after a token is dropped somebody may still write to it."""
