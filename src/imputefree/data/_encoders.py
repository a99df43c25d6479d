"""From columns or series to what a network reads: scaled values and an observed mask.

`Number` and `Category` say how one column becomes inputs, and what a missing value of it could have
been. A `TableEncoder` learns one of them per column, from training rows only, and then turns any
table with the same columns into a `Table`; a `PanelEncoder` does so for series. No outlier moves
what they learn far.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..errors import InputError, ParameterError, UnseenCategoryWarning, listed, shorten
from ._columns import Columns, feature_count_error, to_strings
from ._panel import Panel
from ._panel_frames import first_steps
from ._summaries import EXTENT, summarise

SOFT_LIMIT = 3.0  # in standard deviations: where the bend sets in
HARD_LIMIT = 1e6  # keeps squares finite for any float64
OUTLIER = 5.0  # robust standard deviations from the median beyond which a value is pulled in
TINY = 1e-290  # knots closer than this would make a slope overflow
KNOTS = 129  # points that describe a column's distribution
FEW_VALUES = 10  # a number with at most this many distinct values also gets one input per value
BINS, MOST_BINS, FEWEST_BINS = 12, 48, 4  # of a piecewise encoding
ROWS_PER_BIN = 500  # above 12 bins
MOST_INPUTS, LARGEST_TABLE = 5000, 2**27  # inputs of all bins, and numbers in a table of them
BIN_SIZE = 0.5  # from the lowest to the highest value of such an input
_TAIL = np.array([0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.025])
FINE_SHARES = np.unique([*np.linspace(0.0, 1.0, 65), *_TAIL, *(1 - _TAIL)])
BIN_SIZES = {"piecewise": BIN_SIZE, "bins": 1.0, "fine": 2.0}  # by encoding
FEW_VALUES_SIZE = 0.4  # their size: below 1, so that the plain value remains the main input
COUNTED_VALUES, LEVEL_ROWS = 128, 10  # in a piecewise encoding, one with at most so many, for each
COUNTED_SIZE = 1.0  # value of at least ten rows
RARE = "(rare)"  # input that stands for all levels too rare to have their own
MAX_LEVELS, MIN_LEVEL_ROWS = 64, 2
QUANTILES = (np.arange(9) + 0.5) / 9  # which training values stand for a column of many
PIECEWISE_COLUMNS, PIECEWISE_ROWS = 100, 2000  # "auto": larger tables are encoded piecewise
LONGEST = 1e300  # keeps differences of any two times finite


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


def reach_into_bins(
    values: np.ndarray, edges: Sequence[float], size: float = BIN_SIZE
) -> np.ndarray:
    """How far values (n,) reach into the bins between edges (b + 1,): -size/2 to size/2; (n, b).

    >>> reach_into_bins(np.array([1.0, 2.5, 9.0]), [1.0, 2.0, 4.0])
    array([[-0.25 , -0.25 ],
           [ 0.25 , -0.125],
           [ 0.25 ,  0.25 ]])
    """
    low, high = np.array(edges[:-1]) / 2, np.array(edges[1:]) / 2  # half, so that none overflows
    own = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(low) - 1)
    below = np.arange(len(low), dtype=np.int16) < own.astype(np.int16)[:, None]
    reach = np.where(below, size / 2, -size / 2)
    share = np.clip((values / 2 - low[own]) / (high - low)[own], 0.0, 1.0)
    reach[np.arange(len(values)), own] = size * (share - 0.5)
    return reach


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

    @classmethod
    def learn(
        cls, name: str, array: np.ndarray, encoding: str = "rich", bins: int = BINS
    ) -> Number:
        """Learn from the training rows of the column; shape (n,). Encodings: see `TableEncoder`."""
        plan = cls(name, bool(np.isnan(array).any()), *location(array))
        plan.scaled = encoding != "unscaled"
        values, counts = np.unique(array[~np.isnan(array)], return_counts=True)
        many, rich = len(values) > FEW_VALUES, encoding not in ("plain", "unscaled")
        if many and encoding in ("rich", "piecewise"):
            plan.knots, plan.scores = (part.tolist() for part in normal_score_knots(array))
        elif not many and rich and len(values) > 2:
            plan.levels = values.tolist()
        if many and encoding in BIN_SIZES:
            equal = np.linspace(0.0, 1.0, max(bins, FEWEST_BINS) + 1)
            plan.edges = bin_edges(array, FINE_SHARES if encoding == "fine" else equal).tolist()
            plan.bin_size = BIN_SIZES[encoding]
            if encoding == "piecewise" and len(values) <= COUNTED_VALUES:
                plan.levels = values[counts >= LEVEL_ROWS].tolist()
                plan.level_size = COUNTED_SIZE
        if many:
            rows = np.cumsum(counts)  # real values, not between two: a count stays whole
            values = values[np.searchsorted(rows, QUANTILES * rows[-1])]
            counts = np.ones(len(values), dtype=int)
        plan.values, plan.shares = values.tolist(), (counts / max(counts.sum(), 1)).tolist()
        return plan

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs of this column."""
        value = [] if self.only_bins else [self.name]
        score = [f"rank of {self.name}"] if self.knots else []
        bins = [f"{self.name} from {low:g} to {high:g}" for low, high in pairwise(self.edges)]
        return [*value, *score, *bins, *(f"{self.name}={level:g}" for level in self.levels)]

    @property
    def only_bins(self) -> bool:
        """Whether the bins are the only inputs: there is no value and no normal score."""
        return bool(self.edges) and not self.knots

    @property
    def first_level(self) -> int:
        """Which of the inputs belongs to the first of `levels`."""
        return 1 + bool(self.knots) + max(len(self.edges) - 1, 0)

    def encode(
        self, array: np.ndarray, out: np.ndarray, label: str
    ) -> tuple[np.ndarray, list[str]]:
        """Fill `out` (n, inputs); return which rows are observed, and unseen levels (none)."""
        array = self.check(array, label)
        seen = ~np.isnan(array)
        rows: Any = slice(None) if seen.all() else seen  # whole columns are written faster
        values = array[rows]
        if self.only_bins:
            out[rows] = reach_into_bins(values, self.edges, self.bin_size)
            return seen, []
        out[rows, 0] = scale(values, self.center, self.spread) if self.scaled else values
        if self.knots:
            out[rows, 1] = np.interp(values, self.knots, self.scores)
        if self.edges:
            out[rows, 2 : len(self.edges) + 1] = reach_into_bins(values, self.edges, self.bin_size)
        if self.levels:
            place = np.searchsorted(self.levels[:-1], array)
            found = np.flatnonzero(array == np.array(self.levels)[place])
            out[found, self.first_level + place[found]] = self.level_size
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

        >>> Number.learn("dose", np.array([1.0, 2.0, 2.0, np.nan, 2.0])).plausible()
        (array([1., 2.]), array([0.25, 0.75]))
        """
        return np.array(self.values, dtype=np.float64), np.array(self.shares, dtype=np.float64)


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
        strings = cls.check(array)
        # Most frequent first, ties by appearance; dtype object takes any string, str only UTF-8.
        counts = pd.Series(strings, dtype=object).value_counts()
        keep = counts[counts >= MIN_LEVEL_ROWS].index[:MAX_LEVELS]
        if len(counts) <= 2:  # a rare level of two is the whole information of the column
            keep = counts.index
        gaps = bool(pd.isna(strings).any())
        levels, rare = sorted(keep), sorted(set(counts.index) - set(keep))
        rows = [int(counts[level]) for level in levels]
        rows += [int(counts[rare].sum())] if rare else []
        return cls(name, gaps, levels, rare, [count / int(counts.sum()) for count in rows])

    @property
    def all_levels(self) -> list[str]:
        """All levels that training saw, those with an input first."""
        return [*self.levels, *self.rare_levels]

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


Plan = Number | Category
KINDS: dict[str, Any] = {plan.kind: plan for plan in (Number, Category)}


@dataclass(frozen=True)
class Table:
    """What a network reads.

    Shapes: values (n, D) float32 with 0 where missing, observed (n, D) bool, True = observed.
    D counts network inputs: first those of the columns, then the indicators (always observed).
    Series have one row per step, and may have summaries (series, S) float32.
    """

    values: np.ndarray
    observed: np.ndarray
    summaries: np.ndarray | None = None

    def filled(self, placeholder: float) -> np.ndarray:
        """The values with `placeholder` (in scaled units) where missing; shape (n, D)."""
        if placeholder == 0:
            return self.values
        return np.where(self.observed, self.values, np.float32(placeholder))


class Encoder:
    """What is known of network inputs once each column has its plan."""

    plans: list[Plan]
    named: bool
    indicator: bool

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        names = [name for plan in self.plans for name in plan.inputs]
        return names + [f"{self.names[j]} is missing" for j in self._with_indicator()]

    @property
    def input_columns(self) -> np.ndarray:
        """For each input (but times) the number of the column it comes from; shape (D,)."""
        entries = [j for j, plan in enumerate(self.plans) for _ in plan.inputs]
        return np.array(entries + self._with_indicator(), dtype=np.int64)

    @property
    def n_entries(self) -> int:
        """How many inputs hold entries; the rest are indicators (and times)."""
        return sum(len(plan.inputs) for plan in self.plans)

    @property
    def names(self) -> list[str]:
        """The columns of training; for series, those of the steps, then the static ones."""
        return [plan.name for plan in self.plans]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.plans)

    def encode(self, arrays: list[np.ndarray]) -> Table:
        """Encode columns in the order of training; (n,) each -> Table of (n, D)."""
        positions, n_entries = self.input_columns, self.n_entries
        shape = (len(arrays[0]), len(positions))
        values, observed = np.zeros(shape, dtype=np.float32), np.ones(shape, dtype=bool)
        unseen, start = {}, 0
        for j, (plan, array) in enumerate(zip(self.plans, arrays, strict=True)):
            span = slice(start, start + len(plan.inputs))
            seen, unseen[plan.name] = plan.encode(array, values[:, span], self._label(plan))
            observed[:, span] = seen[:, None]
            indicator = n_entries + np.flatnonzero(positions[n_entries:] == j)  # one or none
            values[:, indicator] = ~seen[:, None]
            start = span.stop
        _warn_of_unseen(unseen)
        return Table(values, observed)

    def _label(self, plan: Plan) -> str:
        return f"column {plan.name!r}" if self.named else f"column {plan.name}"

    def _with_indicator(self) -> list[int]:
        """Columns that have an indicator."""
        return [j for j, plan in enumerate(self.plans) if self.indicator and plan.has_gaps]


def n_bins(rows: int, columns: int) -> int:
    """How many bins a number gets in a piecewise encoding: more rows, finer bins.

    >>> n_bins(500, 20), n_bins(30_000, 20), n_bins(1_000_000, 20), n_bins(1_000_000, 200)
    (12, 48, 6, 0)
    """
    columns = max(columns, 1)
    return min(
        max(BINS, min(rows // ROWS_PER_BIN, MOST_BINS)),
        MOST_INPUTS // columns,
        LARGEST_TABLE // (rows * columns),
    )


def _warn_of_unseen(levels: dict[str, list[str]]) -> None:
    """Always from here, so that Python says once what several families notice."""
    unseen = [f"{name!r}: {shorten(new)}" for name, new in levels.items() if new]
    if unseen:
        warnings.warn(
            "Categories that training never saw are treated as missing. " + "; ".join(unseen),
            UnseenCategoryWarning,
            stacklevel=1,
        )


class TableEncoder(Encoder):
    """Learns how to scale and encode tables, and encodes them.

    categorical_features : "auto" (string and category columns), or a list of names or positions
    indicator : add one input per column that had gaps in training: 1 where missing
    numeric_encoding : "plain" (one input per number), "unscaled" (the same, not scaled), "rich",
        "piecewise" (see `Number` and `n_bins`) or "auto": rich for less than 2,000 rows of up to
        100 columns, else piecewise, but plain for tables so large that bins would take gigabytes
    owner : the estimator's name, for error messages
    fine : names of columns whose numbers get a fine encoding; "bins" and "fine" are for summaries

    >>> import pandas as pd
    >>> from imputefree.data import read_columns
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["f", "m", None]})
    >>> encoder = TableEncoder().fit(read_columns(frame))
    >>> encoder.input_names
    ['age', 'sex=f', 'sex=m', 'age is missing', 'sex is missing']
    >>> encoder.transform(read_columns(frame)).observed.astype(int)
    array([[1, 1, 1, 1, 1],
           [0, 1, 1, 1, 1],
           [1, 0, 0, 1, 1]])
    """

    def __init__(
        self,
        categorical_features: str | Sequence[Any] = "auto",
        indicator: bool = True,
        numeric_encoding: str = "auto",
        owner: str = "TableEncoder",
        fine: Sequence[str] = (),
    ) -> None:
        self.categorical_features = categorical_features
        self.fine = fine
        self.indicator = indicator
        self.numeric_encoding = numeric_encoding
        self.owner = owner

    def fit(self, columns: Columns) -> TableEncoder:
        """Learn scales, levels and gaps from training rows."""
        chosen = self._chosen_categories(columns)
        encoding, rows, width = self.numeric_encoding, columns.n_rows, len(columns.names)
        bins = n_bins(rows, width)
        if encoding == "auto":
            small = rows < PIECEWISE_ROWS and width <= PIECEWISE_COLUMNS
            encoding = "rich" if small else "piecewise" if bins >= FEWEST_BINS else "plain"
        self.named = columns.named
        self.plans = [
            Category.learn(name, array)
            if category
            else Number.learn(name, array, "fine" if name in self.fine else encoding, bins)
            for name, array, category in zip(columns.names, columns.arrays, chosen, strict=True)
        ]
        return self

    def transform(self, columns: Columns) -> Table:
        """Encode a table with the same columns; (n, columns) -> Table of (n, D)."""
        return self.encode(self._match(columns))

    def numbers(self, columns: Columns) -> np.ndarray:
        """The table as trees read it; (n, columns) -> (n, n_entries) float64.

        Numbers as they are, 0 or 1 for each level of a category, NaN where missing.
        """
        out = np.zeros((columns.n_rows, self.n_entries))
        unseen, start = {}, 0
        for plan, array in zip(self.plans, self._match(columns), strict=True):
            block = out[:, start : start + len(plan.inputs)]
            start += block.shape[1]
            if isinstance(plan, Category):
                seen, unseen[plan.name] = plan.encode(array, block, self._label(plan))
                block[~seen] = np.nan
            else:
                block[:, 0] = plan.check(array, self._label(plan))
        _warn_of_unseen(unseen)
        return out

    def arranged(self, columns: Columns) -> Columns:
        """The same table as training would have read it: names, order and kinds."""
        pairs = zip(self.plans, self._match(columns), strict=True)
        return replace(
            columns,
            names=self.names,
            named=self.named,
            arrays=[plan.check(array, self._label(plan)) for plan, array in pairs],
            declared=[isinstance(plan, Category) for plan in self.plans],
        )

    def known(self, columns: Columns) -> Columns:
        """As `arranged`, with levels that training never saw as gaps."""
        columns = self.arranged(columns)
        gap: Any = None
        arrays = [
            np.where(pd.Series(array, dtype=object).isin(plan.all_levels), array, gap)
            if isinstance(plan, Category)
            else array
            for plan, array in zip(self.plans, columns.arrays, strict=True)
        ]
        return replace(columns, arrays=arrays)

    def _chosen_categories(self, columns: Columns) -> list[bool]:
        """Which columns are categories; strings always are."""
        chosen, names = self.categorical_features, columns.names
        strings = [array.dtype == object for array in columns.arrays]
        if isinstance(chosen, str) and chosen == "auto":
            return [a or b for a, b in zip(columns.declared, strings, strict=True)]
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            fact = f"categorical_features is {chosen!r}"
            rule = 'It must be "auto" or a list of column names or positions'
            raise ParameterError(fact, rule, "Write categorical_features=[…]")
        for item in chosen:
            position = names.index(item) if item in names else item
            if (
                isinstance(position, bool)  # an int to Python: a mask would name columns 1 and 0
                or not isinstance(position, int | np.integer)
                or not -len(names) <= position < len(names)
            ):
                fact = f"categorical_features names {item!r}, which is not a column"
                rule = "It must list column names or positions of the training table"
                raise ParameterError(fact, rule, f"The columns are: {shorten(names)}")
            strings[int(position)] = True
        return strings

    def _match(self, columns: Columns) -> list[np.ndarray]:
        """The columns in training order; by name where both tables have names."""
        expected = self.names
        numbered = columns.named and set(columns.names) == set(expected)  # a frame in new order
        if (self.named and columns.named) or numbered:
            missing = [name for name in expected if name not in set(columns.names)]
            extra = [name for name in columns.names if name not in set(expected)]
            if missing or extra:
                raise InputError(
                    "The feature names should match those that were passed during fit: "
                    + listed(("missing now", missing), ("not in training", extra)),
                    "Columns must be the same as in training (their order does not matter)",
                    "Rename, add (all NaN is allowed) or drop the columns named above",
                )
            order = {name: j for j, name in enumerate(columns.names)}
            return [columns.arrays[order[name]] for name in expected]
        if len(columns.names) != len(expected):
            remedy = f"The training columns were: {shorten(expected)}"
            raise feature_count_error(columns, self.owner, len(expected), remedy)
        if self.named:
            warnings.warn(
                f"X does not have valid feature names, but {self.owner} was fitted with feature"
                " names; columns are taken in the order of training.",
                UserWarning,
                stacklevel=2,
            )
        return columns.arrays

    def state(self) -> dict[str, Any]:
        """Everything learned, as plain JSON types."""
        return {
            "owner": self.owner,
            "indicator": self.indicator,
            "named": self.named,
            "plans": [{"kind": plan.kind, **asdict(plan)} for plan in self.plans],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TableEncoder:
        """The reverse of `state`."""
        encoder = cls(indicator=bool(state["indicator"]), owner=str(state["owner"]))
        encoder.named = bool(state["named"])
        plans = [dict(plan) for plan in state["plans"]]
        encoder.plans = [KINDS[plan.pop("kind")](**plan) for plan in plans]
        return encoder


class PanelEncoder(Encoder):
    """Learn how to scale and encode series, and encode them.

    Inputs of a step, in this order: entries of its columns, static entries, indicators of both,
    and the times since.

    time_since : add, per column with gaps, the time since its last observation before this step
        and, if steps are not evenly spaced in training, the time since the last step
    summary : numeric encoding of a summary of each series (see `summarise`), or None for none
    others : as for `TableEncoder`; `categorical_features` may name static columns too

    >>> from imputefree.data import read_panel
    >>> encoder = PanelEncoder().fit(read_panel([[[1.0], [np.nan]], [[3.0], [2.0], [4.0]]]))
    >>> encoder.input_names
    ['0', '0 is missing', 'time since 0']
    >>> encoder.transform(read_panel([[[np.nan], [np.nan], [2.5], [2.5]]])).values.round(2)
    array([[0.  , 1.  , 0.  ],
           [0.  , 1.  , 0.69],
           [0.  , 0.  , 1.1 ],
           [0.  , 0.  , 0.69]], dtype=float32)
    """

    def __init__(
        self,
        categorical_features: str | Sequence[Any] = "auto",
        indicator: bool = True,
        numeric_encoding: str = "plain",
        time_since: bool = True,
        summary: str | None = None,
        owner: str = "PanelEncoder",
    ) -> None:
        self.categorical_features = categorical_features
        self.indicator, self.numeric_encoding = indicator, numeric_encoding
        self.time_since, self.summary, self.owner = time_since, summary, owner

    def fit(self, panel: Panel) -> PanelEncoder:
        """Learn scales, levels, gaps and the median distance of steps from training series."""
        for_steps, for_statics = self._categories(panel)
        options = (self.indicator, self.numeric_encoding, self.owner)
        self.steps = TableEncoder(for_steps, *options).fit(panel.steps)
        self.statics = None
        if panel.statics is not None:
            self.statics = TableEncoder(for_statics, *options).fit(panel.statics)
        self._join_plans()
        self.summaries = None
        if self.summary is not None:
            options = (self.indicator, self.summary, self.owner)
            self.summaries = TableEncoder("auto", *options, fine=EXTENT)
            self.summaries.fit(self.summarised(panel))
        later = np.arange(len(panel.times)) > _starts(panel)  # all steps but the first of a series
        distances = np.minimum(_since(panel)[later], LONGEST)
        self.unit = float(np.median(distances)) if len(distances) else 1.0
        even = not len(distances) or np.ptp(distances) <= 1e-6 * self.unit
        self.uneven = bool(self.time_since and not even)
        return self

    def _join_plans(self) -> None:
        """Static columns are encoded like those of the steps, repeated at every step."""
        self.named, self.plans = self.steps.named, list(self.steps.plans)
        if self.statics is not None:
            self.plans += self.statics.plans

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        since = [f"time since {self.steps.names[j]}" for j in self.timed_columns()]
        since += ["time since the last step"] * self.uneven
        return super().input_names + since

    def known_columns(self) -> tuple[list[str] | None, list[str]]:
        """Names of the columns of a step (None if training had none), and of static columns."""
        names = self.steps.names if self.steps.named else None
        return names, self.statics.names if self.statics else []

    def summarised(self, panel: Panel) -> Columns:
        """Summaries of series (see `summarise`), from columns and levels that training knew."""
        check_statics(self.statics, panel)
        statics = None
        if self.statics is not None and panel.statics is not None:
            statics = self.statics.known(panel.statics)
        panel = replace(panel, steps=self.steps.known(panel.steps), statics=statics)
        if not self.time_since:  # times do not matter
            panel = replace(panel, times=np.arange(len(panel.times), dtype=np.float64))
        return summarise(panel)

    def transform(self, panel: Panel) -> Table:
        """Encode series with the same columns -> Table of (steps of all series, D)."""
        check_statics(self.statics, panel)
        arrays = self.steps.arranged(panel.steps).arrays
        if self.statics is not None and panel.statics is not None:
            statics = self.statics.arranged(panel.statics).arrays
            arrays += [np.repeat(array, panel.lengths) for array in statics]
        table = self.encode(arrays)
        since = self._times(panel, table.observed)
        return Table(
            np.hstack([table.values, since]),
            np.hstack([table.observed, np.ones(since.shape, dtype=bool)]),
            self._summaries(panel),
        )

    def _summaries(self, panel: Panel) -> np.ndarray | None:
        """Encoded summaries; (series, S) float32, or None."""
        if self.summaries is None:
            return None
        with warnings.catch_warnings():  # a level may be known, but never as the first of a series
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            return self.summaries.transform(self.summarised(panel)).values

    def timed_columns(self) -> list[int]:
        """Columns of the steps whose time since the last observation is an input."""
        return [
            j
            for j, plan in enumerate(self.steps.plans)
            if self.time_since and plan.has_gaps and plan.inputs  # a category may have no level
        ]

    def _times(self, panel: Panel, observed: np.ndarray) -> np.ndarray:
        """log(1 + time since / median distance of steps); (steps, inputs) float32."""
        entries = self.steps.input_columns[: self.steps.n_entries]
        first_input = np.searchsorted(entries, self.timed_columns())
        columns = [_since(panel, observed[:, i]) for i in first_input]
        if self.uneven:
            columns.append(np.minimum(_since(panel), LONGEST))
        since = np.empty((len(panel.times), len(columns)), dtype=np.float32)
        for i, column in enumerate(columns):
            with np.errstate(over="ignore"):
                since[:, i] = np.log1p(np.minimum(column / self.unit, LONGEST))
        return since

    def _categories(self, panel: Panel) -> tuple[Any, Any]:
        """Which of `categorical_features` are columns of steps, and which static."""
        chosen = self.categorical_features
        if isinstance(chosen, str) or panel.statics is None or not isinstance(chosen, Iterable):
            return chosen, "auto"
        chosen = list(chosen)
        static = [name for name in chosen if name in panel.statics.names]
        return [name for name in chosen if name not in static], static

    def state(self) -> dict[str, Any]:
        """Everything learned, as plain JSON types."""
        return {
            "steps": self.steps.state(),
            "statics": None if self.statics is None else self.statics.state(),
            "summaries": None if self.summaries is None else self.summaries.state(),
            "time_since": self.time_since,
            "unit": self.unit,
            "uneven": self.uneven,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> PanelEncoder:
        """The reverse of `state`."""
        encoder = cls(time_since=bool(state["time_since"]))
        encoder.steps = TableEncoder.from_state(state["steps"])
        encoder.indicator = encoder.steps.indicator
        encoder.statics = state["statics"] and TableEncoder.from_state(state["statics"])
        encoder.summaries = state["summaries"] and TableEncoder.from_state(state["summaries"])
        encoder._join_plans()
        encoder.unit, encoder.uneven = float(state["unit"]), bool(state["uneven"])
        return encoder


def check_statics(statics: TableEncoder | None, panel: Panel) -> None:
    """Refuse series with static columns if training had none, and the other way round."""
    if (statics is None) != (panel.statics is None):
        fact = f"{'no ' * (panel.statics is None)}static columns are given"
        rule = f"Training had {'none' if statics is None else shorten(statics.names)}"
        raise InputError(fact, rule, "Pass static= as in training, with NaN for what is unknown")


def _starts(panel: Panel) -> np.ndarray:
    """For each step the number of its series' first step; (S,)."""
    return np.repeat(first_steps(panel.lengths), panel.lengths)


def _since(panel: Panel, observed: Any = True) -> np.ndarray:
    """Time since the last observation *before* each step, or since the series began; (S,)."""
    here = np.arange(len(panel.times))
    last = np.maximum.accumulate(np.where(observed, here, 0))
    before = np.concatenate([[0], last[:-1]])
    with np.errstate(over="ignore"):
        return panel.times - panel.times[np.maximum(before, _starts(panel))]
