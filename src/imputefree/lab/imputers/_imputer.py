"""What every imputer guarantees: observed entries stay as they are, and no gap is left.

An imputer is a scikit-learn transformer for tables of numbers, or for series of them. To add one,
derive from `Imputer` or `SeriesImputer`, write `_learn` and `_fill`, and add it to `IMPUTERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._rules import all_or_nothing, check_value, private_generator
from ...data import (
    Columns,
    Panel,
    feature_count_error,
    is_polars,
    read_columns,
    read_panel,
    remember_columns,
)
from ...errors import InputError, InputTypeError, shorten
from ...estimators import RULES

Array = np.ndarray
TINY = 1e-12  # relative to its largest entry: a column that varies less is constant
FARTHEST = 1e6  # in spreads: the largest distance from the mean that an imputer sees


class NumericTables:
    """Mixin for estimators that take tables of numbers.

    Reads (n, d) tables as float64 with NaN, and remembers n_features_in_ and feature_names_in_.
    """

    n_features_in_: int

    def _read_training(self, X: Any) -> tuple[np.ndarray, Columns]:
        """A training table, and its columns to be remembered once training succeeds."""
        columns = read_columns(X)
        return numbers(columns, type(self).__name__), columns

    def _read(self, X: Any) -> np.ndarray:
        """A table with the columns of training."""
        columns, owner = read_columns(X), type(self).__name__
        names = list(getattr(self, "feature_names_in_", columns.names))
        if columns.named and columns.names != names:
            raise InputError(
                "The feature names should match those that were passed during fit: they are"
                f" {shorten(columns.names)}",
                f"They must be those of training, in that order: {shorten(names)}",
                "Select them by name first",
            )
        if len(columns.names) != self.n_features_in_:
            raise feature_count_error(columns, owner, self.n_features_in_, "Select them first")
        return numbers(columns, owner)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's BaseEstimator
        tags.input_tags.allow_nan = True
        return tags


def numbers(columns: Columns, owner: str) -> np.ndarray:
    """All columns as (n, d) float64 with NaN, or an error naming the first that holds strings.

    >>> numbers(read_columns([[1, None], [2, 3]]), "EMImputer")
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    for name, array in columns.items():
        if array.dtype == object and any(value is not None for value in array):
            remedy = "Encode categories as numbers first, or use GILClassifier"
            raise InputTypeError(f"column {name!r} holds text", f"{owner} takes numbers", remedy)
    gaps = np.full(columns.n_rows, np.nan)
    return np.column_stack([gaps if a.dtype == object else a for a in columns.arrays])


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
            remember_columns(self, columns)
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
            seen = ~gaps[rows]
            guess = self._fill(self._scaled(values[rows], seen), seen, self._rng())
            if self.scales:
                with np.errstate(over="ignore"):  # checked below
                    guess = guess * self.spread_ + self.mean_
            check_finite(self, guess[~seen], "Scale the columns, or use another imputer")
            values[rows] = np.where(seen, values[rows], guess)
        return like(X, values, gaps)

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

    A column without gaps is returned as it is, with any dtype; one with gaps keeps its float
    dtype, and becomes float64 otherwise.

    >>> frame = pd.DataFrame({"count": [1, 2], "size": np.array([0.5, np.nan], dtype=np.float32)})
    >>> filled = like(frame, np.array([[1.0, 0.5], [2.0, 0.25]]), frame.isna().to_numpy())
    >>> filled.dtypes.astype(str).tolist(), filled["size"].tolist()
    (['int64', 'float32'], [0.5, 0.25])
    """
    columns = np.flatnonzero(gaps.any(0)).tolist()
    if isinstance(X, pd.DataFrame):
        frame = X.copy()
        for j in columns:
            dtype: Any = X.dtypes.iloc[j]
            numpy_dtype = getattr(dtype, "numpy_dtype", dtype)
            column = filled[:, j]
            if isinstance(numpy_dtype, np.dtype) and numpy_dtype.kind == "f":
                column = pd.array(_narrowed(column, numpy_dtype), dtype=dtype)
            frame.isetitem(j, column)
        return frame
    if is_polars(X):
        dtypes = [np.dtype("f4" if str(X.dtypes[j]) == "Float32" else "f8") for j in columns]
        new = {X.columns[j]: _narrowed(filled[:, j], dtypes[k]) for k, j in enumerate(columns)}
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


class SeriesImputer(TransformerMixin, BaseEstimator):
    """Base class of imputers for series: padding and observed entries stay, no gap is left.

    Takes (N, T, D) arrays, with lengths (N,) if they are padded, or lists of (T_i, D) arrays or
    frames. Subclasses provide

    - `_learn(steps, lengths)`: learn from steps (S, D), series after series, an array or, if
      columns have names, a frame, with NaN for gaps
    - `_fill(steps, lengths)`: the same steps without gaps, (S, D)

    >>> class Zero(SeriesImputer):
    ...     def _learn(self, steps, lengths): pass
    ...     def _fill(self, steps, lengths): return np.nan_to_num(steps)
    >>> X = np.array([[[1.0], [np.nan]], [[3.0], [np.nan]]])
    >>> Zero().fit_transform(X, lengths=[2, 1])[:, :, 0]
    array([[ 1.,  0.],
           [ 3., nan]])
    """

    _learn: ClassVar[Callable[..., None]]
    _fill: ClassVar[Callable[..., Array]]

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Learn from series: (N, T, D) with optional lengths (N,), or a list of (T_i, D)."""
        with all_or_nothing(self):
            panel = read_series(X, lengths)
            steps = named_numbers(panel.steps, "an imputer")
            self._learn(steps, panel.lengths)
            self.n_features_in_ = steps.shape[1]
        return self

    def transform(self, X: Any, *, lengths: Any = None) -> Any:
        """The same series without gaps, in the form of the input."""
        check_is_fitted(self, "n_features_in_")
        panel = read_series(X, lengths)
        steps = named_numbers(panel.steps, "an imputer")
        values = np.asarray(steps)
        filled = np.asarray(self._fill(steps, panel.lengths))
        return _like_series(X, np.where(np.isnan(values), filled, values), panel)

    def fit_transform(self, X: Any, y: Any = None, *, lengths: Any = None) -> Any:
        """Learn from series and fill their gaps."""
        return self.fit(X, y, lengths=lengths).transform(X, lengths=lengths)

    def __sklearn_tags__(self) -> Any:
        return series_tags(super().__sklearn_tags__())


def series_tags(tags: Any) -> Any:
    """scikit-learn's tags of an estimator that takes series with NaN."""
    tags.input_tags.allow_nan = True
    tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
    return tags


def read_series(X: Any, lengths: Any = None) -> Panel:
    """An array with optional lengths, or a list; steps beyond a length are never looked at."""
    if isinstance(X, pd.DataFrame) or is_polars(X):
        raise InputTypeError(
            f"X is a {type(X).__name__}",
            "Series come as an array (series, steps, columns) or a list of (steps, columns)",
            "Split the frame by its ids: [steps for _, steps in X.groupby(id)]",
        )
    return read_panel(X, lengths=lengths)


def named_numbers(columns: Columns, owner: str) -> Any:
    """Numbers (n, d), with their names if they have any, so that a change of columns is noticed."""
    values = numbers(columns, owner)
    return pd.DataFrame(values, columns=columns.names) if columns.named else values


def _like_series(X: Any, values: Array, panel: Panel) -> Any:
    """Steps (S, D) in the form of X: an array with its padding untouched, or a list."""
    if isinstance(X, list | tuple) or (isinstance(X, Array) and X.ndim == 1):
        parts = np.split(values, np.cumsum(panel.lengths)[:-1])
        return [_like_one(x, part, panel.steps) for x, part in zip(X, parts, strict=True)]
    filled = np.array(X, dtype=_float_dtype(X))
    filled[np.arange(filled.shape[1]) < panel.lengths[:, None]] = values
    return filled


def _like_one(series: Any, values: Array, columns: Columns) -> Any:
    """The steps of one series in its form, with columns in its order."""
    if isinstance(series, pd.DataFrame) or is_polars(series):
        if columns.named:
            values = values[:, [columns.names.index(str(name)) for name in series.columns]]
        return like(series, values, np.asarray(pd.isna(np.asarray(series, dtype=object))))
    return values.reshape(np.shape(series)).astype(_float_dtype(series))


def _float_dtype(X: Any) -> Any:
    return X.dtype if isinstance(X, Array) and X.dtype.kind == "f" else np.float64
