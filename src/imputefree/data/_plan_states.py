"""Column plans as plain JSON types, and back: a file may say anything, so all of it is checked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from itertools import pairwise
from typing import Any

from ._column_plans import Category, Number, Plan

MOST = sys.float_info.max
KINDS: dict[str, type[Plan]] = {plan.kind: plan for plan in (Number, Category)}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


HOLDS: dict[Any, Callable[[Any], bool]] = {  # by the annotation of a field
    "str": _is_string,
    "bool": lambda value: isinstance(value, bool),
    "float": _is_number,
    "float | None": lambda value: value is None or _is_number(value),
    "list[float]": _list_of(_is_number),
    "list[str]": _list_of(_is_string),
}


def plan_state(plan: Plan) -> dict[str, Any]:
    """All that a plan has learned."""
    return {"kind": plan.kind, **asdict(plan)}


def plan_of(state: dict[str, Any]) -> Plan:
    """The inverse of `plan_state`; a ValueError, LookupError or TypeError for anything else."""
    parts = dict(state)
    plan = KINDS[parts.pop("kind")](**parts)
    for part in fields(plan):
        if not HOLDS[part.type](getattr(plan, part.name)):
            raise ValueError(f"{part.name} of a column is not what it should be")
    if not (_is_number_plan(plan) if isinstance(plan, Number) else _is_category_plan(plan)):
        raise ValueError(f"what is known of column {plan.name!r} does not fit together")
    return plan


def _is_number_plan(plan: Number) -> bool:
    pairs = (plan.knots, plan.scores), (plan.values, plan.shares)
    return (
        plan.spread > 0
        and all(len(one) == len(other) for one, other in pairs)
        and all(map(_rises, (plan.knots, plan.levels, plan.edges)))
        and (plan.low is None) == (plan.high is None)
    )


def _is_category_plan(plan: Category) -> bool:
    known = {*plan.levels, *plan.rare_levels}
    distinct = len(known) == len(plan.levels) + len(plan.rare_levels)
    return distinct and len(plan.shares) in (0, len(plan.shown_levels))


def _rises(values: list[float]) -> bool:
    return all(low < high for low, high in pairwise(values))
