"""Garbage collection in one process: what nothing refers to is planned, looked at again, and deleted.

What is kept and why nothing is lost is in `docs/garbage.md`. The pipeline makes the same plan on Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from headwater.garbage.errors import GarbageError, NoSuchPlan, SharedNamespace
from headwater.garbage.plan import Plan, Swept
from headwater.garbage.rules import RetentionRule, RetentionRules, read_rules, write_rules

if TYPE_CHECKING:  # these take Polars, which takes long to import, and whoever only sets rules does not need it
    from headwater.garbage.planning import make_plan
    from headwater.garbage.plans import list_plans, read_plan
    from headwater.garbage.sweeping import sweep

__all__ = [
    "GarbageError",
    "NoSuchPlan",
    "Plan",
    "RetentionRule",
    "RetentionRules",
    "SharedNamespace",
    "Swept",
    "list_plans",
    "make_plan",
    "read_plan",
    "read_rules",
    "sweep",
    "write_rules",
]

_HOMES = {
    "headwater.garbage.planning": ("make_plan",),
    "headwater.garbage.plans": ("list_plans", "read_plan"),
    "headwater.garbage.sweeping": ("sweep",),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'headwater.garbage' has no attribute {name!r}")
