"""Imputers for series: their base class, table imputers applied to steps, carry forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..._estimator_tools import all_or_nothing
from ..._rules import check_rules
from ...data import is_polars, numbers, read_panel
from ...errors import InputTypeError, ParameterError
from ...estimators import RULES
from ._classic import MeanImputer
from ._imputer import Array, Imputer, like


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
            values, counts, names = _read_series(X, lengths)
            self._learn(_table(values, names), counts)
            self.n_features_in_ = values.shape[1]
        return self

    def transform(self, X: Any, *, lengths: Any = None) -> Any:
        """The same series without gaps, in the form of the input."""
        check_is_fitted(self, "n_features_in_")
        values, counts, names = _read_series(X, lengths)
        filled = np.asarray(self._fill(_table(values, names), counts))
        return _like_series(X, np.where(np.isnan(values), filled, values), counts, names)

    def fit_transform(self, X: Any, y: Any = None, *, lengths: Any = None) -> Any:
        """Learn from series and fill their gaps."""
        return self.fit(X, y, lengths=lengths).transform(X, lengths=lengths)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


def _read_series(X: Any, lengths: Any) -> tuple[Array, Array, list[str] | None]:
    """Values (S, D) float64 with NaN, steps of each series (N,), column names or None.

    Steps beyond a length are never looked at.
    """
    if isinstance(X, pd.DataFrame) or is_polars(X):
        raise InputTypeError(
            f"X is a {type(X).__name__}",
            "Series to impute must be an array (series, steps, columns) or a list of (steps,"
            " columns)",
            "Split the frame by its ids: [steps for _, steps in X.groupby(id)]",
        )
    panel = read_panel(X, lengths=lengths)
    names = panel.steps.names if panel.steps.named else None
    return numbers(panel.steps, "an imputer"), panel.lengths, names


def _like_series(X: Any, values: Array, lengths: Array, names: list[str] | None) -> Any:
    """Steps (S, D) in the form of X: an array with its padding untouched, or a list."""
    if isinstance(X, list | tuple) or (isinstance(X, Array) and X.ndim == 1):
        parts = np.split(values, np.cumsum(lengths)[:-1])
        return [_like_one(series, part, names) for series, part in zip(X, parts, strict=True)]
    filled = np.array(X, dtype=_float_dtype(X))
    filled[np.arange(filled.shape[1]) < lengths[:, None]] = values
    return filled


def _like_one(series: Any, values: Array, names: list[str] | None) -> Any:
    """The steps of one series in its form, with columns in its order."""
    if isinstance(series, pd.DataFrame) or is_polars(series):
        if names is not None:
            values = values[:, [names.index(str(name)) for name in series.columns]]
        return like(series, values, np.asarray(pd.isna(np.asarray(series, dtype=object))))
    return values.reshape(np.shape(series)).astype(_float_dtype(series))


def _table(values: Array, names: list[str] | None) -> Any:
    """Steps with their column names, so that a change of columns is noticed."""
    return values if names is None else pd.DataFrame(values, columns=names)


def _float_dtype(X: Any) -> Any:
    return X.dtype if isinstance(X, Array) and X.dtype.kind == "f" else np.float64


class StepByStep(SeriesImputer):
    """Applies a table imputer to series, as the paper does: every valid step is a row.

    A gap is guessed from the other columns of the same step alone; steps before and after it have
    no influence.

    Parameters
    ----------
    imputer : an imputer for tables, such as `make_imputer("em")`; a copy of it is fitted

    Fitted: imputer_ (the copy), n_features_in_.

    >>> from imputefree.lab.imputers import make_imputer
    >>> X = np.array([[[1.0], [np.nan], [3.0]], [[2.0], [np.inf], [np.inf]]])
    >>> StepByStep(make_imputer("mean")).fit_transform(X, lengths=[3, 1])[:, :, 0]
    array([[ 1.,  2.,  3.],
           [ 2., inf, inf]])
    """

    def __init__(self, imputer: Any) -> None:
        self.imputer = imputer

    def _learn(self, steps: Any, lengths: Array) -> None:
        if not isinstance(self.imputer, Imputer):
            raise ParameterError(
                f"imputer is {self.imputer!r}",
                "It must be an imputer for tables",
                "Make one with make_imputer, for example make_imputer('em')",
            )
        self.imputer_ = clone(self.imputer).fit(steps)

    def _fill(self, steps: Any, lengths: Array) -> Array:
        return np.asarray(self.imputer_.transform(steps))


class CarryForwardImputer(SeriesImputer):
    """Fills a gap with the last observation of its column, or else with the training mean.

    Fitted: imputer_ (the MeanImputer that fills leading gaps), n_features_in_.

    >>> X = np.array([[[np.nan], [1.0], [np.nan]], [[5.0], [np.nan], [np.nan]]])
    >>> CarryForwardImputer().fit_transform(X)[:, :, 0]
    array([[3., 1., 1.],
           [5., 5., 5.]])
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _learn(self, steps: Any, lengths: Array) -> None:
        check_rules(self, {"random_state": RULES["random_state"]})
        self.imputer_ = MeanImputer(random_state=0).fit(steps)

    def _fill(self, steps: Any, lengths: Array) -> Array:
        means = np.asarray(self.imputer_.transform(steps))
        values = np.asarray(steps)
        step = np.arange(len(values))[:, None]
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)[:, None]
        last = np.maximum.accumulate(np.where(np.isnan(values), -1, step), axis=0)
        # Before the first observation of a series, `last` belongs to another: stay at the gap.
        carried = np.take_along_axis(values, np.where(last >= first, last, step), axis=0)
        return np.where(np.isnan(carried), means, carried)
