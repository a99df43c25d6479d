"""Normal scores as ONNX operations: what `np.interp` does, for all columns at once.

ONNX has no search in sorted numbers. Knots lie in blocks of about the square root of their number:
one comparison with the first knot of each block finds the block, one with its knots the place. So a
value costs some 24 comparisons rather than 129, and the graph stays short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..data import Number
from ._graph import INT32, Graph


def normal_scores(g: Graph, x: str, plans: Sequence[Number]) -> str:
    """The normal score of each value; x (n, C) double -> (n, C) double, anything where NaN."""
    size = math.ceil(math.sqrt(max(len(plan.knots) for plan in plans)))
    knots = np.full((len(plans), size * size), np.inf)
    lines = np.zeros((len(plans), size * size, 3))  # knot, score there, slope behind it
    for j, plan in enumerate(plans):
        own, height = np.array(plan.knots), np.array(plan.scores)
        knots[j, : len(own)] = own
        lines[j, : len(own), 0], lines[j, : len(own), 1] = own, height
        with np.errstate(over="ignore"):
            lines[j, : len(own) - 1, 2] = np.diff(height) / np.diff(own)
    first = knots[:, 0]
    last = np.array([plan.knots[-1] for plan in plans])
    x = g("Where", g("IsNaN", x), first, x)
    x = g("Min", g("Max", x, first), last)  # scores are level beyond the ends
    value = g("Unsqueeze", x, np.array([2]))
    blocks = knots.reshape(len(plans), size, size)
    block = g("Add", _count(g, value, blocks[:, 1:, 0]), _offsets(len(plans), size))
    inside = g("Gather", blocks.reshape(-1, size), block, axis=0)  # (n, C, size)
    place = g("Add", g("Mul", block, np.int32(size)), _count(g, value, inside))
    line = g("Gather", lines.reshape(-1, 3), g("Sub", place, np.int32(1)), axis=0)
    at, score, slope = (
        g("Squeeze", part, np.array([2]))
        for part in g.several("Split", 3, line, np.array([1, 1, 1]), axis=2)
    )
    return g("Add", g("Mul", slope, g("Sub", x, at)), score)


def _count(g: Graph, value: str, knots: str | np.ndarray) -> str:
    """How many of the knots are not above the value; (n, C, 1) and (…, C, k) -> (n, C) int32."""
    reached = g("Cast", g("GreaterOrEqual", value, knots), to=INT32)
    return g("ReduceSum", reached, np.array([2]), keepdims=0)


def _offsets(columns: int, blocks: int) -> np.ndarray:
    """Where each column's blocks begin in the list of all; (C,)."""
    return np.arange(columns, dtype=np.int32) * np.int32(blocks)
