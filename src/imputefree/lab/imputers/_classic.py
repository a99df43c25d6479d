"""The classics, by way of scikit-learn: zero, mean and nearest neighbours; see also chained.py.

Whatever the method, a row without a single observed entry, and a column without one in training,
get the mean (0 for such a column): there is nothing to learn a better guess from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.impute import KNNImputer

from ..._progress import training_progress
from ..._rules import FLAG, Rule, check_rules, choice, whole
from ...estimators import RULES
from ._cost_limits import refuse_slow
from ._imputer import Imputer

COMMON: dict[str, Rule] = {
    "allow_slow": FLAG,
    "verbose": FLAG,
    "random_state": RULES["random_state"],
}
# Seconds on one core, fitted to CPU time on tables of 500 to 5,000 rows and 10 to 150 columns.
KNN_PAIR = 5e-9  # per training row, row with gaps and column
CHUNK = 1000  # rows a step of the progress bar


class ZeroImputer(Imputer):
    """0 in every gap, in the units of the data.

    >>> ZeroImputer().fit_transform(np.array([[1.0, np.nan], [3.0, 4.0]]))
    array([[1., 0.],
           [3., 4.]])
    """

    scales = False

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        pass

    def _fill(
        self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        return np.zeros_like(values)


class MeanImputer(ZeroImputer):
    """The mean of the column's observed training entries.

    >>> MeanImputer().fit_transform(np.array([[1.0, np.nan], [3.0, 4.0]]))
    array([[1., 4.],
           [3., 4.]])
    """

    scales = True  # 0 in scaled units is the mean


class SklearnImputer(Imputer):
    """Base of those that scikit-learn does: shows it the columns that were seen, NaN for gaps."""

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        self.seen_ = np.flatnonzero(observed.any(0))
        if len(self.seen_) > 0:
            self._train(np.where(observed, values, np.nan)[:, self.seen_], rng)

    def _fill(
        self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        guess = np.zeros_like(values)
        known = observed[:, self.seen_]
        rows = np.flatnonzero(known.any(1) & ~known.all(1))
        if len(rows):
            part = np.ix_(rows, self.seen_)
            guess[part] = self._complete(np.where(observed[part], values[part], np.nan), rng)
        return guess

    def _train(self, gappy: np.ndarray, rng: np.random.Generator) -> None:
        """Learn from (n, seen columns) with NaN for gaps."""
        raise NotImplementedError

    def _complete(self, gappy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Fill rows that have a gap and an entry each."""
        raise NotImplementedError


class NeighboursImputer(SklearnImputer):
    """The mean of the nearest training rows that have the entry (kNN).

    Rows are compared over the columns both have, each scaled to spread 1. Ten neighbours of equal
    weight were the best of 5, 10 and 20, equal or weighted by distance, over four tables at 30 %
    missing (at 60 %, 20 were slightly better).

    Cost: training rows times rows with gaps times columns. More than half an hour by estimate is
    refused unless `allow_slow`.

    Parameters
    ----------
    n_neighbors : int
    weights : {"uniform", "distance"}
    allow_slow, verbose : bool
    random_state : not used

    Examples
    --------
    >>> x = np.array([[0.0, 1.0], [0.1, 1.0], [9.0, 5.0], [9.1, np.nan]])
    >>> NeighboursImputer(n_neighbors=1).fit_transform(x)[3]
    array([9.1, 5. ])
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        weights: str = "uniform",
        allow_slow: bool = False,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.allow_slow = allow_slow
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        rules = {"n_neighbors": whole(1), "weights": choice("uniform", "distance"), **COMMON}
        check_rules(self, rules)
        super()._learn(values, observed, rng)

    def _train(self, gappy: np.ndarray, rng: np.random.Generator) -> None:
        self.model_ = KNNImputer(n_neighbors=self.n_neighbors, weights=self.weights).fit(gappy)
        self.n_donors_ = len(gappy)

    def _complete(self, gappy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        n, d = gappy.shape
        refuse_slow(
            f"kNN from {self.n_donors_:,} training rows for {n:,} rows with gaps, {d:,} columns,",
            seconds=KNN_PAIR * self.n_donors_ * n * d,
            remedy="Fit on a sample of the rows, or take the imputer 'mixture' or 'mean'",
            allowed=self.allow_slow,
        )
        parts = []
        with (
            training_progress(bool(self.verbose), -(-n // CHUNK), "kNN") as report,
            config_context(working_memory=256),  # MiB of distances at a time
        ):
            for at in range(0, n, CHUNK):
                parts.append(self.model_.transform(gappy[at : at + CHUNK]))
                if report is not None:
                    report(at // CHUNK, {})
        return np.concatenate(parts)
