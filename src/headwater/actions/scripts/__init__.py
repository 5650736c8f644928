"""Scripts of hooks, each in a process of its own: whatever it does, it can be ended, and takes nobody along."""

from headwater.actions.scripts.running import Scripts

__all__ = ["Scripts"]
