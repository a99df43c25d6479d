"""What every imputer promises, kept in one place: observed entries stay, no gap is left.

An imputer is a scikit-learn transformer for tables of numbers. To add one, derive from `Imputer`,
write `_learn` and `_fill`, and give it a name in `imputefree.lab.imputers.IMPUTERS`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._estimator_tools import all_or_nothing, private_generator
from ...data import NumericTables
from ...errors import InputError, ParameterError
from ._forms import like

TINY = 1e-12  # of its largest entry: a column that varies less is constant
FARTHEST = 1e6  # spreads from the mean


class Imputer(NumericTables, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of all imputers. Values are scaled to mean 0 and spread 1 before they get to know them.

    Subclasses provide

    - `_learn(values, observed, rng)`: learn from training rows, (n, d) float64 with 0 where missing
    - `_fill(values, observed, rng)`: a guess for every entry of these rows, (n, d); only those of
      gaps are used

    and may set `scales = False` to get the values as they are. A column without a single training
    entry is kept and filled with 0 in scaled units (0 as its mean, 1 as its spread).

    Fitted: mean_, spread_ (d,), n_features_in_, feature_names_in_.

    >>> class Zero(Imputer):
    ...     scales = False
    ...     def _learn(self, values, observed, rng): pass
    ...     def _fill(self, values, observed, rng): return np.zeros_like(values)
    >>> Zero().fit_transform(np.array([[1.0, np.nan], [3.0, 4.0]]))
    array([[1., 0.],
           [3., 4.]])
    """

    scales = True
    random_state: Any = None

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        raise NotImplementedError

    def _fill(
        self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training rows; (n, d) frame or array of numbers with gaps."""
        with all_or_nothing(self):
            values, columns = self._read_training(X)
            observed = ~np.isnan(values)
            self._remember(columns)
            self.mean_, self.spread_ = _mean_and_spread(values, observed)
            self._learn(self._scaled(values, observed), observed, self._rng())
        return self

    def transform(self, X: Any) -> Any:
        """The same table without gaps: a frame for a frame, an array for an array."""
        check_is_fitted(self, "n_features_in_")
        values = self._read(X)
        gaps = np.isnan(values)
        rows = np.flatnonzero(gaps.any(1))
        if len(rows):
            values[rows] = self._filled(values[rows], ~gaps[rows])
        return like(X, values, gaps)

    def _filled(self, values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """Rows that all have a gap, without; (n, d)."""
        guess = self._fill(self._scaled(values, observed), observed, self._rng())
        if self.scales:
            with np.errstate(over="ignore"):  # told below
                guess = guess * self.spread_ + self.mean_
        if not np.isfinite(guess[~observed]).all():
            raise InputError(
                f"{type(self).__name__} diverged: a filled entry is not finite",
                "An imputation must be a number",
                "Scale the columns, or take another imputer",
            )
        return np.where(observed, values, guess)

    def _scaled(self, values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """What an imputer sees; what is farther off than any sense counts as that far."""
        if self.scales:
            with np.errstate(over="ignore"):
                values = ((values - self.mean_) / self.spread_).clip(-FARTHEST, FARTHEST)
        return np.where(observed, values, 0.0)

    def _rng(self) -> np.random.Generator:
        """A fresh source of randomness; the same for each call where random_state is a number."""
        if self.random_state is None:
            return np.random.default_rng()  # leaves NumPy's global generator alone
        try:
            return private_generator(self.random_state)
        except ValueError:
            raise ParameterError(
                f"random_state is {self.random_state!r}",
                "It must be None, a whole number in [0, 2**32 - 1] or a RandomState",
                "Pass random_state= such a value",
            ) from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _mean_and_spread(values: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the observed entries of each column, (d,) each; the spread of a constant is its size.

    Columns are divided by a power of two first, which is exact: squares of huge and tiny values
    neither overflow nor vanish.
    """
    centred = np.where(observed, values, 0.0)  # one copy, changed in place: tables may be large
    exponent = np.frexp(np.maximum(centred.max(0, initial=0.0), -centred.min(0, initial=0.0)))[1]
    unit = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
    centred /= unit
    count = np.maximum(observed.sum(0), 1)
    mean = centred.sum(0) / count
    centred -= mean
    centred *= observed
    spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / count)
    return mean * unit, np.where(spread > TINY, spread, 1.0) * unit
