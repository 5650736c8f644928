"""Conditions on columns as plain values, `("day", ">=", 5)`: by them files, and parts of files, are left out unread."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any, Final, TypeAlias

import pyarrow.dataset as ds
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from headwater.engine.errors import BadRequest

Condition: TypeAlias = tuple[str, str, Any]
"""A column, an operator, and a value; or of `in`, several. Nothing holds of null."""

_COMPARING: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def check_conditions(conditions: Sequence[Condition]) -> None:
    """Raise `BadRequest` unless these are conditions."""
    for name, comparison, value in conditions:
        if comparison not in {*_COMPARING, "in"}:
            raise BadRequest(f"where {name}: {comparison!r} is none of {', '.join(_COMPARING)} and in")
        values = value if comparison == "in" else [value]
        if not isinstance(values, list | tuple | set) or any(each is None for each in values):
            raise BadRequest(f"where {name}: in takes a list, the others take one value, and none of them is null")


def as_column(conditions: Sequence[Condition]) -> Column:
    """That all of *conditions* hold, for Spark."""
    everything: Column = F.lit(True)  # noqa: FBT003  (a literal)
    for each in conditions:
        everything &= _column(*each)
    return everything


def as_expression(conditions: Sequence[Condition], names: Collection[str]) -> ds.Expression | None:
    """That those of *conditions* hold that are on *names*, for Arrow; None if there are none."""
    found = [_expression(*each) for each in conditions if each[0] in names]
    return reduce(operator.and_, found) if found else None


def may_hold(conditions: Sequence[Condition], values: Mapping[str, Any]) -> bool:
    """Whether *conditions* may all hold where *values* are known: what cannot be compared, Spark is left to tell."""
    for name, comparison, value in conditions:
        if name not in values:
            continue
        known = values[name]
        if known is None:
            return False
        candidates = list(value) if comparison == "in" else [value]
        if any(type(each) is not type(known) for each in candidates):
            continue
        compare = _COMPARING["=" if comparison == "in" else comparison]
        if not any(compare(known, each) for each in candidates):
            return False
    return True


def _column(name: str, comparison: str, value: Any) -> Column:
    column = F.col(f"`{name}`")
    if comparison == "in":
        return column.isin(list(value))
    found: Column = _COMPARING[comparison](column, F.lit(value))
    return found


def _expression(name: str, comparison: str, value: Any) -> ds.Expression:
    field = ds.field(name)
    return field.isin(list(value)) if comparison == "in" else _COMPARING[comparison](field, value)
