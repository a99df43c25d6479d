"""What every imputer promises, kept in one place: observed entries stay, no gap is left.

An imputer is a scikit-learn transformer for tables of numbers. To add one, derive from `Imputer`,
write `_learn` and `_fill`, and give it a name in `imputefree.imputers.IMPUTERS`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..data.columns import is_polars
from ..errors import InputError, ParameterError
from ..numeric_tables import NumericTables

TINY = 1e-12  # a column that varies less has the spread 1


class Imputer(NumericTables, TransformerMixin, BaseEstimator):
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
        values, columns = self._read_training(X)
        observed = ~np.isnan(values)
        count = np.maximum(observed.sum(0), 1)
        centred = np.where(observed, values, 0.0)  # one copy: tables may be large
        self.mean_ = centred.sum(0) / count
        centred -= self.mean_
        centred *= observed
        spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / count)
        del centred
        self.spread_ = np.where(spread > TINY * np.maximum(np.abs(self.mean_), 1.0), spread, 1.0)
        self._learn(self._scaled(values, observed), observed, self._rng())
        self._remember(columns)
        return self

    def transform(self, X: Any) -> Any:
        """The same table without gaps: a frame for a frame, an array for an array."""
        check_is_fitted(self, "mean_")
        values = self._read(X)
        observed = ~np.isnan(values)
        guess = self._fill(self._scaled(values, observed), observed, self._rng())
        if self.scales:
            guess = guess * self.spread_ + self.mean_
        if not np.isfinite(guess[~observed]).all():
            raise InputError(
                f"{type(self).__name__} diverged: a filled entry is not finite",
                "An imputation must be a number",
                "Scale the columns, or take a simpler imputer such as 'mean'",
            )
        return like(X, np.where(observed, values, guess))

    def _scaled(self, values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        if self.scales:
            values = (values - self.mean_) / self.spread_
        return np.where(observed, values, 0.0)

    def _rng(self) -> np.random.Generator:
        """A fresh source of randomness; the same for each call where random_state is a number."""
        try:
            source = check_random_state(self.random_state)
        except ValueError:
            raise ParameterError(
                f"random_state is {self.random_state!r}",
                "It must be None, a whole number in [0, 2**32 - 1] or a RandomState",
                "Pass random_state= such a value",
            ) from None
        return np.random.default_rng(source.randint(np.iinfo(np.int32).max))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def like(X: Any, filled: np.ndarray) -> Any:
    """Filled values in the form X came in; floats keep their width."""
    if isinstance(X, pd.DataFrame):
        frame = pd.DataFrame(filled, index=X.index, columns=X.columns)
        narrow = {name: dtype for name, dtype in X.dtypes.items() if dtype == np.float32}
        return frame.astype(narrow)
    if is_polars(X):
        # Of a square array polars would otherwise take the rows for columns.
        frame = type(X)(filled, schema=list(X.columns), orient="row")
        single = {name: dtype for name, dtype in X.schema.items() if str(dtype) == "Float32"}
        return frame.cast(single) if single else frame
    dtype = getattr(X, "dtype", None)
    return filled.astype(dtype) if dtype in (np.float32, np.float16) else filled
