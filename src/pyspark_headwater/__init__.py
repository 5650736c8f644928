"""By this name Spark finds the format `headwater` on its own, with nothing registered: it looks for `pyspark_*`."""

from __future__ import annotations

from headwater.pipeline.source import HeadwaterSource as DefaultSource

__all__ = ["DefaultSource"]
