"""Workspaces: what is written straight to the object store, under an id, until a commit refers to it where it lies.

Not a layer of staging, though that is what they are: reading one is an overlay on an index, and committing one is the
engine's business, which staging is below. How they work and what they cost is in `docs/workspaces.md`.
"""
