"""Times as inputs of networks: what `PanelEncoder` makes of when steps were, as ONNX operations."""

from __future__ import annotations

import numpy as np

from ..data import LONGEST, PanelEncoder
from ._graph import FLOAT, INT32, Graph
from ._onnx_columns import LARGEST, picked
from ._onnx_summaries import ALL, START, running_max

STEPS = np.array([1])  # the axis of time


def times_since(g: Graph, encoder: PanelEncoder, times: str, seen: str, steps: str) -> str | None:
    """log(1 + time since / usual distance), of the last observations and of the last step.

    Shapes: times (n, T) double, rising, seen (n, T, C) -> (n, T, inputs) float, or None.
    """
    columns, parts = encoder._with_time(), []
    stamp = g("Unsqueeze", times, np.array([2]))  # (n, T, 1)
    first, but_last = (g("Slice", stamp, START, end, STEPS) for end in (np.array([1]), -STEPS))
    if columns:
        noticed = picked(g, seen, columns, encoder.steps.n_columns)
        # Times rise, so the time of the last observation is the largest of them.
        known = g("Where", noticed, stamp, first)
        latest = g("Slice", running_max(g, known, steps), START, -STEPS, STEPS)
        before = g("Concat", g("Slice", known, START, np.array([1]), STEPS), latest, axis=1)
        parts.append(g("Sub", stamp, before))
    if encoder.uneven:
        gap = g("Sub", stamp, g("Concat", first, but_last, axis=1))
        parts.append(g("Min", gap, LONGEST))
    if not parts:
        return None
    since = parts[0] if len(parts) == 1 else g("Concat", *parts, axis=2)
    ratio = g("Min", g("Div", since, float(encoder.unit)), LONGEST)
    return g("Cast", g("Log", g("Add", ratio, 1.0)), to=FLOAT)


def not_rising(g: Graph, times: str, valid: str) -> str:
    """Series with a time that is no number, or not after the one before; (n, T) -> (n, 1) bool."""
    finite = g("LessOrEqual", g("Abs", times), LARGEST)
    early, late = (
        g("Slice", times, *ends, STEPS) for ends in ((START, -STEPS), (np.array([1]), ALL))
    )
    opening = g("Slice", finite, START, np.array([1]), STEPS)
    rising = g("Concat", opening, g("Less", early, late), axis=1)
    bad = g("And", valid, g("Not", g("And", finite, rising)))
    return any_of(g, bad)


def any_of(g: Graph, flags: str) -> str:
    """Whether any step is marked; (n, T) bool -> (n, 1) bool."""
    return g("Greater", g("ReduceMax", g("Cast", flags, to=INT32), STEPS), np.int32(0))
