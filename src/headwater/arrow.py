"""pyarrow without pandas: it would take longer than all else that a command does, and hold up all requests of a worker.

The first time that pyarrow is given a value it imports pandas, if that is installed, to see whether the value is one of
pandas'. None that `hw` or a server gives it is. So it is let look once while there is none to be found; whoever wants
pandas later, pyarrow included, imports it as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NoPandas:
    """Finds that there is no pandas, and leaves all else to others."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not looked for now", name=name)
        return None


def look_for_no_pandas() -> None:
    """Have pyarrow make up its mind that no value is of pandas, unless pandas is there already."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa  # noqa: PLC0415  (the engine needs it, and not every command the engine)

    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(_NoPandas)
