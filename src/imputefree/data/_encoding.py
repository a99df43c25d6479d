"""How a column becomes inputs of a network: `Number` and `Category`, and the scaling of numbers.

Both classes have `inputs` (their names), `learn` (from training rows), `encode`, which writes
scaled inputs and says which rows are observed, and `plausible`: what a missing value could have
been. All statistics come from the observed entries of training rows, and no outlier moves them far.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from ..errors import InputError
from ._cells import level_name

SOFT_LIMIT = 3.0  # in standard deviations: where the bend sets in
HARD_LIMIT = 1e6  # keeps squares finite for any float64
OUTLIER = 5.0  # robust standard deviations from the median beyond which a value is pulled in
TINY = 1e-290  # knots closer than this would make a slope overflow
KNOTS = 129  # points that describe a column's distribution
FEW_VALUES = 10  # a number with at most this many distinct values also gets one input per value
FEW_VALUES_SIZE = 0.4  # their size: below 1, so that the plain value remains the main input
RARE = "(rare)"  # input that stands for all levels too rare to have their own
MAX_LEVELS, MIN_LEVEL_ROWS = 64, 2
QUANTILES = (np.arange(9) + 0.5) / 9  # which training values stand for a column of many


def location(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the observed entries, with outliers pulled in first.

    (0, 1) if nothing is observed; the spread of a constant column is 1.

    >>> center, spread = location(np.array([1.0, 2.0, 3.0, np.nan, 2.0, 1.0, 3.0, 1e9]))
    >>> center < 5, spread < 5
    (True, True)
    """
    seen = values[~np.isnan(values)]
    if not len(seen):
        return 0.0, 1.0
    seen = seen / 16  # an exact division, after which differences and the reach cannot overflow
    low, median, high = np.percentile(seen, [25, 50, 75])
    reach = OUTLIER * (high - low) / 1.349  # 1.349: interquartile range of a standard normal
    if reach > 0:
        pulled = np.clip(seen, median - reach, median + reach)
    else:  # half of the column is one value: quartiles say nothing, the outer percent does
        pulled = np.clip(seen, *np.percentile(seen, [1, 99]))
    center, spread = _moments(pulled)
    return 16 * center, 16 * (spread or _moments(seen)[1]) or 1.0


def _moments(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation; squares of huge and tiny values neither overflow nor vanish."""
    unit = float(np.abs(values).max()) or 1.0
    return float((values / unit).mean()) * unit, float((values / unit).std()) * unit


def scale(values: np.ndarray, center: float, spread: float) -> np.ndarray:
    """(x - center) / spread, bent smoothly so that no outlier leaves ±3; NaN stays NaN.

    Near the center the bend does nothing: z / sqrt(1 + (z/3)²) ≈ z.

    >>> scale(np.array([0.0, 0.3, 1e9, np.nan]), 0.0, 1.0).round(3)
    array([0.   , 0.299, 3.   ,   nan])
    """
    with np.errstate(over="ignore"):
        z = np.clip((values - center) / spread, -HARD_LIMIT, HARD_LIMIT)
    return z / np.sqrt(1.0 + (z / SOFT_LIMIT) ** 2)


def normal_score_knots(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knots (x, score) of the map that makes a column normal; `np.interp` applies it.

    The score of x is the normal quantile of the share of training entries below it (ties count
    half), so only the order of values matters, not their distances.

    >>> x, score = normal_score_knots(np.array([1.0, 10.0, 100.0, np.nan]))
    >>> x, score.round(2)
    (array([  1.,  10., 100.]), array([-0.97,  0.  ,  0.97]))
    """
    seen = np.sort(values[~np.isnan(values)])
    seen[np.abs(seen) < TINY] = 0.0
    n = len(seen)
    at = np.unique(np.linspace(0, n - 1, min(n, KNOTS)).round().astype(int))
    x = np.unique(seen[at])
    below = np.searchsorted(seen, x, "left") + np.searchsorted(seen, x, "right")
    share = np.clip(below / (2 * n), 0.5 / n, 1 - 0.5 / n)
    return x, ndtri(share)


@dataclass
class Number:
    """A numeric column: its scaled value and, in a rich encoding, inputs that help small tables.

    Up to ten distinct values: one input each. More: the normal score, which sees only the order.
    `values` are some values of training with their `shares`: all of them if there are few, else
    quantiles; None in old model files.
    """

    name: str
    has_gaps: bool
    center: float
    spread: float
    levels: list[float]
    knots: list[float]
    scores: list[float]
    scaled: bool = True  # False: inputs are the numbers themselves
    values: list[float] | None = None
    shares: list[float] | None = None

    @classmethod
    def learn(cls, name: str, array: np.ndarray, rich: bool, scaled: bool = True) -> Number:
        """Learn from the training rows of the column; shape (n,)."""
        gaps = bool(np.isnan(array).any())
        levels, knots, scores = (np.empty(0) for _ in range(3))
        distinct, counts = np.unique(array[~np.isnan(array)], return_counts=True)
        if rich:
            if 2 < len(distinct) <= FEW_VALUES:
                levels = distinct
            elif len(distinct) > FEW_VALUES:
                knots, scores = normal_score_knots(array)
        rows = np.cumsum(counts)
        if len(distinct) > FEW_VALUES:  # real values, not between two: a count stays whole
            distinct = distinct[np.searchsorted(rows, QUANTILES * rows[-1])]
            counts = np.ones(len(distinct), dtype=int)
        values, shares = distinct.tolist(), (counts / max(counts.sum(), 1)).tolist()
        lists = levels.tolist(), knots.tolist(), scores.tolist()
        return cls(name, gaps, *location(array), *lists, scaled, values, shares)

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs of this column."""
        score = [f"rank of {self.name}"] if self.knots else []
        return [self.name, *score, *(f"{self.name}={level:g}" for level in self.levels)]

    def encode(
        self, array: np.ndarray, out: np.ndarray, label: str
    ) -> tuple[np.ndarray, list[str]]:
        """Fill `out` (n, inputs); return which rows are observed, and unseen levels (none)."""
        array = self.check(array, label)
        seen = ~np.isnan(array)
        out[seen, 0] = scale(array[seen], self.center, self.spread) if self.scaled else array[seen]
        if self.knots:
            out[seen, 1] = np.interp(array[seen], self.knots, self.scores)
        for i, level in enumerate(self.levels, start=1):
            out[array == level, i] = FEW_VALUES_SIZE
        return seen, []

    def check(self, array: np.ndarray, label: str) -> np.ndarray:
        """The column as numbers; an InputError if it holds strings."""
        if array.dtype != object:
            return array
        rows = np.flatnonzero(~pd.isna(array))
        if len(rows):
            raise InputError(
                f"{label} holds text such as {array[rows[0]]!r} in {len(rows)} rows"
                f" (first: row {rows[0]}), but none in training",
                "A column must keep its kind",
                "Convert it with pd.to_numeric(column, errors='coerce'), or train again with it in"
                " categorical_features",
            )
        return np.full(len(array), np.nan)  # a category column without a single entry

    def plausible(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of training that stand for the column, and their shares; (v,) each.

        Empty if training saw no value. For an old model file they follow from levels, knots or a
        normal distribution.

        >>> Number.learn("dose", np.array([1.0, 2.0, 2.0, np.nan, 2.0]), rich=True).plausible()
        (array([1., 2.]), array([0.25, 0.75]))
        """
        if self.values is not None and self.shares is not None:
            return np.array(self.values, dtype=np.float64), np.array(self.shares, dtype=np.float64)
        if self.levels:
            values = np.array(self.levels)
        elif self.knots:
            values = np.interp(QUANTILES, ndtr(self.scores), self.knots)
        else:
            far = np.finfo(np.float64).max
            with np.errstate(over="ignore"):
                values = np.clip(self.center + self.spread * ndtri(QUANTILES), -far, far)
        return values, np.full(len(values), 1 / len(values))


@dataclass
class Category:
    """A column of strings: one input per level, rare levels together; a gap is none of them.

    `shares` of the levels and, last, of all rare ones; None in old model files.
    """

    name: str
    has_gaps: bool
    levels: list[str]
    rare_levels: list[str]
    shares: list[float] | None = None

    @classmethod
    def learn(cls, name: str, array: np.ndarray) -> Category:
        """Learn from the training rows of the column; shape (n,)."""
        strings = as_strings(array)
        # Most frequent first, ties by appearance; dtype object takes any string, str only UTF-8.
        counts = pd.Series(strings, dtype=object).value_counts()
        keep = counts[counts >= MIN_LEVEL_ROWS].index[:MAX_LEVELS]
        if len(counts) <= 2:  # a rare level of two is the whole information of the column
            keep = counts.index
        gaps = bool(pd.isna(strings).any())
        levels, rare = sorted(keep), sorted(set(counts.index) - set(keep))
        times = dict(zip(counts.index, counts.tolist(), strict=True))
        groups = [[level] for level in levels] + ([rare] if rare else [])
        shares = [sum(times[level] for level in group) / sum(times.values()) for group in groups]
        return cls(name, gaps, levels, rare, shares)

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs of this column."""
        shown = [*self.levels, RARE] if self.rare_levels else self.levels
        return [f"{self.name}={level}" for level in shown]

    def encode(
        self, array: np.ndarray, out: np.ndarray, label: str
    ) -> tuple[np.ndarray, list[str]]:
        """Fill `out` (n, inputs); return which rows are observed, and levels never seen before."""
        known = {level: i for i, level in enumerate(self.levels)}
        known |= dict.fromkeys(self.rare_levels, len(self.levels))
        codes, levels = pd.factorize(self.check(array, label))
        target = np.array([*(known.get(level, -1) for level in levels), -1], dtype=int)
        position = target[codes]
        seen = position >= 0
        out[np.flatnonzero(seen), position[seen]] = 1.0
        return seen, [str(level) for level in levels if level not in known]

    def check(self, array: np.ndarray, label: str) -> np.ndarray:
        """The column as strings; numbers count as categories by their `level_name`."""
        return as_strings(array)

    def plausible(self) -> tuple[np.ndarray, np.ndarray]:
        """The levels, one of the rare ones for all of them, and their shares; (v,) each.

        >>> strings = np.array(["f", "m", None, "f", "f"], dtype=object)
        >>> Category.learn("sex", strings).plausible()
        (array(['f', 'm'], dtype=object), array([0.75, 0.25]))
        """
        values = np.array([*self.levels, *self.rare_levels[:1]], dtype=object)
        shares = [1 / len(values)] * len(values) if self.shares is None else self.shares
        return values, np.array(shares, dtype=np.float64)


Plan = Number | Category
KINDS: dict[str, Any] = {"number": Number, "category": Category}


def to_state(plan: Plan) -> dict[str, Any]:
    """A plan as plain JSON types."""
    kind = next(name for name, cls in KINDS.items() if isinstance(plan, cls))
    return {"kind": kind, **asdict(plan)}


def from_state(state: dict[str, Any]) -> Plan:
    """The reverse of `to_state`."""
    fields = dict(state)
    return KINDS[fields.pop("kind")](**fields)


def as_strings(array: np.ndarray) -> np.ndarray:
    """A categorical column as strings, None where missing."""
    if array.dtype == object:
        return array
    strings = np.full(len(array), None, dtype=object)
    seen = ~np.isnan(array)
    levels, codes = np.unique(array[seen], return_inverse=True)
    strings[seen] = np.array([level_name(level) for level in levels], dtype=object)[codes]
    return strings
