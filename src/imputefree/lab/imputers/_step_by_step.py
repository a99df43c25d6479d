"""Table imputers on series, as the paper applies them: every step is a row of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ...errors import ParameterError
from ._imputer import Imputer
from ._series_imputer import SeriesImputer


class StepByStep(SeriesImputer):
    """Fills the gaps of series with a table imputer that sees all valid steps as rows.

    So a gap is guessed from the other columns of the same step alone; neither the steps before it
    nor those after it count. Padding is left as it is.

    Parameters
    ----------
    imputer : an imputer of tables, such as `make_imputer("em")`; a copy of it is fitted

    Attributes
    ----------
    imputer_ : the fitted copy
    n_features_in_ : int

    Examples
    --------
    >>> from imputefree.lab.imputers import make_imputer
    >>> X = np.array([[[1.0], [np.nan], [3.0]], [[2.0], [np.inf], [np.inf]]])
    >>> StepByStep(make_imputer("mean")).fit_transform(X, lengths=[3, 1])[:, :, 0]
    array([[ 1.,  2.,  3.],
           [ 2., inf, inf]])
    """

    def __init__(self, imputer: Any) -> None:
        self.imputer = imputer

    def _learn(self, steps: Any, lengths: np.ndarray) -> None:
        if not isinstance(self.imputer, Imputer):
            raise ParameterError(
                f"imputer is {self.imputer!r}",
                "It must be an imputer of tables",
                "Make one with make_imputer, for example make_imputer('em')",
            )
        self.imputer_ = clone(self.imputer).fit(steps)

    def _fill(self, steps: Any, lengths: np.ndarray) -> np.ndarray:
        return np.asarray(self.imputer_.transform(steps))
