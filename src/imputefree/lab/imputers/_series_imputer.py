"""Series for imputers: every valid step a row, and back into the form they came in."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._estimator_tools import all_or_nothing
from ...data import is_polars, numbers, read_panel
from ...errors import InputTypeError
from ._forms import like


class SeriesImputer(TransformerMixin, BaseEstimator):
    """Base of imputers of series: padding and observed entries stay, no gap is left.

    Takes (N, T, D) arrays, with lengths (N,) where they are padded, or lists of (T_i, D) arrays
    or frames. Subclasses provide

    - `_learn(steps, lengths)`: learn from steps (S, D), series after series, an array or, where
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

    def _learn(self, steps: Any, lengths: np.ndarray) -> None:
        raise NotImplementedError

    def _fill(self, steps: Any, lengths: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Learn from series: (N, T, D) with optional lengths (N,), or a list of (T_i, D)."""
        with all_or_nothing(self):
            values, counts, names = read_series(X, lengths)
            self._learn(_table(values, names), counts)
            self.n_features_in_ = values.shape[1]
        return self

    def transform(self, X: Any, *, lengths: Any = None) -> Any:
        """The same series without gaps, in the form they came in."""
        check_is_fitted(self, "n_features_in_")
        values, counts, names = read_series(X, lengths)
        filled = np.asarray(self._fill(_table(values, names), counts))
        return like_series(X, np.where(np.isnan(values), filled, values), counts, names)

    def fit_transform(self, X: Any, y: Any = None, *, lengths: Any = None) -> Any:
        """Learn from series and fill their gaps."""
        return self.fit(X, y, lengths=lengths).transform(X, lengths=lengths)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


def read_series(X: Any, lengths: Any = None) -> tuple[np.ndarray, np.ndarray, list[str] | None]:
    """Series as rows: values (S, D) float64 with NaN, steps of each series (N,), names or None.

    X : (N, T, D) array, with `lengths` (N,) where it is padded, or a list of (T_i, D) arrays or
        frames. What lies beyond a length is never looked at.

    >>> values, lengths, names = read_series(np.arange(6.0).reshape(2, 3, 1), [2, 1])
    >>> values[:, 0], lengths
    (array([0., 1., 3.]), array([2, 1]))
    """
    if isinstance(X, pd.DataFrame) or is_polars(X):
        raise InputTypeError(
            f"X is a {type(X).__name__}",
            "Series to impute come as an array (series, steps, columns) or a list of (steps,"
            " columns)",
            "Split the frame by its ids: [steps for _, steps in X.groupby(id)]",
        )
    panel = read_panel(X, lengths=lengths)
    names = panel.steps.names if panel.steps.named else None
    return numbers(panel.steps, "an imputer"), panel.lengths, names


def like_series(X: Any, values: np.ndarray, lengths: np.ndarray, names: list[str] | None) -> Any:
    """Rows (S, D) in the form of X: an array with its padding untouched, or a list.

    >>> X = np.array([[[1.0], [np.nan]], [[3.0], [np.inf]]])
    >>> like_series(X, np.array([[1.0], [2.0], [3.0]]), np.array([2, 1]), None)[:, :, 0]
    array([[ 1.,  2.],
           [ 3., inf]])
    """
    ends = np.cumsum(lengths)[:-1]
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim == 1):
        parts = np.split(values, ends)
        return [_member(one, part, names) for one, part in zip(X, parts, strict=True)]
    filled = np.array(X, dtype=X.dtype if _is_float(X) else np.float64)
    filled[np.arange(filled.shape[1]) < lengths[:, None]] = values
    return filled


def _member(one: Any, values: np.ndarray, names: list[str] | None) -> Any:
    """The steps of one series in the form they came in; columns in its own order."""
    if isinstance(one, pd.DataFrame) or is_polars(one):
        if names is not None:
            values = values[:, [names.index(str(name)) for name in one.columns]]
        return like(one, values, np.asarray(pd.isna(np.asarray(one, dtype=object))))
    shape = np.shape(one)
    return values.reshape(shape).astype(one.dtype if _is_float(one) else np.float64)


def _table(values: np.ndarray, names: list[str] | None) -> Any:
    """Rows with their names, so that a change of columns is found."""
    return values if names is None else pd.DataFrame(values, columns=names)


def _is_float(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind == "f"
