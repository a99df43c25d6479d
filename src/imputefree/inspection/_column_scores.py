"""How well each column alone predicts a target, by its values and by its gaps: counts of bins.

A column becomes at most some dozens of bins, a gap among them, and predicts the mean target of a
bin in two thirds of the rows for the other third. All that is needed are counts per bin and fold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..data import Columns

N_FOLDS = 3
BINS, FEWEST_BINS, BIN_ROWS = 40, 4, 30  # at most, at least, and rows per bin
PRIOR = 2.0  # rows' worth of the overall mean in the mean of a bin
MOST_CLASSES = 8  # that are scored: the most frequent ones
TAILS = (0.01, 0.99)  # to which numbers are clipped: outliers would decide about R²


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
