"""A lake in this process: the ports of the SDK over the engine."""

from headwater.sdk.embedded.lake import EmbeddedLake, EmbeddedRepository

__all__ = ["EmbeddedLake", "EmbeddedRepository"]
