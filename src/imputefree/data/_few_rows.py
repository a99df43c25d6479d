"""Inputs of a few rows by NumPy: PyTorch takes longer to begin such work than to do it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._column_plans import FEW_ROWS, KINDS, Number, columns_by_kind, scale

LARGEST = float(np.finfo(np.float32).max)
MANY_ROWS = 2048  # so many are faster sorted


class FewRows:
    """The inputs that an `Expansion` of these plans makes, from codes at once; see there.

    plans : per column
    indicators : columns that have an indicator

    >>> from imputefree.data import Category
    >>> plans = [Number.learn("age", np.array([20.0, 40.0])), Category("sex", levels=["f", "m"])]
    >>> FewRows(plans, indicators=[0]).inputs(np.array([[20.0, 1.0], [np.nan, 0.0]])).round(4)
    array([[-0.9487,  0.    ,  1.    ,  0.    ],
           [ 0.    ,  1.    ,  0.    ,  1.    ]], dtype=float32)
    """

    def __init__(self, plans: Sequence[Any], indicators: Sequence[int]) -> None:
        columns = columns_by_kind(plans)
        of = {kind: [plans[j] for j in columns[kind]] for kind in KINDS}
        self._values, self._scores = (np.array(columns[kind], int) for kind in ("value", "score"))
        self._scaled = all(plan.scaled for plan in of["value"])  # all of them, or none
        self._center = np.array([plan.center for plan in of["value"]])
        self._spread = np.array([plan.spread for plan in of["value"]])
        self._lines = Lines([plan.knots for plan in of["score"]], [p.scores for p in of["score"]])
        # Per input that is a bin: its column, where it begins, half its width, its size.
        bins = [
            (j, low / 2, high / 2 - low / 2, plan.bin_size)
            for j, plan in zip(columns["bin"], of["bin"], strict=True)
            for low, high in zip(plan.edges, plan.edges[1:], strict=False)
        ]
        self._bins, self._low, self._width, self._bin_size = _transposed(bins, 4)
        levels = [  # per input that is a level: its column, its number or value, its size
            (j, level if isinstance(plan, Number) else number, getattr(plan, "level_size", 1.0))
            for j, plan in zip(columns["level"], of["level"], strict=True)
            for number, level in enumerate(getattr(plan, "shown_levels", None) or plan.levels)
        ]
        self._switches, self._level, self._level_size = _transposed(levels, 3)
        self._indicators = np.array(indicators, dtype=int)

    def inputs(self, codes: np.ndarray, placeholder: float = 0.0) -> np.ndarray:
        """What networks read, with the placeholder where missing; (n, C) -> (n, D) float32."""
        kinds = []
        with np.errstate(over="ignore"):
            if len(self._values):
                values = codes.take(self._values, 1)
                if self._scaled:
                    kinds.append(scale(values, self._center, self._spread))
                else:
                    kinds.append(np.minimum(np.maximum(values, -LARGEST), LARGEST))
            if len(self._scores):
                kinds.append(self._lines(codes.take(self._scores, 1)))
            if len(self._bins):
                share = ((codes / 2).take(self._bins, 1) - self._low) / self._width
                kinds.append((_within_unit(share) - 0.5) * self._bin_size)
        if len(self._switches):
            levels = codes.take(self._switches, 1)
            kinds.append((levels == self._level) * self._level_size + 0.0 * levels)
        if len(self._indicators):
            kinds.append(np.isnan(codes.take(self._indicators, 1)))
        inputs = np.concatenate(kinds, 1, dtype=np.float32)
        inputs[np.isnan(inputs)] = placeholder
        return inputs


class Lines:
    """A function per column that is linear between knots and constant beyond them.

    knots, heights : per column, increasing numbers and the function at them

    >>> Lines([[0.0, 1.0], [0.0, 10.0, 20.0]], [[5.0, 7.0], [0.0, 1.0, 5.0]])(
    ...     np.array([[0.5, 15.0], [9.0, np.nan]]))
    array([[ 6.,  3.],
           [ 7., nan]])
    """

    def __init__(self, knots: Sequence[Any], heights: Sequence[Any]) -> None:
        self._knots, self._heights = stacked(knots), stacked(heights)
        self._last = np.array([len(points) - 1 for points in knots], dtype=int)
        self._first = np.arange(len(knots)) * self._knots.shape[1]  # knot of each column

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The functions at these values, NaN at NaN; (n, C) -> (n, C)."""
        if len(values) > FEW_ROWS:
            halves = np.ascontiguousarray(values.T) / 2, self._knots / 2  # they cannot overflow
            lines = zip(*halves, self._heights, self._last + 1, strict=True)
            parts = [_interpolated(x, at[:n], y[:n]) for x, at, y, n in lines]
            return np.array(parts).reshape(values.shape[::-1]).T
        # The first knot above each value; the last one is infinite. NaN is below none.
        below = (self._knots > values[:, :, None]).argmax(2)
        below = np.maximum(below - 1, 0)
        at, after = self._first + below, self._first + np.minimum(below + 1, self._last)
        low, high = self._knots.take(at) / 2, self._knots.take(after) / 2  # cannot overflow
        share = _within_unit((values / 2 - low) / (high - low + (high == low)))
        start, end = self._heights.take(at), self._heights.take(after)
        return start + share * (end - start)


def _interpolated(values: np.ndarray, knots: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """`np.interp`, which finds the knots of neighbours soonest; many values are sorted for it.

    About sorted, that is: sorting numbers with their places in the last bits takes a tenth of the
    time of an `argsort`.
    """
    if len(values) < MANY_ROWS:
        return np.interp(values, knots, heights)
    with np.errstate(over="ignore"):
        order = values.astype(np.float32).view(np.int32).astype(np.int64) << 32
    order |= np.arange(len(values))
    order.sort()
    order &= 2**32 - 1
    out = np.empty_like(values)
    out[order] = np.interp(values[order], knots, heights)
    return out


def _within_unit(shares: np.ndarray) -> np.ndarray:
    return np.minimum(np.maximum(shares, 0.0), 1.0)  # clip takes longer for few numbers


def stacked(rows: Sequence[Any]) -> np.ndarray:
    """Increasing numbers of several columns, one below the other, filled up with infinity."""
    out = np.full((len(rows), max(map(len, rows), default=0) + 1), np.inf)
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out


def _transposed(rows: Sequence[tuple[Any, ...]], width: int) -> list[np.ndarray]:
    """Arrays of the first numbers (indices), the second ones …; also if there are no rows."""
    first, *others = zip(*rows, strict=True) if rows else [()] * width
    return [np.array(first, dtype=int), *(np.array(other, dtype=np.float64) for other in others)]
