"""How one column becomes inputs of a network: one class for numbers, one for categories.

Both have the same four things: `inputs` (their names), `learn` (from training rows), `encode`,
which writes scaled inputs and says which rows are observed, and `plausible`: what a value that is
missing could have been.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from ..errors import InputError
from ._scaling import location, normal_score_knots, scale

FEW_VALUES = 10  # a number with no more distinct values also gets one input a value
FEW_VALUES_SIZE = 0.4  # their size: smaller than 1, so that the plain value stays the main road
RARE = "(rare)"  # input that stands for all levels too rare to have one of their own
MAX_LEVELS, MIN_LEVEL_ROWS = 64, 2
QUANTILES = (np.arange(9) + 0.5) / 9  # which training values stand for a column of many


@dataclass
class Number:
    """A numeric column: its scaled value and, in a rich encoding, what helps small tables.

    Up to ten distinct values: one input each. More: the normal score, which sees only the order.
    `values` are some of training with their `shares`, all of few or quantiles of many; None in
    model files of before they were kept.
    """

    name: str
    has_gaps: bool
    center: float
    spread: float
    levels: list[float]
    knots: list[float]
    scores: list[float]
    scaled: bool = True  # False: inputs are the numbers as they come
    values: list[float] | None = None
    shares: list[float] | None = None

    @classmethod
    def learn(cls, name: str, array: np.ndarray, rich: bool, scaled: bool = True) -> Number:
        """From the training rows of the column; shape (n,). Not scaled, a number stays itself."""
        gaps = bool(np.isnan(array).any())
        levels, knots, scores = (np.empty(0) for _ in range(3))
        distinct, counts = np.unique(array[~np.isnan(array)], return_counts=True)
        if rich:
            if 2 < len(distinct) <= FEW_VALUES:
                levels = distinct
            elif len(distinct) > FEW_VALUES:
                knots, scores = normal_score_knots(array)
        lists = levels.tolist(), knots.tolist(), scores.tolist()
        return cls(name, gaps, *location(array), *lists, scaled, *_stand_ins(distinct, counts))

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs this column gives."""
        score = [f"rank of {self.name}"] if self.knots else []
        return [self.name, *score, *(f"{self.name}={level:g}" for level in self.levels)]

    def encode(
        self, array: np.ndarray, out: np.ndarray, label: str
    ) -> tuple[np.ndarray, list[str]]:
        """Fill `out` (n, inputs); return which rows are observed, and unseen levels (none)."""
        if array.dtype == object:
            rows = np.flatnonzero(~pd.isna(array))
            if not len(rows):  # a category column without a single entry
                return np.zeros(len(array), dtype=bool), []
            raise InputError(
                f"{label} holds text such as {array[rows[0]]!r} in {len(rows)} rows"
                f" (first: row {rows[0]}), but none in training",
                "A column must keep its kind",
                "Convert it with pd.to_numeric(column, errors='coerce'), or train again with it in"
                " categorical_features",
            )
        seen = ~np.isnan(array)
        out[seen, 0] = scale(array[seen], self.center, self.spread) if self.scaled else array[seen]
        if self.knots:
            out[seen, 1] = np.interp(array[seen], self.knots, self.scores)
        for i, level in enumerate(self.levels, start=1):
            out[array == level, i] = FEW_VALUES_SIZE
        return seen, []

    def plausible(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of training that stand for the column, and their shares; (v,) each.

        None where training saw no value. A model file of before they were kept has them from what
        it knows: levels, knots, or a normal distribution.

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
    """A column of texts: one input a level, rare levels together; a gap is none of them.

    `shares` of the levels and, last, of all rare ones; None in model files of before.
    """

    name: str
    has_gaps: bool
    levels: list[str]
    rare_levels: list[str]
    shares: list[float] | None = None

    @classmethod
    def learn(cls, name: str, array: np.ndarray) -> Category:
        """From the training rows of the column; shape (n,)."""
        texts = as_texts(array)
        # Most frequent first, ties by appearance; dtype object takes any text, str only UTF-8.
        counts = pd.Series(texts, dtype=object).value_counts()
        keep = counts[counts >= MIN_LEVEL_ROWS].index[:MAX_LEVELS]
        if len(counts) <= 2:  # a rare level of two is the whole information of the column
            keep = counts.index
        gaps = bool(pd.isna(texts).any())
        levels, rare = sorted(keep), sorted(set(counts.index) - set(keep))
        times = dict(zip(counts.index, counts.tolist(), strict=True))
        groups = [[level] for level in levels] + ([rare] if rare else [])
        shares = [sum(times[level] for level in group) / sum(times.values()) for group in groups]
        return cls(name, gaps, levels, rare, shares)

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs this column gives."""
        shown = [*self.levels, RARE] if self.rare_levels else self.levels
        return [f"{self.name}={level}" for level in shown]

    def encode(
        self, array: np.ndarray, out: np.ndarray, label: str
    ) -> tuple[np.ndarray, list[str]]:
        """Fill `out` (n, inputs); return which rows are observed, and levels never seen before."""
        known = {level: i for i, level in enumerate(self.levels)}
        known |= dict.fromkeys(self.rare_levels, len(self.levels))
        codes, levels = pd.factorize(as_texts(array))
        target = np.array([*(known.get(level, -1) for level in levels), -1], dtype=int)
        position = target[codes]
        seen = position >= 0
        out[np.flatnonzero(seen), position[seen]] = 1.0
        return seen, [str(level) for level in levels if level not in known]

    def plausible(self) -> tuple[np.ndarray, np.ndarray]:
        """The levels, one of the rare for all of them, and their shares; (v,) each.

        >>> texts = np.array(["f", "m", None, "f", "f"], dtype=object)
        >>> Category.learn("sex", texts).plausible()
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


def _stand_ins(distinct: np.ndarray, counts: np.ndarray) -> tuple[list[float], list[float]]:
    """A few of the values of a column, and the share of rows that each stands for."""
    rows = np.cumsum(counts)
    if len(distinct) > FEW_VALUES:  # real values, not between two: a count stays whole
        distinct = distinct[np.searchsorted(rows, QUANTILES * rows[-1])]
        counts = np.ones(len(distinct))
    return distinct.tolist(), (counts / max(counts.sum(), 1)).tolist()


def as_texts(array: np.ndarray) -> np.ndarray:
    """A categorical column as texts; numbers by the text of their shortest form."""
    if array.dtype == object:
        return array
    texts = np.full(len(array), None, dtype=object)
    seen = ~np.isnan(array)
    levels, codes = np.unique(array[seen], return_inverse=True)
    names = [str(int(v)) if v.is_integer() else str(float(v)) for v in levels]
    texts[seen] = np.array(names, dtype=object)[codes]
    return texts
