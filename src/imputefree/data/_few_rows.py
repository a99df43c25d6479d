"""Inputs of a few rows by NumPy: PyTorch takes longer to start such work than to do it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._column_plans import KINDS, UNSCALED_LIMIT, Number, columns_by_kind, scale
from ._columns import FEW_ROWS

FAN = 200  # more bins and levels than this take longer to read than to look up their sums


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
        self._knots = [plan.knots for plan in of["score"]], [plan.scores for plan in of["score"]]
        self._lines = Lines(*self._knots)
        self._edges = [(j, p.edges) for j, p in zip(columns["bin"], of["bin"], strict=True)]
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

    @property
    def fans_out(self) -> bool:
        """Whether there are so many inputs per column that `LoneRow` is faster than all of them."""
        return self._scaled and len(self._bins) + len(self._switches) > FAN

    def inputs(self, codes: np.ndarray, placeholder: float = 0.0) -> np.ndarray:
        """What networks read, with the placeholder where missing; (n, C) -> (n, D) float32."""
        kinds = []
        with np.errstate(over="ignore"):
            if len(self._values):
                values = codes.take(self._values, 1)
                if self._scaled:
                    kinds.append(scale(values, self._center, self._spread))
                else:
                    kinds.append(np.minimum(np.maximum(values, -UNSCALED_LIMIT), UNSCALED_LIMIT))
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


class LoneRow:
    """What the first layer of networks makes of a single row, from codes at once.

    A number fills many bins, and their sum, weighted by the layer, is linear between two edges. It
    is kept for each edge, so that a number needs two rows of this table instead of dozens of
    weights, and a category one: most of the time of a row is spent on reading the weights.

    few : how codes become inputs, all of them scaled
    weight : (width, D) of the layer; where missing, inputs are 0

    >>> few = FewRows([Number.learn("age", np.array([20.0, 40.0, np.nan]))], indicators=[0])
    >>> layer = LoneRow(few, np.array([[2.0, 5.0]]))
    >>> layer.sums(np.array([20.0])).round(4), layer.sums(np.array([np.nan]))
    (array([-1.8974], dtype=float32), array([5.], dtype=float32))
    """

    def __init__(self, few: FewRows, weight: np.ndarray) -> None:
        self._few = few
        columns, edges = [j for j, _ in few._edges], [edges for _, edges in few._edges]
        knots, scores = few._knots
        self._lines = Lines([*knots, *edges], [*scores, *(range(len(some)) for some in edges)])
        self._bent = np.array([*few._scores, *columns], dtype=int)
        # The table: values and scores, sums at edges, levels, indicators.
        plain, bins, levels, indicators = np.split(
            weight.T.astype(np.float64),
            np.cumsum([len(few._values) + len(scores), len(few._bins), len(few._switches)]),
        )
        counts = [len(some) - 1 for some in edges]
        of_columns = np.split(bins * few._bin_size[:, None], np.cumsum(counts, dtype=int))[:-1]
        sums = [np.cumsum(np.pad(some, ((1, 0), (0, 0))), 0) for some in of_columns]
        sums = [some - some[-1] / 2 for some in sums]
        beyond = np.zeros((1, len(weight)))  # the row after the last edge, of which none is taken
        blocks = [plain, *sums, beyond, levels * few._level_size[:, None], indicators]
        self._table = np.concatenate(blocks, dtype=np.float32, casting="same_kind")
        at = np.cumsum([len(block) for block in blocks])
        self._edges_at, self._levels_at, self._indicators_at = at[:-4], at[-3], at[-2]

    def sums(self, codes: np.ndarray) -> np.ndarray:
        """Weighted sums of all inputs of a row; (C,) -> (width,) float32."""
        few = self._few
        bent = self._lines(codes.take(self._bent)[None])[0]
        values = scale(codes.take(few._values), few._center, few._spread)
        plain = np.concatenate([values, bent[: len(few._scores)]])
        positions = bent[len(few._scores) :]  # 3.4: between the third edge and the next
        seen, binned = (~np.isnan(plain)).nonzero()[0], (~np.isnan(positions)).nonzero()[0]
        positions = positions.take(binned)
        edges = positions.astype(np.int64)
        shares, edges = positions - edges, edges + self._edges_at.take(binned)
        on = (codes.take(few._switches) == few._level).nonzero()[0] + self._levels_at
        gaps = np.isnan(codes.take(few._indicators)).nonzero()[0] + self._indicators_at
        places = np.concatenate([seen, edges, edges + 1, on, gaps])
        amounts = np.ones(len(places), dtype=np.float32)
        amounts[: len(seen)] = plain.take(seen)
        amounts[len(seen) : len(seen) + 2 * len(edges)] = np.concatenate([1 - shares, shares])
        return amounts @ self._table.take(places, 0)


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
            parts = [np.interp(x, at[:n], y[:n]) for x, at, y, n in lines]
            return np.array(parts).reshape(values.shape[::-1]).T
        # The first knot above each value; the last one is infinite. NaN is below none.
        below = (self._knots > values[:, :, None]).argmax(2)
        below = np.maximum(below - 1, 0)
        at, after = self._first + below, self._first + np.minimum(below + 1, self._last)
        low, high = self._knots.take(at) / 2, self._knots.take(after) / 2  # cannot overflow
        with np.errstate(over="ignore"):
            share = _within_unit((values / 2 - low) / (high - low + (high == low)))
        start, end = self._heights.take(at), self._heights.take(after)
        return start + share * (end - start)


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
