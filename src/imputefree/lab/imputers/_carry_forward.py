"""The last observation carried forward; before the first one, the mean of training."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._rules import check_rules
from ...estimators import RULES
from ._classic import MeanImputer
from ._series_imputer import SeriesImputer


class CarryForwardImputer(SeriesImputer):
    """A gap of a series holds what was last observed in its column, else the training mean.

    Takes (N, T, D) arrays with optional lengths (N,), or lists of (T_i, D) arrays or frames.
    Padding is left as it is, and no series knows of another.

    Parameters
    ----------
    random_state : not used

    Attributes
    ----------
    imputer_ : the MeanImputer that fills leading gaps
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[[np.nan], [1.0], [np.nan]], [[5.0], [np.nan], [np.nan]]])
    >>> CarryForwardImputer().fit_transform(X)[:, :, 0]
    array([[3., 1., 1.],
           [5., 5., 5.]])
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _learn(self, steps: Any, lengths: np.ndarray) -> None:
        check_rules(self, {"random_state": RULES["random_state"]})
        self.imputer_ = MeanImputer(random_state=0).fit(steps)  # None would draw from NumPy's own

    def _fill(self, steps: Any, lengths: np.ndarray) -> np.ndarray:
        means = np.asarray(self.imputer_.transform(steps))
        past = carried(np.asarray(steps), lengths)
        return np.where(np.isnan(past), means, past)


def carried(values: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Each entry, or the last one before it in its series; NaN before the first. (S, D).

    >>> carried(np.array([[1.0], [np.nan], [np.nan], [2.0]]), np.array([2, 2]))[:, 0]
    array([ 1.,  1., nan,  2.])
    """
    steps = np.arange(len(values))[:, None]
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)[:, None]
    last = np.maximum.accumulate(np.where(np.isnan(values), -1, steps), axis=0)
    # Before the first observation of a series, `last` is a step of another: stay at the gap.
    return np.take_along_axis(values, np.where(last >= first, last, steps), axis=0)
