"""Padded series as ONNX operations: what is valid, what is refused, and their summaries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import ACTIVITY, EXTENT, WINDOWS, Category, PanelEncoder, Plan, TableEncoder
from ._graph import DOUBLE, FLOAT, INT64, Graph
from ._onnx_encoders import LARGEST, any_of, not_increasing, pick, refused_rows

STEPS = np.array([1])  # the axis of steps, after which (n, C) is left


@dataclass(frozen=True)
class Series:
    """Names of tensors for n series, padded to T steps of C columns.

    x (n, T, C) double, NaN in padding; times (n, T) double, 0 in padding; lengths (n,) int64;
    static (n, s) double or None; rows (n·T, C + s), static columns repeated at every step;
    steps (1,) = T; clock (1, T) = 0, 1, …; within (n, T, 1) bool, what is not padding;
    by_step, the shape (n, T, any); refused (n, 1) bool, what the estimator would refuse.
    """

    x: str
    times: str
    lengths: str
    static: str | None
    rows: str
    steps: str
    clock: str
    within: str
    by_step: str
    refused: str


def read_series(g: Graph, encoder: PanelEncoder) -> Series:
    """Declare the inputs, and find out what is padding and what is refused."""
    x = g.input("X", "double", ["series", "steps", encoder.steps.n_columns])
    raw_lengths = g.input("lengths", "int64", ["series"])
    times = g.input("times", "double", ["series", "steps"])
    steps, shape = g("Shape", x, start=1, end=2), g("Shape", x, end=2)  # (1,) and n, T
    lengths = g("Min", g("Max", raw_lengths, 1), steps)
    clock = g("Unsqueeze", g("Range", 0, g("Squeeze", steps), 1), np.array([0]))
    valid = g("Less", clock, g("Unsqueeze", lengths, STEPS))  # (n, T)
    within = g("Unsqueeze", valid, np.array([2]))
    # Padding must not matter, whether NaN or infinity.
    x, times = g("Where", within, x, np.nan), g("Where", valid, times, 0.0)
    rows, static = g("Flatten", x, axis=2), None
    if encoder.statics is not None:
        n_static = encoder.statics.n_columns
        static = g.input("static", "double", ["series", n_static])
        wide = g("Concat", shape, np.array([n_static]), axis=0)
        repeated = g("Expand", g("Unsqueeze", static, STEPS), wide)
        rows = g("Concat", rows, g("Flatten", repeated, axis=2), axis=1)
    wrong = [
        g("Unsqueeze", g("Not", g("Equal", lengths, raw_lengths)), STEPS),
        not_increasing(g, times, valid),
        any_of(g, g("Reshape", refused_rows(g, encoder.plans, rows), shape)),
    ]
    refused = g("Greater", g("Sum", *(g("Cast", f, to=FLOAT) for f in wrong)), np.float32(0))
    by_step = g("Concat", shape, np.array([-1]), axis=0)
    return Series(x, times, lengths, static, rows, steps, clock, within, by_step, refused)


def summarise_series(g: Graph, encoder: PanelEncoder, table: TableEncoder, series: Series) -> str:
    """What `data.summarise` does: the columns of `table`, fitted to summaries; (n, columns) double.

    A category is the number of its level: among those of `encoder` in the series, among those of
    `table` in the result.
    """
    x, times, lengths = series.x, series.times, series.lengths
    if not encoder.time_since:
        times = g("Expand", g("Cast", series.clock, to=DOUBLE), g("Shape", times))
    seen = g("Not", g("IsNaN", x))
    count = g("ReduceSum", g("Cast", seen, to=DOUBLE), STEPS, keepdims=0)  # (n, C)
    some, number = g("Greater", count, 0.0), g("Max", count, 1.0)
    known = g("Where", seen, x, 0.0)
    high = g("ReduceMax", g("Where", seen, x, -np.inf), STEPS, keepdims=0)
    low = g("Neg", g("ReduceMax", g("Where", seen, g("Neg", x), -np.inf), STEPS, keepdims=0))
    mean = _finite(g, g("Div", g("ReduceSum", known, STEPS, keepdims=0), number))
    mean = g("Where", g("Equal", low, high), low, mean)
    apart = g("Where", seen, g("Sub", x, g("Unsqueeze", mean, STEPS)), 0.0)
    variance = g("Div", g("ReduceSum", g("Mul", apart, apart), STEPS, keepdims=0), number)
    step = g("Transpose", series.clock)  # (T, 1)
    places = (
        g("ReduceMin", g("Where", seen, step, g("Sub", series.steps, 1)), STEPS, keepdims=1),
        g("ReduceMax", g("Where", seen, step, 0), STEPS, keepdims=1),
    )
    stamps = g("Expand", g("Unsqueeze", times, np.array([2])), g("Shape", x))
    first, last = (_at(g, known, place) for place in places)
    first_time, last_time = (_at(g, stamps, place) for place in places)
    final = g("Unsqueeze", g("Sub", lengths, 1), STEPS)  # (n, 1)
    start = g("Slice", times, np.array([0]), np.array([1]), np.array([1]))
    end = g("GatherElements", times, final, axis=1)
    by_kind = {
        "mean of": mean,
        "min of": low,
        "max of": high,
        "std of": g("Sqrt", variance),
        "change of": g("Sub", last, first),
        "first of": first,
        "last of": last,
        "first time of": g("Sub", first_time, start),
        "time since": g("Sub", end, last_time),
    }
    parts = {kind: g("Where", some, _finite(g, part), np.nan) for kind, part in by_kind.items()}
    parts["count of"] = count
    extent = [
        g("ReduceSum", count, STEPS, keepdims=1),
        g("Unsqueeze", g("Cast", lengths, to=DOUBLE), STEPS),
        _finite(g, g("Sub", end, start)),
    ]
    of_series = [*_activity(g, seen, series), *extent]
    return _in_order(g, encoder, table, parts, of_series, series.static)


def _activity(g: Graph, seen: str, series: Series) -> list[str]:
    """How observations spread over the steps, as `ACTIVITY` names it; (n, 1) each."""
    in_step = g("ReduceSum", g("Cast", seen, to=DOUBLE), np.array([2]), keepdims=0)  # (n, T)
    any_seen = g("Cast", g("Greater", in_step, 0.0), to=DOUBLE)
    parts = [
        g("ReduceSum", any_seen, STEPS, keepdims=1),
        g("ReduceMax", in_step, STEPS, keepdims=1),
    ]
    left = g("Sub", g("Unsqueeze", series.lengths, STEPS), series.clock)  # 1 at the last step
    windows = [g("Less", series.clock, steps) for steps in WINDOWS]
    windows += [g("LessOrEqual", left, steps) for steps in WINDOWS]
    for inside in windows:
        parts.append(g("ReduceSum", g("Where", inside, in_step, 0.0), STEPS, keepdims=1))
    return parts


def _in_order(
    g: Graph,
    encoder: PanelEncoder,
    table: TableEncoder,
    parts: dict[str, str],
    of_series: list[str],
    static: str | None,
) -> str:
    """Put the summaries side by side as `table` has its columns, categories renumbered.

    parts : by kind, summaries of each column (n, C)
    of_series : summaries of all columns together (n, 1), as ACTIVITY and EXTENT name them
    """
    names, width = encoder.steps.names, encoder.steps.n_columns
    place = {
        f"{kind} {name}": at * width + j
        for at, kind in enumerate(parts)
        for j, name in enumerate(names)
    }
    others = len(parts) * width
    place |= {name: others + i for i, name in enumerate((*ACTIVITY, *EXTENT))}
    levels: dict[str, Plan] = dict(zip(place, [*encoder.steps.plans] * len(parts), strict=False))
    everything = [*parts.values(), *of_series]
    if encoder.statics is not None and static is not None:
        statics = [f"{name} (static)" for name in encoder.statics.names]
        place |= {name: others + len(of_series) + i for i, name in enumerate(statics)}
        levels |= dict(zip(statics, encoder.statics.plans, strict=True))
        everything.append(static)
    joined = g("Concat", *everything, axis=1)
    rows = pick(g, joined, [place[plan.name] for plan in table.plans], len(place))
    return _renumbered(g, table, levels, rows)


def _renumbered(g: Graph, table: TableEncoder, old: dict[str, Plan], rows: str) -> str:
    """Categories by the numbers that `table` gives to their levels; (n, columns)."""
    plans = {j: plan for j, plan in enumerate(table.plans) if isinstance(plan, Category)}
    if not plans:
        return rows
    numbers, starts = list[float](), list[int]()
    for plan in plans.values():
        before = old[plan.name]
        assert isinstance(before, Category)
        code_of = {level: float(i) for i, level in enumerate(plan.all_levels)}
        starts.append(len(numbers))
        numbers += [code_of.get(level, np.nan) for level in before.all_levels] + [np.nan]  # a gap
    ends = np.array([*starts[1:], len(numbers)]) - 1
    codes = pick(g, rows, list(plans), len(table.plans))
    codes = g("Add", g("Where", g("IsNaN", codes), 2.0**31, codes), np.array(starts, dtype=float))
    codes = g("Max", g("Min", codes, ends.astype(float)), 0.0)
    codes = g("Gather", np.array(numbers), g("Cast", codes, to=INT64), axis=0)
    order = [j for j in range(len(table.plans)) if j not in plans] + list(plans)
    others = g("Gather", rows, np.array(order[: -len(plans)]), axis=1)
    joined = g("Concat", others, codes, axis=1)
    return g("Gather", joined, np.argsort(order), axis=1)


def _at(g: Graph, values: str, place: str) -> str:
    """Values at one step of each series and column; (n, T, C) and (n, 1, C) -> (n, C)."""
    return g("Squeeze", g("GatherElements", values, place, axis=1), STEPS)


def _finite(g: Graph, values: str) -> str:
    return g("Clip", values, -LARGEST, LARGEST)
