"""What every imputer guarantees: observed entries stay as they are, and no gap is left.

An imputer is a scikit-learn transformer for tables of numbers. To add one, derive from `Imputer`
(for series: `SeriesImputer`), write `_learn` and `_fill`, and add it to `IMPUTERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._estimator_tools import all_or_nothing, private_generator
from ..._rules import check_value
from ...data import NumericTables, is_polars
from ...errors import InputError
from ...estimators import RULES

Array = np.ndarray
TINY = 1e-12  # relative to its largest entry: a column that varies less is constant
FARTHEST = 1e6  # in spreads: the largest distance from the mean that an imputer sees


class Imputer(NumericTables, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base class of all imputers for tables. Columns are scaled to mean 0 and spread 1.

    Subclasses provide

    - `_learn(values, observed, rng)`: learn from training rows, (n, d) float64 with 0 where missing
    - `_fill(values, observed, rng)`: a guess for every entry of these rows, (n, d); only those for
      gaps are used

    and may set `scales = False` to get unscaled values. A column without a training entry is
    filled with 0.

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

    _learn: ClassVar[Callable[..., None]]
    _fill: ClassVar[Callable[..., Array]]

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

    def _filled(self, values: Array, observed: Array) -> Array:
        """Rows with gaps, filled; (n, d)."""
        guess = self._fill(self._scaled(values, observed), observed, self._rng())
        if self.scales:
            with np.errstate(over="ignore"):  # checked below
                guess = guess * self.spread_ + self.mean_
        check_finite(self, guess[~observed], "Scale the columns, or use another imputer")
        return np.where(observed, values, guess)

    def _scaled(self, values: Array, observed: Array) -> Array:
        """What an imputer sees; extreme values are clipped."""
        if self.scales:
            with np.errstate(over="ignore"):
                values = ((values - self.mean_) / self.spread_).clip(-FARTHEST, FARTHEST)
        return np.where(observed, values, 0.0)

    def _rng(self) -> np.random.Generator:
        """A new random generator; the same in each call if random_state is a number."""
        check_value("random_state", self.random_state, RULES["random_state"])
        if self.random_state is None:
            return np.random.default_rng()  # leaves NumPy's global generator alone
        return private_generator(self.random_state)


def check_finite(imputer: Any, guess: Array, remedy: str) -> None:
    """Raise an InputError if a filled entry is not finite."""
    if not np.isfinite(guess).all():
        raise InputError(
            f"{type(imputer).__name__} diverged: a filled entry is not finite",
            "An imputation must be a number",
            remedy,
        )


def _mean_and_spread(values: Array, observed: Array) -> tuple[Array, Array]:
    """Mean and spread of the observed entries per column, (d,) each; a constant has spread 1 in
    units of its size.

    Columns are first divided by a power of two, which is exact: squares of huge and tiny values
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


def like(X: Any, filled: Array, gaps: Array) -> Any:
    """Filled values (n, d) in the form of X, which had these gaps (n, d).

    A column without gaps is returned as it is, whatever its dtype; one with gaps keeps its float
    dtype, and becomes float64 otherwise.

    >>> frame = pd.DataFrame({"count": [1, 2], "size": np.array([0.5, np.nan], dtype=np.float32)})
    >>> filled = like(frame, np.array([[1.0, 0.5], [2.0, 0.25]]), frame.isna().to_numpy())
    >>> filled.dtypes.astype(str).tolist(), filled["size"].tolist()
    (['int64', 'float32'], [0.5, 0.25])
    """
    if isinstance(X, pd.DataFrame):
        frame = X.copy()
        for j in np.flatnonzero(gaps.any(0)).tolist():
            dtype: Any = X.dtypes.iloc[j]
            numpy_dtype = getattr(dtype, "numpy_dtype", dtype)
            column = filled[:, j]
            if isinstance(numpy_dtype, np.dtype) and numpy_dtype.kind == "f":
                column = pd.array(_narrowed(column, numpy_dtype), dtype=dtype)
            frame.isetitem(j, column)
        return frame
    if is_polars(X):
        new = {
            name: _narrowed(filled[:, j], np.dtype(np.float32))
            if str(X.schema[name]) == "Float32"
            else filled[:, j]
            for j, name in enumerate(X.columns)
            if gaps[:, j].any()
        }
        return X.with_columns(type(X)(new).get_columns())
    dtype = getattr(X, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "fiub":
        return filled
    return _narrowed(filled, dtype) if gaps.any() else np.array(X)


def _narrowed(values: Array, dtype: np.dtype[Any]) -> Array:
    """Values as floats of that width, or an error if one does not fit."""
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype)
    if not np.isfinite(narrow).all():
        worst = values.ravel()[np.abs(values).argmax()]
        raise InputError(
            f"a filled entry is {worst:.3g}, too large for {dtype}",
            "Filled tables keep the width of their floats",
            "Pass the table as float64",
        )
    return narrow
