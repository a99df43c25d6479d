"""What `TableEncoder` and `PanelEncoder` do, as ONNX operations: raw columns to network inputs.

Columns come as one tensor of doubles, NaN for missing; a category is the number of its level: first
the levels that have their own input, then the rare ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..data import (
    HARD_LIMIT,
    LONGEST,
    SOFT_LIMIT,
    UNSCALED_LIMIT,
    Category,
    Encoder,
    Number,
    PanelEncoder,
    Plan,
    columns_by_kind,
)
from ._graph import END, FLOAT, INT32, START, Graph

LARGEST = np.finfo(np.float64).max
TIME = np.array([1])  # the axis of steps


@dataclass(frozen=True)
class Encoded:
    """Names of tensors for n rows of C columns; a list is empty where there is no such input.

    entries [(n, d)] float with the placeholder where missing, observed [(n, d)] bool,
    indicators [(n, g)] float, seen (n, C) bool.
    """

    entries: list[str]
    observed: list[str]
    indicators: list[str]
    seen: str


def encode_columns(g: Graph, encoder: Encoder, x: str, placeholder: float) -> Encoded:
    """Encode x (n, C) double."""
    plans = encoder.plans
    seen = g("Not", g("IsNaN", x))
    entries, observed, indicators = [], [], []
    if encoder.n_entries:
        columns = encoder.input_columns[: encoder.n_entries]
        observed = [pick(g, seen, columns, len(plans))]
        values = entry_values(g, plans, x)
        if any(isinstance(plan, Number) and not plan.scaled for plan in plans):
            values = g("Clip", values, -UNSCALED_LIMIT, UNSCALED_LIMIT)
        values = g("Cast", values, to=FLOAT)
        entries = [g("Where", observed[0], values, np.float32(placeholder))]
    if len(gaps := encoder.input_columns[encoder.n_entries :]):
        missing = g("Not", pick(g, seen, gaps, len(plans)))
        indicators = [g("Cast", missing, to=FLOAT)]
    return Encoded(entries, observed, indicators, seen)


def pick(g: Graph, x: str, columns: Sequence[int] | np.ndarray, width: int) -> str:
    """Select columns of x by number, in that order."""
    if list(columns) == list(range(width)):
        return x
    return g("Gather", x, np.asarray(columns, dtype=np.int64), axis=-1)


def entry_values(g: Graph, plans: list[Any], x: str) -> str:
    """All entries, kind by kind; (n, d) double, arbitrary where missing."""
    parts, width = list[str](), len(plans)
    columns: dict[str, list[Any]] = columns_by_kind(plans)
    chosen: dict[str, list[Any]] = {kind: [plans[j] for j in of] for kind, of in columns.items()}
    if chosen["value"]:
        part = pick(g, x, columns["value"], width)
        scaled = all(plan.scaled for plan in chosen["value"])  # all of them, or none
        parts.append(_scale(g, part, chosen["value"]) if scaled else part)
    if chosen["score"]:
        maps = [(np.array(plan.knots), np.array(plan.scores)) for plan in chosen["score"]]
        parts.append(interpolated(g, pick(g, x, columns["score"], width), maps))
    binned = [(j, *ends) for j in columns["bin"] for ends in pairwise(plans[j].edges)]
    if binned:
        low, high = np.array([ends for _, *ends in binned]).T / 2
        halves = g("Div", pick(g, x, [j for j, *_ in binned], width), 2.0)
        share = g("Clip", g("Div", g("Sub", halves, low), high - low), 0.0, 1.0)
        sizes = np.array([plans[j].bin_size for j, *_ in binned])
        parts.append(g("Mul", g("Sub", share, 0.5), sizes))
    switches = [(j, *switch) for j in columns["level"] for switch in _switches(plans[j])]
    if switches:
        parts.append(_switched(g, x, switches, width))
    return parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)


def unscaled_entries(g: Graph, encoder: Encoder, x: str) -> tuple[str, str]:
    """What trees and densities read: entries as they are, and which are observed; (n, d) each."""
    plans = [
        replace(plan, scaled=False) if isinstance(plan, Number) else plan for plan in encoder.plans
    ]
    seen = pick(g, g("Not", g("IsNaN", x)), encoder.input_columns, len(plans))
    return entry_values(g, plans, x), seen


def _scale(g: Graph, x: str, plans: list[Number]) -> str:
    """`data.scale`, column by column."""
    center, spread = np.array([(plan.center, plan.spread) for plan in plans]).T
    z = g("Clip", g("Div", g("Sub", x, center), spread), -HARD_LIMIT, HARD_LIMIT)
    bend = g("Div", z, SOFT_LIMIT)
    return g("Div", z, g("Sqrt", g("Add", g("Mul", bend, bend), 1.0)))


def interpolated(g: Graph, x: str, maps: Sequence[tuple[np.ndarray, np.ndarray]]) -> str:
    """`np.interp` for all columns at once; x (n, C) double -> (n, C) double, arbitrary where NaN.

    maps : knots and scores of each column

    ONNX has no search in sorted numbers. Knots lie in blocks of about the square root of their
    number: one comparison with the first knot of each block finds the block, one with its knots the
    position. So a value costs some 24 comparisons rather than 129, and the graph stays short.
    """
    size = math.ceil(math.sqrt(max(len(points) for points, _ in maps)))
    knots = np.full((len(maps), size * size), np.inf)
    lines = np.zeros((len(maps), size * size, 3))  # knot, score there, slope after it
    for j, (points, scores) in enumerate(maps):
        count = len(points)
        knots[j, :count] = lines[j, :count, 0] = points
        lines[j, :count, 1] = scores
        with np.errstate(over="ignore"):
            lines[j, : count - 1, 2] = np.diff(scores) / np.diff(points)
    first, last = knots[:, 0], np.array([points[-1] for points, _ in maps])
    x = g("Where", g("IsNaN", x), first, x)
    x = g("Min", g("Max", x, first), last)  # scores are constant beyond the ends
    value = g("Unsqueeze", x, np.array([2]))  # (n, C, 1)

    def count_reached(bounds: str | np.ndarray) -> str:  # (…, C, k) -> (n, C) int32
        reached = g("Cast", g("GreaterOrEqual", value, bounds), to=INT32)
        return g("ReduceSum", reached, np.array([2]), keepdims=0)

    blocks = knots.reshape(len(maps), size, size)
    offsets = np.arange(len(maps), dtype=np.int32) * np.int32(size)
    block = g("Add", count_reached(blocks[:, 1:, 0]), offsets)
    inside = g("Gather", blocks.reshape(-1, size), block, axis=0)  # (n, C, size)
    reached = g("Add", g("Mul", block, np.int32(size)), count_reached(inside))
    line = g("Gather", lines.reshape(-1, 3), g("Sub", reached, np.int32(1)), axis=0)
    knot, score, slope = (
        g("Squeeze", part, np.array([2]))
        for part in g.several("Split", 3, line, np.array([1, 1, 1]), axis=2)
    )
    return g("Add", g("Mul", slope, g("Sub", x, knot)), score)


def _switches(plan: Plan) -> list[tuple[float, float, float]]:
    """Inputs that are on for some values: from, to, their size."""
    if isinstance(plan, Number):
        return [(value, value, plan.level_size) for value in plan.levels]
    common = len(plan.levels)
    switches = [(float(i), float(i), 1.0) for i in range(common)]
    if plan.rare_levels:
        switches.append((float(common), float(len(plan.all_levels) - 1), 1.0))
    return switches


def _switched(g: Graph, x: str, switches: list[tuple[int, float, float, float]], width: int) -> str:
    """One input per value or level; (n, C) -> (n, switches)."""
    columns, low, high, size = zip(*switches, strict=True)
    value = pick(g, x, columns, width)
    if low == high:
        on = g("Equal", value, np.array(low))
    else:
        above = g("GreaterOrEqual", value, np.array(low))
        on = g("And", above, g("LessOrEqual", value, np.array(high)))
    return g("Where", on, np.array(size), 0.0)


def refused_rows(g: Graph, plans: list[Plan], x: str) -> str:
    """Rows with an infinity, or with a number that is not a level; (n, C) -> (n, 1) bool."""
    bounds = [
        (0.0, len(plan.all_levels) - 1.0) if isinstance(plan, Category) else (-LARGEST, LARGEST)
        for plan in plans
    ]
    low, high = (np.array(ends) for ends in zip(*bounds, strict=True))
    valid = g("And", g("GreaterOrEqual", x, low), g("LessOrEqual", x, high))
    category = np.array([isinstance(plan, Category) for plan in plans])
    if category.any():
        valid = g("And", valid, g("Or", g("Equal", g("Floor", x), x), ~category))
    return any_of(g, g("Not", g("Or", valid, g("IsNaN", x))))


def times_since(g: Graph, encoder: PanelEncoder, times: str, seen: str, steps: str) -> list[str]:
    """log(1 + time since / usual distance), for the last observations and for the last step.

    Shapes: times (n, T) double, increasing, seen (n, T, C) -> [(n·T, inputs)] float, or [].
    """
    columns, parts = encoder.timed_columns(), []
    stamp = g("Unsqueeze", times, np.array([2]))  # (n, T, 1)
    first, all_but_last = (g("Slice", stamp, START, end, TIME) for end in (TIME, -TIME))
    if columns:
        noticed = pick(g, seen, columns, encoder.n_columns)
        # Times increase, so the time of the last observation is the largest of them.
        known = g("Where", noticed, stamp, first)
        latest = g("Slice", g.running_max(known, steps), START, -TIME, TIME)
        before = g("Concat", g("Slice", known, START, TIME, TIME), latest, axis=1)
        parts.append(g("Sub", stamp, before))
    if encoder.uneven:
        gap = g("Sub", stamp, g("Concat", first, all_but_last, axis=1))
        parts.append(g("Min", gap, LONGEST))
    if not parts:
        return []
    since = parts[0] if len(parts) == 1 else g("Concat", *parts, axis=2)
    ratio = g("Min", g("Div", since, float(encoder.unit)), LONGEST)
    return [g("Flatten", g("Cast", g("Log", g("Add", ratio, 1.0)), to=FLOAT), axis=2)]


def not_increasing(g: Graph, times: str, valid: str) -> str:
    """Series with a time that is not finite or not after the one before; (n, T) -> (n, 1) bool."""
    finite = g("LessOrEqual", g("Abs", times), LARGEST)
    early, late = g("Slice", times, START, -TIME, TIME), g("Slice", times, TIME, END, TIME)
    opening = g("Slice", finite, START, TIME, TIME)
    increasing = g("Concat", opening, g("Less", early, late), axis=1)
    return any_of(g, g("And", valid, g("Not", g("And", finite, increasing))))


def any_of(g: Graph, flags: str) -> str:
    """Whether any flag of a row is set; (n, k) bool -> (n, 1) bool."""
    return g("Greater", g("ReduceMax", g("Cast", flags, to=INT32), np.array([1])), np.int32(0))
