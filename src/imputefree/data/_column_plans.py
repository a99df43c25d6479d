"""What is learned of a column: how it becomes network inputs, and what a gap could have been.

A `Number` or `Category` per column, learned from training rows only. No outlier moves what they
learn far. `_expansion.py` applies them, all columns at once. A model file holds them as plain JSON
types; it may say anything, so all of it is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..errors import InputError
from ._columns import factorized, refuse_rows, to_strings

SOFT_LIMIT = 3.0  # in standard deviations: where the bend sets in
HARD_LIMIT = 1e6  # keeps squares finite for any float64
UNSCALED_LIMIT = 1e12  # of a number that is not scaled: products of networks stay within float32
OUTLIER = 5.0  # robust standard deviations from the median at which values are clipped
TINY = 1e-290  # knots closer than this would make a slope overflow
KNOTS = 129  # points that describe a column's distribution
FEW_VALUES = 10  # a number with at most this many distinct values also gets one input per value
BINS, FEWEST_BINS = 12, 4  # of a piecewise encoding
BIN_SIZE = 0.5  # from the lowest to the highest value of such an input
_TAIL = np.array([0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.025])
FINE_SHARES = np.unique([*np.linspace(0.0, 1.0, 65), *_TAIL, *(1 - _TAIL)])
BIN_SIZES = {"piecewise": BIN_SIZE, "bins": 1.0, "fine": 2.0}  # by encoding
FEW_VALUES_SIZE = 0.4  # their size: below 1, so that the plain value remains the main input
COUNTED_VALUES = 128  # in a piecewise encoding, a number with at most this many distinct values
LEVEL_ROWS = 10  # gets one input per value that at least this many rows have,
COUNTED_SIZE = 1.0  # of this size
RARE = "(rare)"  # input for all levels too rare to have their own
MAX_LEVELS, MIN_LEVEL_ROWS = 64, 2
FEW_STRINGS = 256  # whose levels are looked up one by one
QUANTILES = (np.arange(9) + 0.5) / 9  # training values that represent a column with many values


def location(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the observed entries, with outliers clipped first.

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
    else:  # half of the column is one value: quartiles are useless, outer percentiles are not
        pulled = np.clip(seen, *np.percentile(seen, [1, 99]))
    center, spread = _moments(pulled)
    return 16 * center, 16 * (spread or _moments(seen)[1]) or 1.0


def _moments(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation; squares of huge and tiny values neither overflow nor vanish."""
    unit = float(np.abs(values).max()) or 1.0
    return float((values / unit).mean()) * unit, float((values / unit).std()) * unit


def scale(values: np.ndarray, center: float | np.ndarray, spread: float | np.ndarray) -> np.ndarray:
    """(x - center) / spread, bent smoothly so that no outlier leaves ±3; NaN stays NaN.

    Numbers, or for values (n, C) one of each per column.

    Near the center the bend does nothing: z / sqrt(1 + (z/3)²) ≈ z.

    >>> scale(np.array([0.0, 0.3, 1e9, np.nan]), 0.0, 1.0).round(3)
    array([0.   , 0.299, 3.   ,   nan])
    """
    with np.errstate(over="ignore"):
        # Not np.clip, which takes longer for a row
        z = np.minimum(np.maximum((values - center) / spread, -HARD_LIMIT), HARD_LIMIT)
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


def bin_edges(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Observed values that cut a column into bins.

    A value that more rows have than an average bin is an edge, so that a column of mostly zeros is
    not cut at zero alone. Of the other rows, `shares` lie below the other edges.

    >>> bin_edges(np.array([0.0] * 50 + [*range(50)]), np.linspace(0, 1, 7))
    array([ 0.,  1.,  9., 17., 25., 33., 41., 49.])
    """
    seen = values[~np.isnan(values)]
    distinct, counts = np.unique(np.where(np.abs(seen) < TINY, 0.0, seen), return_counts=True)
    common = counts > len(seen) / (len(shares) - 1)
    others = np.repeat(distinct[~common], counts[~common])
    if not len(others):
        return distinct
    return np.union1d(distinct[common], others[(shares * (len(others) - 1)).round().astype(int)])


@dataclass
class Number:
    """A numeric column: its scaled value and, in a rich encoding, inputs that help small tables.

    Up to ten distinct values: one input each. More: the normal score, which sees only the order,
    and in a piecewise encoding how far the value reaches into each bin between `edges` (see
    `bin_edges`): -1/4 below the bin, 1/4 above it; also one input per common value, if there are
    up to 128 values. With the encodings "bins" (-1/2 and 1/2) and "fine" (more bins, small ones at
    both ends, -1 and 1) a column of more than ten values has no other inputs than its bins.
    `values` are some values of training with their `shares`: all of them if there are few, else
    quantiles.
    """

    kind: ClassVar = "number"
    name: str
    has_gaps: bool = False
    center: float = 0.0
    spread: float = 1.0
    levels: list[float] = field(default_factory=list)
    knots: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    scaled: bool = True  # False: inputs are the numbers themselves
    values: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    bin_size: float = BIN_SIZE
    level_size: float = FEW_VALUES_SIZE
    low: float | None = None  # the smallest and the largest value of training
    high: float | None = None

    @classmethod
    def learn(
        cls,
        name: str,
        array: np.ndarray,
        encoding: str = "rich",
        bins: int = BINS,
        counted: bool = True,
    ) -> Number:
        """Learn from the training rows of the column; shape (n,). Encodings: see `TableEncoder`.

        counted : whether a piecewise encoding has inputs for common values
        """
        plan = cls(name, bool(np.isnan(array).any()), *location(array))
        plan.scaled = encoding != "unscaled"
        values, counts = np.unique(array[~np.isnan(array)], return_counts=True)
        if len(values):
            plan.low, plan.high = float(values[0]), float(values[-1])
        many, rich = len(values) > FEW_VALUES, encoding not in ("plain", "unscaled")
        if many and encoding in ("rich", "piecewise"):
            plan.knots, plan.scores = (part.tolist() for part in normal_score_knots(array))
        elif not many and rich and len(values) > 2:
            plan.levels = values.tolist()
        if many and encoding in BIN_SIZES:
            equal = np.linspace(0.0, 1.0, max(bins, FEWEST_BINS) + 1)
            plan.edges = bin_edges(array, FINE_SHARES if encoding == "fine" else equal).tolist()
            plan.bin_size = BIN_SIZES[encoding]
            if counted and encoding == "piecewise" and len(values) <= COUNTED_VALUES:
                plan.levels = values[counts >= LEVEL_ROWS].tolist()
                plan.level_size = COUNTED_SIZE
        if many:
            rows = np.cumsum(counts)  # real values, not between two: a count stays whole
            values = values[np.searchsorted(rows, QUANTILES * rows[-1])]
            counts = np.ones(len(values), dtype=int)
        plan.values, plan.shares = values.tolist(), (counts / max(counts.sum(), 1)).tolist()
        return plan

    @property
    def has_all_values(self) -> bool:
        """Whether `values` are certain to be all of training, not quantiles of many."""
        return 0 < len(self.values) < len(QUANTILES)

    @property
    def inputs(self) -> dict[str, list[str]]:
        """Names of the inputs of this column, by the kinds that it has."""
        inputs = {} if self.edges and not self.knots else {"value": [self.name]}
        if self.knots:
            inputs["score"] = [f"rank of {self.name}"]
        if self.edges:
            bins = pairwise(self.edges)
            inputs["bin"] = [f"{self.name} from {low:g} to {high:g}" for low, high in bins]
        if self.levels:
            inputs["level"] = [f"{self.name}={level:g}" for level in self.levels]
        return inputs

    def code(self, array: np.ndarray, label: str) -> tuple[np.ndarray, list[str]]:
        """The column as numbers with NaN where missing, and unseen levels (none)."""
        return self.check(array, label), []

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
        """Values of training that represent the column, and their shares; (v,) each.

        >>> Number.learn("dose", np.array([1.0, 2.0, 2.0, np.nan, 2.0])).plausible()
        (array([1., 2.]), array([0.25, 0.75]))
        """
        return np.array(self.values, dtype=np.float64), np.array(self.shares, dtype=np.float64)

    @property
    def is_consistent(self) -> bool:
        """Whether its parts fit together."""
        pairs = (self.knots, self.scores), (self.values, self.shares)
        return (
            self.spread > 0
            and all(len(one) == len(other) for one, other in pairs)
            and all(map(_rises, (self.knots, self.levels, self.edges)))
            and (self.low is None) == (self.high is None)
        )


@dataclass
class Category:
    """A column of strings: one input per level, rare levels together; a gap is none of them.

    `shares` of the levels in training and, last, of all rare ones.
    """

    kind: ClassVar = "category"
    name: str
    has_gaps: bool = False
    levels: list[str] = field(default_factory=list)
    rare_levels: list[str] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    @classmethod
    def learn(cls, name: str, array: np.ndarray) -> Category:
        """Learn from the training rows of the column; shape (n,)."""
        if array.dtype != object:
            fact = f"column {name!r} is a category and holds numbers beyond 2^53"
            rule = "As floats such numbers are not exact, so that levels would become the same"
            refuse_rows(np.abs(array) >= 2**53, fact, rule, "Pass strings: column.astype(str)")
        strings = cls.check(array)
        # Most frequent first, ties by appearance; dtype object takes any string, str only UTF-8.
        counts = pd.Series(strings, dtype=object).value_counts()
        return cls.of_counts(name, counts, bool(pd.isna(strings).any()))

    @classmethod
    def of_counts(cls, name: str, counts: pd.Series, gaps: bool) -> Category:
        """Learn from the number of training rows of each level, most frequent first."""
        keep = counts[counts >= MIN_LEVEL_ROWS].index[:MAX_LEVELS]
        if len(counts) <= 2:  # a rare level of two is the whole information of the column
            keep = counts.index
        levels, rare = sorted(keep), sorted(set(counts.index) - set(keep))
        rows = [int(counts[level]) for level in levels]
        rows += [int(counts[rare].sum())] if rare else []
        return cls(name, gaps, levels, rare, [count / int(counts.sum()) for count in rows])

    @property
    def all_levels(self) -> list[str]:
        """All levels that training saw, those with an input first."""
        return [*self.levels, *self.rare_levels]

    @property
    def shown_levels(self) -> list[str]:
        """The levels that have an input, rare ones as one."""
        return [*self.levels, RARE] if self.rare_levels else self.levels

    @property
    def inputs(self) -> dict[str, list[str]]:
        """Names of the inputs of this column, by the kinds that it has."""
        return {"level": [f"{self.name}={level}" for level in self.shown_levels]}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of each level, one for all rare ones."""
        known = dict.fromkeys(self.rare_levels, len(self.levels))
        return known | {level: i for i, level in enumerate(self.levels)}

    def code(self, array: np.ndarray, label: str) -> tuple[np.ndarray, list[str]]:
        """The number of each row's level, NaN where missing, and levels never seen before.

        >>> plan = Category.learn("sex", np.array(["f", "m"], dtype=object))
        >>> plan.code(np.array(["m", None]), "column 'sex'")
        (array([ 1., nan]), [])
        """
        strings = self.check(array, label)
        if len(strings) <= FEW_STRINGS:  # faster than pandas
            known = [*map(self._numbers.get, strings)]  # None becomes NaN
            seen = dict.fromkeys(strings)
            new = [n for n in seen if isinstance(n, str) and n not in self._numbers]
            return np.array(known, np.float64), new
        codes, levels = factorized(strings)
        numbers = [self._numbers.get(level, np.nan) for level in levels]
        new = [str(level) for level in levels if level not in self._numbers]
        return np.array([*numbers, np.nan], dtype=np.float64)[codes], new

    def switches(self, codes: np.ndarray) -> np.ndarray:
        """0 or 1 for each level that has an input; codes (n,) -> (n, levels), NaN where missing."""
        on = codes[:, None] == np.arange(len(self.shown_levels))
        return np.where(np.isnan(codes)[:, None], np.nan, on)

    @staticmethod
    def check(array: np.ndarray, label: str = "") -> np.ndarray:
        """The column as strings; numbers count as categories by their `level_name`."""
        return array if array.dtype == object else to_strings(array)

    def plausible(self) -> tuple[np.ndarray, np.ndarray]:
        """The levels, one of the rare ones for all of them, and their shares; (v,) each.

        >>> strings = np.array(["f", "m", None, "f", "f"], dtype=object)
        >>> Category.learn("sex", strings).plausible()
        (array(['f', 'm'], dtype=object), array([0.75, 0.25]))
        """
        values = np.array([*self.levels, *self.rare_levels[:1]], dtype=object)
        return values, np.array(self.shares, dtype=np.float64)

    @property
    def is_consistent(self) -> bool:
        """Whether its parts fit together."""
        distinct = len(set(self.all_levels)) == len(self.all_levels)
        return distinct and len(self.shares) in (0, len(self.shown_levels))


Plan = Number | Category
PLANS: dict[str, type[Plan]] = {plan.kind: plan for plan in (Number, Category)}

KINDS = ("value", "score", "bin", "level")  # of inputs, in the order in which networks read them


def columns_by_kind(plans: Sequence[Plan]) -> dict[str, list[int]]:
    """The columns that have inputs of each kind, in the order in which networks read them.

    Columns with equally many inputs stand side by side.

    >>> few, many = Category("x", levels=["a", "b"]), Category("y", levels=["c", "d", "e"])
    >>> columns_by_kind([many, Number("z"), few])
    {'value': [1], 'score': [], 'bin': [], 'level': [2, 0]}
    """
    inputs = [plan.inputs for plan in plans]
    return {
        kind: sorted(
            (j for j, of in enumerate(inputs) if kind in of), key=lambda j: len(inputs[j][kind])
        )
        for kind in KINDS
    }


# ---- plans as plain JSON types
def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def _rises(values: list[float]) -> bool:
    return all(low < high for low, high in pairwise(values))


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
    plan = PLANS[parts.pop("kind")](**parts)
    for part in fields(plan):
        if not HOLDS[part.type](getattr(plan, part.name)):
            raise ValueError(f"{part.name} of a column is not what it should be")
    if not plan.is_consistent:
        raise ValueError(f"what is known of column {plan.name!r} does not fit together")
    return plan
