"""`gil.summary` and running maxima as ONNX operations.

Sums are taken in double: the spread is a difference of squares, and float32 leaves little of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._graph import DOUBLE, FLOAT, INT64, Graph

TIME = np.array([-2])  # the axis of time
ALL = np.array([2**62])
START = np.array([0])


def running_max(g: Graph, x: str, steps: str) -> str:
    """The maximum up to and including each step; x (…, T, C) double, steps (1,) = T.

    Each round looks back twice as far as the one before, so log2 T rounds do, whatever T is.
    """

    def look_back(inner: Graph, best: str, far: str) -> tuple[str, str, str]:
        early = inner("Slice", best, START, far, TIME)
        late = inner("Slice", best, far, ALL, TIME)
        before = inner("Slice", best, START, inner("Neg", far), TIME)
        best = inner("Concat", early, inner("Max", late, before), axis=-2)
        far = inner("Mul", far, 2)
        return best, far, inner("Squeeze", inner("Less", far, steps))

    return g.repeated(x, g("Squeeze", g("Less", np.array([1]), steps)), look_back)


def summary(g: Graph, values: str, observed: str, steps: str, running: bool) -> str:
    """Seven statistics a column, see `gil.summary`.

    Shapes: values (…, T, S) float, observed (…, T, S) -> (…, 7 S), running (…, T, 7 S) float.
    """
    x = g("Cast", values, to=DOUBLE)
    kept = g("Where", observed, x, 0.0)
    above, below = g("Where", observed, x, -np.inf), g("Where", observed, g("Neg", x), -np.inf)
    one = g("Cast", observed, to=DOUBLE)
    step = g("Unsqueeze", g("Range", 0, g("Squeeze", steps), 1), np.array([1]))  # (T, 1)
    place = g("Where", observed, step, 0)
    if running:
        count, sums, squares = (
            g("CumSum", part, np.int64(-2)) for part in (one, kept, g("Mul", kept, kept))
        )
        highest, lowest = running_max(g, above, steps), g("Neg", running_max(g, below, steps))
        place = g("Cast", running_max(g, g("Cast", place, to=DOUBLE), steps), to=INT64)
        last = g("GatherElements", kept, place, axis=-2)
        opening = g("And", observed, g("Equal", count, 1.0))
        first = g("CumSum", g("Where", opening, kept, 0.0), np.int64(-2))
    else:
        count, sums, squares = (
            _reduced(g, "Sum", part) for part in (one, kept, g("Mul", kept, kept))
        )
        highest, lowest = _reduced(g, "Max", above), g("Neg", _reduced(g, "Max", below))
        last = _at(g, kept, g("ReduceMax", place, TIME, keepdims=1))
        place = g("Where", observed, step, g("Sub", steps, 1))
        first = _at(g, kept, g("ReduceMin", place, TIME, keepdims=1))
    some = g("Greater", count, 0.0)
    number = g("Max", count, 1.0)
    mean = g("Div", sums, number)
    variance = g("Sub", g("Div", squares, number), g("Mul", mean, mean))
    spread = g("Sqrt", g("Max", variance, 1e-12))
    parts: list[Any] = [mean, *(g("Where", some, one, 0.0) for one in (spread, highest, lowest))]
    parts += [last, g("Sub", last, first), g("Mul", g("Log", g("Add", count, 1.0)), 0.5)]
    return g("Cast", g("Concat", *parts, axis=-1), to=FLOAT)


def _reduced(g: Graph, how: str, x: str) -> str:
    return g(f"Reduce{how}", x, TIME, keepdims=0)


def _at(g: Graph, x: str, place: str) -> str:
    return g("Squeeze", g("GatherElements", x, place, axis=-2), TIME)
