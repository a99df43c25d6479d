"""What `TableEncoder.transform` does, as ONNX operations: raw columns to inputs of networks.

Columns come as one tensor of doubles, NaN for missing; a category is the number of its level, first
the levels that have an input of their own, then the rare ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import FEW_VALUES_SIZE, HARD_LIMIT, SOFT_LIMIT, Category, Number, Plan, TableEncoder
from ._graph import FLOAT, INT32, Graph
from ._metadata import levels_of
from ._normal_scores import normal_scores

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class Encoded:
    """Names of tensors, for n rows of C columns.

    entries (n, d) float with the placeholder where missing, indicators (n, g) float or None where
    there are none, seen (n, C) bool, observed (n, d) bool, refused (n, 1) bool: what the estimator
    would not take, such as infinity, in any column.
    """

    entries: str | None
    indicators: str | None
    seen: str
    observed: str | None
    refused: str


def encode_columns(g: Graph, encoder: TableEncoder, x: str, placeholder: float) -> Encoded:
    """From x (n, C) double to inputs."""
    plans = encoder.plans
    seen = g("Not", g("IsNaN", x))
    entries = observed = indicators = None
    if encoder.n_entries:
        places = encoder.input_columns[: encoder.n_entries]
        observed = picked(g, seen, places, len(plans))
        values = g("Cast", _values(g, plans, x), to=FLOAT)
        entries = g("Where", observed, values, np.float32(placeholder))
    if gaps := encoder._with_indicator():
        missing = g("Not", picked(g, seen, gaps, len(plans)))
        indicators = g("Cast", missing, to=FLOAT)
    return Encoded(entries, indicators, seen, observed, _refused(g, plans, x, seen))


def picked(g: Graph, x: str, columns: list[int] | np.ndarray, width: int) -> str:
    """Columns of x by number, in that order; nothing to do if it is all of them."""
    if list(columns) == list(range(width)):
        return x
    return g("Gather", x, np.asarray(columns, dtype=np.int64), axis=-1)


def _values(g: Graph, plans: list[Plan], x: str) -> str:
    """All entries, (n, d) double; anything where missing."""
    kinds: dict[str, list[int]] = {"scaled": [], "raw": [], "score": []}
    for j, plan in enumerate(plans):
        if isinstance(plan, Number):
            kinds["scaled" if plan.scaled else "raw"].append(j)
            if plan.knots:
                kinds["score"].append(j)
    parts: list[str] = []
    order: dict[tuple[int, int], int] = {}  # (column, which of its inputs) -> place in the parts
    for kind, columns in kinds.items():
        if not columns:
            continue
        part = picked(g, x, columns, len(plans))
        numbers = [plan for j in columns if isinstance(plan := plans[j], Number)]
        if kind == "scaled":
            part = _scaled(g, part, numbers)
        elif kind == "score":
            part = normal_scores(g, part, numbers)
        parts.append(part)
        for j in columns:
            order[j, 1 if kind == "score" else 0] = len(order)
    switches = [(j, *switch) for j, plan in enumerate(plans) for switch in _switches(plan)]
    if switches:
        parts.append(_switched(g, x, switches, len(plans)))
        for j, which, *_ in switches:
            order[j, which] = len(order)
    joined = parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)
    wanted = [order[j, i] for j, plan in enumerate(plans) for i in range(len(plan.inputs))]
    return picked(g, joined, wanted, len(order))


def _scaled(g: Graph, x: str, plans: list[Number]) -> str:
    """`scaling.scale`, column by column."""
    center, spread = np.array([(plan.center, plan.spread) for plan in plans]).T
    z = g("Clip", g("Div", g("Sub", x, center), spread), -HARD_LIMIT, HARD_LIMIT)
    bend = g("Div", z, SOFT_LIMIT)
    return g("Div", z, g("Sqrt", g("Add", g("Mul", bend, bend), 1.0)))


def _switches(plan: Plan) -> list[tuple[int, float, float, float]]:
    """Inputs that are on for some values: which of the column's, from, to, their size."""
    if isinstance(plan, Number):
        return [(i, v, v, FEW_VALUES_SIZE) for i, v in enumerate(plan.levels, start=1)]
    own = [(i, float(i), float(i), 1.0) for i in range(len(plan.levels))]
    if not plan.rare_levels:
        return own
    return [*own, (len(own), float(len(own)), float(len(levels_of(plan)) - 1), 1.0)]


def _switched(
    g: Graph, x: str, switches: list[tuple[int, int, float, float, float]], width: int
) -> str:
    """One input a value (or level); (n, C) -> (n, switches)."""
    columns, _, low, high, size = zip(*switches, strict=True)
    value = picked(g, x, list(columns), width)
    if low == high:
        on = g("Equal", value, np.array(low))
    else:
        above = g("GreaterOrEqual", value, np.array(low))
        on = g("And", above, g("LessOrEqual", value, np.array(high)))
    return g("Where", on, np.array(size), 0.0)


def _refused(g: Graph, plans: list[Plan], x: str, seen: str) -> str:
    """Rows with an infinity, or with a number that is no level's; (n, C) -> (n, 1) bool."""
    bounds = [
        (0.0, len(levels_of(plan)) - 1.0) if isinstance(plan, Category) else (-LARGEST, LARGEST)
        for plan in plans
    ]
    low, high = (np.array(ends) for ends in zip(*bounds, strict=True))
    within = g("And", g("GreaterOrEqual", x, low), g("LessOrEqual", x, high))
    category = np.array([isinstance(plan, Category) for plan in plans])
    if category.any():
        whole = g("Or", g("Equal", g("Floor", x), x), ~category)
        within = g("And", within, whole)
    bad = g("Cast", g("And", seen, g("Not", within)), to=INT32)
    return g("Greater", g("ReduceMax", bad, np.array([1])), np.int32(0))
