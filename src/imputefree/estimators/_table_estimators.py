"""GILClassifier and GILRegressor: networks for tables with gaps, with scikit-learn's manners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ..data import Columns, TableEncoder, read_columns, read_target
from ..gil import Predictor
from ._base import GILEstimator
from ._examples import Examples
from ._parameter_rules import check_parameters
from ._parameters import TableParameters, document
from ._targets import ClassTarget, NumberTarget

NETWORK = """Rows go into an ensemble of small multilayer perceptrons that train side by side. A
missing entry is filled with a placeholder, and, for columns that have gaps in training, marked by
an indicator."""
METHOD = {"row": "row", "layer": "first layer", "where": "the layer's output"}


@dataclass(kw_only=True, eq=False, repr=False)
class TableEstimator(TableParameters, GILEstimator):
    """What both estimators for tables share: how a table comes in."""

    _encoder_class = TableEncoder
    _network_class = Predictor

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        held_out: Any = None,
        *,
        checkpoint: Any = None,
    ) -> Self:
        """Train on a table with gaps.

        Parameters
        ----------
        X : (n, columns) DataFrame (pandas or polars), array or list of rows; NaN, None and pd.NA
            are missing; texts and categories are welcome
        y : (n,) targets without gaps
        sample_weight : (n,) how much each row counts; a row of weight 0 is as good as absent
        groups : (n,) rows of one group are never split between training and validation
        held_out : (n,) True for the rows to validate on, instead of folds drawn from all rows
        checkpoint : path of a file that says how far training is; if the process is killed, the
            same call with the same data and parameters goes on from there, to the same model bit
            for bit; removed when training is done
        """
        with self._all_or_nothing():
            self._fit(self._read(X, y, sample_weight, groups, held_out), checkpoint)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        with self._all_or_nothing():
            self._fit_one_epoch(self._read(X, y, sample_weight), classes)
        return self

    def _read(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None, held_out: Any = None
    ) -> Examples:
        check_parameters(self)
        columns = read_columns(X)
        target = read_target(y, columns.n_rows, type(self).__name__)
        return Examples.read(columns, target, sample_weight, groups, held_out)

    def _predict_table(self, X: Any) -> Tensor:
        check_is_fitted(self, "predictor_")
        return self._predict_members(self._inputs(X))

    def _inputs(self, X: Any) -> Columns:
        return read_columns(X)

    def _network(self) -> dict[str, Any]:
        return super()._network() | {"linear_path": bool(self.linear_path)}


@dataclass(kw_only=True, eq=False, repr=False)
class GILClassifier(ClassTarget, TableEstimator):
    """Classify rows of a table with gaps: NaN in, probabilities out.
    classes_ : the class labels, sorted

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> y = ["well", "ill", "ill", "well"] * 10
    >>> clf = GILClassifier(random_state=0, max_iter=30, batch_size=8).fit(X, y)
    >>> clf.predict(X.head(4))
    array(['well', 'ill', 'ill', 'well'], dtype='<U4')
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, the mean over members; (n, columns) -> (n, classes)."""
        return self._predict_table(X).mean(0).numpy()

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; (n, columns) -> (n,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(1)]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these rows. The first call fixes columns, scales and, by `classes`, all
        classes there will ever be (default: those of its y)."""
        return self._partial_fit(X, y, sample_weight, classes)


@dataclass(kw_only=True, eq=False, repr=False)
class GILRegressor(NumberTarget, TableEstimator):
    """Predict a number for rows of a table with gaps: NaN in, prediction out.
    target_mean_, target_scale_ : how the target was scaled for training

    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 5.0], [np.nan, 1.0]] * 10)
    >>> reg = GILRegressor(random_state=0, max_iter=5).fit(X, np.arange(40.0))
    >>> reg.predict(X).shape
    (40,)
    """

    def predict(self, X: Any) -> np.ndarray:
        """The mean prediction of the members; (n, columns) -> (n,)."""
        return self._unscaled(self._predict_table(X))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch over these rows. The first call fixes columns and scales."""
        return self._partial_fit(X, y, sample_weight)


document(GILClassifier, NETWORK, **METHOD)
document(GILRegressor, NETWORK, **METHOD)
