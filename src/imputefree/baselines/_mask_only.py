"""How far does it get one to know where the gaps are, and no value at all?

The line that every claim about missing entries has to be read beside: where it is far above chance,
the gaps themselves tell the answer.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._estimator_tools import remember_columns
from ..data import Columns, read_columns
from ._linear import LinearClassifier, LinearRegressor
from ._plain_tables import PlainEncoder


class MaskOnly(BaseEstimator):
    """What the classifier and the regressor share."""

    estimator: Any
    _default: type

    def fit(self, X: Any, y: Any, *, held_out: Any = None) -> Self:
        """Learn from which entries of a table are there; as for `GILClassifier.fit`."""
        columns = read_columns(X)
        table = PlainEncoder(owner=type(self).__name__).fit(columns)
        estimator = self._default() if self.estimator is None else clone(self.estimator)
        estimator.fit(_mask(table.arranged(columns)), y, held_out=held_out)
        self.table_, self.estimator_ = table, estimator
        remember_columns(self, columns)
        return self

    @property
    def settings_(self) -> dict[str, Any]:
        """What the estimator chose."""
        return self.estimator_.settings_

    def _seen(self, X: Any) -> pd.DataFrame:
        check_is_fitted(self, "estimator_")
        return _mask(self.table_.arranged(read_columns(X)))

    def predict(self, X: Any) -> np.ndarray:
        """A class, or a number, for each row; (n, columns) -> (n,)."""
        return self.estimator_.predict(self._seen(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class MaskOnlyClassifier(ClassifierMixin, MaskOnly):
    """Classify rows by which of their entries are observed. A table without gaps tells nothing:
    then it predicts the class shares.

    Parameters
    ----------
    estimator : a classifier whose fit takes `held_out`, default `LinearClassifier()`

    Fitted: classes_, estimator_, settings_ (of the estimator).

    >>> X = np.array([[np.nan, 1.0], [2.0, 3.0], [np.nan, np.nan], [1.0, np.nan]] * 10)
    >>> clf = MaskOnlyClassifier().fit(X, ["no", "yes", "no", "yes"] * 10)
    >>> clf.predict([[5.0, 5.0], [np.nan, 5.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    _default = LinearClassifier

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    @property
    def classes_(self) -> np.ndarray:
        """The class labels, sorted."""
        return self.estimator_.classes_

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; (n, columns) -> (n, classes)."""
        return self.estimator_.predict_proba(self._seen(X))


class MaskOnlyRegressor(RegressorMixin, MaskOnly):
    """Predict a number from which entries are observed; see `MaskOnlyClassifier`.

    >>> X = np.array([[np.nan, 1.0], [2.0, 3.0], [np.nan, np.nan], [1.0, np.nan]] * 10)
    >>> MaskOnlyRegressor().fit(X, [0, 1, 0, 1] * 10).predict([[5.0, 5.0]]).round(1)
    array([1.])
    """

    _default = LinearRegressor

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator


def _mask(columns: Columns) -> pd.DataFrame:
    """1 where an entry is observed, else 0; (n, columns)."""
    seen = [~pd.isna(array) for array in columns.arrays]
    return pd.DataFrame(np.column_stack(seen).astype(np.float64), columns=columns.names)
