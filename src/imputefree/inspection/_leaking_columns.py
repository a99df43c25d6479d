"""Columns that reveal the target almost alone: by values, gaps or one level, or for one class.

A column becomes at most some dozens of bins, a gap among them, and predicts the mean target of a
bin in two thirds of the rows for the other third. All that is needed are counts per bin and fold.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom

from ..data import Columns

N_FOLDS = 3
BINS, FEWEST_BINS, BIN_ROWS = 40, 4, 30  # at most, at least, and rows per bin
PRIOR = 2.0  # rows' worth of the overall mean in the mean of a bin
MOST_CLASSES = 8  # that are scored: the most frequent ones
TAILS = (0.01, 0.99)  # to which numbers are clipped: outliers would decide about R²
MOST_ROWS, MOST_COLUMNS, N_TREES = 5000, 100, 40  # of comparisons with other columns
BY_GAPS = 0.9  # share of a column's gain over chance from which it is due to its gaps
FEWEST_KNOWN, SURPRISE = 20, 1e-6  # values of one class only, and how likely that is by chance
PURE, COVER = 0.95, 0.2  # share of a level's rows in one class, and of the class in that level
DOUBT = 1e-3  # how likely that many are, according to the other columns
MOST_LEVELS = 20  # columns with such a level that are looked at


@dataclass(frozen=True)
class TrapTarget:
    """What is to be predicted.

    codes : (n,) class numbers, 0 the most frequent; or all 0 for numbers
    numbers : (n,) clipped numbers, or None for classes
    n_classes : that are scored
    """

    codes: np.ndarray
    numbers: np.ndarray | None
    n_classes: int

    @classmethod
    def of(cls, y: np.ndarray) -> TrapTarget:
        """From classes, or from numbers as floats; (n,)."""
        if y.dtype.kind == "f":
            return cls(np.zeros(len(y), dtype=int), np.clip(y, *np.quantile(y, TAILS)), 1)
        labels, codes = np.unique(y, return_inverse=True)
        order = np.argsort(-np.bincount(codes), kind="stable")
        return cls(np.argsort(order)[codes], None, min(len(labels), MOST_CLASSES))

    @property
    def metric(self) -> str:
        """What scores are: of classes the mean AUC of each against the rest, by frequency."""
        return "AUC" if self.numbers is None else "R²"

    def rows(self, rows: np.ndarray) -> TrapTarget:
        """These rows only."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return TrapTarget(self.codes[rows], numbers, self.n_classes)

    def score(self, prediction: np.ndarray) -> float:
        """AUC or R² of predictions, (n, classes) or (n, 1)."""
        bins = np.arange(len(prediction))
        return self._score_bins(bins, prediction)

    def _score_bins(self, bins: np.ndarray, prediction: np.ndarray) -> float:
        """The score where all rows of a bin have its prediction; (n,), (bins, classes)."""
        n_bins = len(prediction)
        count = np.bincount(bins, minlength=n_bins).astype(float)
        if self.numbers is not None:
            total = np.bincount(bins, self.numbers, n_bins)
            error = (self.numbers**2).sum() + (prediction[:, 0] ** 2 * count).sum()
            error -= 2 * (prediction[:, 0] * total).sum()
            spread = ((self.numbers - self.numbers.mean()) ** 2).sum()
            return float(1 - error / spread) if spread > 0 else 0.0
        scores, weights = [0.5], [1e-9]
        for code in range(self.n_classes):
            positive = np.bincount(bins[self.codes == code], minlength=n_bins).astype(float)
            if 0 < positive.sum() < count.sum():
                scores.append(_auc(prediction[:, code], positive, count - positive))
                weights.append(positive.sum())
        return float(np.average(scores, weights=weights))

    def score_column(self, codes: np.ndarray, fold: np.ndarray) -> float:
        """How well a column of bins predicts other folds' rows; (n,) each."""
        n_bins = int(codes.max()) + 1
        cell = fold * n_bins + codes
        count = np.bincount(cell, minlength=N_FOLDS * n_bins).reshape(N_FOLDS, n_bins, 1)
        if self.numbers is not None:
            total = np.bincount(cell, self.numbers, N_FOLDS * n_bins).reshape(count.shape)
        else:
            kept = self.codes < self.n_classes
            place = cell[kept] * self.n_classes + self.codes[kept]
            shape = (N_FOLDS, n_bins, self.n_classes)
            total = np.bincount(place, minlength=np.prod(shape)).reshape(shape)
        others, rows = total.sum(0) - total, count.sum(0) - count  # what the other folds show
        mean = others.sum(1, keepdims=True) / rows.sum(1, keepdims=True)
        prediction = (others + PRIOR * mean) / (rows + PRIOR)
        return self._score_bins(cell, prediction.reshape(N_FOLDS * n_bins, -1))


def _auc(value: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> float:
    """Area under the ROC curve of bins with these predictions; ties count half; (bins,) each."""
    _, place = np.unique(value, return_inverse=True)
    positive, negative = np.bincount(place, positive), np.bincount(place, negative)
    below = np.cumsum(negative) - negative / 2
    return float((positive * below).sum() / (positive.sum() * negative.sum()))


def bin_columns(columns: Columns) -> np.ndarray:
    """Every column as numbers of bins, 0 for a gap; (n, C)."""
    most = int(np.clip(columns.n_rows / BIN_ROWS, FEWEST_BINS, BINS))
    return np.column_stack([_bins(array, most) for array in columns.arrays])


def _bins(array: np.ndarray, most: int) -> np.ndarray:
    if array.dtype == object:
        return pd.factorize(array)[0] + 1
    seen = ~np.isnan(array)
    values = np.unique(array[seen])
    if len(values) > BINS:
        values = np.unique(np.quantile(array[seen], np.linspace(0, 1, most + 1)[:-1]))
    codes = np.searchsorted(values, array, side="right")
    return np.where(seen, np.maximum(codes, 1), 0)


class TrapLimits(NamedTuple):
    """How predictive a column must be to be reported, as AUC or R².

    perfect : reported regardless of other columns
    suspect : compared with all other columns together from this score on
    ahead : by how much it must be better than they are
    gaps : score that gaps alone do not normally reach
    level : the highest mean probability that others may give the class of a suspicious level
    """

    perfect: float = 0.99
    suspect: float = 0.9
    ahead: float = 0.04
    gaps: float = 0.85
    level: float = 0.85

    @classmethod
    def of(cls, metric: str) -> TrapLimits:
        """Those of classes (AUC), or of numbers (R²)."""
        return cls() if metric == "AUC" else cls(0.97, 0.8, 0.1, 0.4)


class LoneColumn(NamedTuple):
    """A column that predicts almost alone.

    alone : its score
    gaps : the score of where it has gaps
    others : that of all unsuspicious columns together; None if there are none
    """

    column: int
    alone: float
    gaps: float
    others: float | None

    def by_gaps(self, chance: float) -> bool:
        """Whether the target is revealed by where the column has gaps, not by its values."""
        return self.gaps - chance >= BY_GAPS * (self.alone - chance)


class LoneLevel(NamedTuple):
    """A level, or the gaps, of a column that reveal a class which no other columns predict.

    code : of the bin
    value : the level, or None for gaps
    only : number of the class
    rows, hits : with that level, and those of them in the class
    others : mean probability of that class in these rows, by all other columns
    """

    column: int
    code: int
    value: Any
    only: int
    rows: int
    hits: int
    others: float


def lone_columns(codes: np.ndarray, target: TrapTarget, limits: TrapLimits) -> list[LoneColumn]:
    """Columns that are nearly perfect alone, far ahead of all others together, or whose gaps are
    unusually predictive; codes (n, C).
    """
    n_rows, n_columns = codes.shape
    fold = np.random.default_rng(0).permutation(n_rows) % N_FOLDS
    alone = np.array([target.score_column(codes[:, j], fold) for j in range(n_columns)])
    suspects = np.flatnonzero(alone >= min(limits.suspect, limits.gaps))
    if not len(suspects):
        return []
    rest = np.setdiff1d(np.arange(n_columns), suspects)
    others = None
    if len(rest):
        compared = target.rows(np.arange(n_rows)[:MOST_ROWS])
        best = rest[np.argsort(-alone[rest])[:MOST_COLUMNS]]
        others = compared.score(together(codes[:MOST_ROWS, best], compared, fold[:MOST_ROWS]))
    rare = np.bincount(target.codes).min() if target.numbers is None else n_rows
    lone_ones = []
    for j in suspects:
        doubt = np.sqrt(max(alone[j] * (1 - alone[j]), 0.0) / max(rare, 1))
        ahead = others is not None and alone[j] - others >= max(limits.ahead, doubt)
        gaps = target.score_column((codes[:, j] == 0).astype(int), fold)
        strong = alone[j] >= limits.suspect and (ahead or alone[j] >= limits.perfect)
        if strong or gaps >= limits.gaps:
            lone_ones.append(LoneColumn(int(j), float(alone[j]), gaps, others))
    return sorted(lone_ones, key=lambda lone: -lone.alone)


def lone_levels(
    columns: Columns,
    codes: np.ndarray,
    target: TrapTarget,
    limits: TrapLimits,
    known: Collection[int] = (),
) -> list[LoneLevel]:
    """Levels almost all of whose rows have one class, which other columns do not predict there.

    Such as 0 in a column with the site of a tumour; codes (n, C). A level is a single value: the
    lowest or highest of many values often belong to one class.

    known : columns that are traps already
    """
    if target.numbers is not None:
        return []
    codes, target = codes[:MOST_ROWS], target.rows(np.arange(len(codes))[:MOST_ROWS])
    n_rows, totals = len(codes), np.bincount(target.codes)
    candidates = []
    for j in (j for j in range(codes.shape[1]) if j not in known):
        shape = int(codes[:, j].max()) + 1, len(totals)
        table = np.bincount(codes[:, j] * shape[1] + target.codes, minlength=shape[0] * shape[1])
        table = table.reshape(shape)
        rows, hits, only = table.sum(1), table.max(1), table.argmax(1)
        by_chance = binom.sf(hits - 1, rows, totals[only] / n_rows) * table.size * codes.shape[1]
        telling = (rows >= FEWEST_KNOWN) & (hits >= PURE * rows) & (hits >= COVER * totals[only])
        telling &= (by_chance < SURPRISE) & (only < target.n_classes)
        for code in np.flatnonzero(telling)[np.argsort(-hits[telling])][:1].tolist():
            value, share = _commonest(columns.arrays[j][:MOST_ROWS][codes[:, j] == code])
            if share >= PURE:
                counts = int(only[code]), int(rows[code]), int(hits[code])
                candidates.append(LoneLevel(j, code, value, *counts, 1.0))
    fold = np.random.default_rng(0).permutation(n_rows) % N_FOLDS
    named = []
    for level in sorted(candidates, key=lambda level: -level.hits)[:MOST_LEVELS]:
        rest = [j for j in range(codes.shape[1]) if j not in {level.column, *known}]
        if not rest:
            break
        inside = codes[:, level.column] == level.code
        prediction = together(codes[:, rest[:MOST_COLUMNS]], target, fold)
        others = float(prediction[inside, level.only].mean())
        unlikely = binom.sf(level.hits - 1, level.rows, others) < DOUBT
        if others <= limits.level and unlikely:
            named.append(level._replace(others=others))
    return named


def _commonest(values: np.ndarray) -> tuple[Any, float]:
    """The most frequent value, None for a gap, and its share."""
    distinct, counts = np.unique(values[~pd.isna(values)], return_counts=True)
    return (distinct[counts.argmax()], counts.max() / len(values)) if len(distinct) else (None, 1.0)


def together(codes: np.ndarray, target: TrapTarget, fold: np.ndarray) -> np.ndarray:
    """Out-of-fold predictions of small trees on these columns; (n, classes or 1)."""
    import lightgbm

    kept = target.codes < target.n_classes
    prediction = np.zeros((len(codes), target.n_classes))
    settings: dict[str, Any] = {"verbose": -1, "num_threads": 1, "seed": 0}
    settings |= {"num_leaves": 15, "min_data_in_leaf": 5}
    if target.numbers is not None:
        settings |= {"objective": "l2"}
    elif target.n_classes == 2:
        settings |= {"objective": "binary"}
    else:
        settings |= {"objective": "multiclass", "num_class": target.n_classes}
    y = target.codes if target.numbers is None else target.numbers
    for number in range(N_FOLDS):
        learned, scored = (fold != number) & kept, fold == number
        data = lightgbm.Dataset(codes[learned].astype(np.float64), y[learned])
        part = lightgbm.train(settings, data, N_TREES).predict(codes[scored].astype(np.float64))
        part = np.asarray(part)
        if target.numbers is None and target.n_classes == 2:
            part = np.column_stack([1 - part, part])
        prediction[scored] = part.reshape(len(part), -1)
    return prediction


def one_sided_columns(known: np.ndarray, codes: np.ndarray) -> list[tuple[int, int, int]]:
    """Columns that are known only for rows of one class: column, class and how many rows.

    known : (n, C) bool
    codes : (n,) classes by number
    """
    shares = np.bincount(codes) / len(codes)
    one_sided = []
    for j in range(known.shape[1]):
        count = np.bincount(codes[known[:, j]], minlength=len(shares))
        rows, only = int(count.sum()), int(count.argmax())
        if rows >= FEWEST_KNOWN and count[only] == rows < len(known):
            by_chance = rows * np.log(shares[only])
            if by_chance < np.log(SURPRISE / known.shape[1]):
                one_sided.append((j, only, rows))
    return one_sided
