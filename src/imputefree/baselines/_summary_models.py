"""Rivals for series: a row of summaries a series, and any rival for tables on top."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..data import Layout, Panel, read_target, series_labels, training_panel
from ._boosting import BoostingClassifier, BoostingRegressor
from ._panel_tables import arranged, read_like_training
from ._plain_tables import PlainEncoder
from ._summaries import summarise, summarise_mask


class Summary(BaseEstimator):
    """What the classifier and the regressor share: how series come in."""

    estimator: Any
    mask: bool
    _default: type

    def fit(self, X: Any, y: Any, *, held_out: Any = None) -> Self:
        """Learn from series with gaps.

        Parameters
        ----------
        X, y, held_out : series, one label each, and which to choose by; as for
            `GILSequenceClassifier.fit`; long frames come in a `Panel`
        """
        panel = training_panel(X, Layout(), {"y": y, "held_out": held_out})
        if y is not None:
            y = series_labels(y, panel)
        y = read_target(y, panel.n_rows, type(self).__name__)
        if held_out is not None:
            held_out = series_labels(held_out, panel, "held_out")
        owner = type(self).__name__
        steps = PlainEncoder(owner=owner).fit(panel.steps)
        statics = None if panel.statics is None else PlainEncoder(owner=owner).fit(panel.statics)
        estimator = self._default() if self.estimator is None else clone(self.estimator)
        estimator.fit(self._rows(arranged(panel, steps, statics)), y, held_out=held_out)
        self.layout_, self.steps_, self.statics_ = panel.layout.to_dict(), steps, statics
        self.estimator_ = estimator
        self.n_features_in_ = len(panel.steps.names)
        return self

    @property
    def settings_(self) -> dict[str, Any]:
        """What the estimator chose."""
        return self.estimator_.settings_

    def _rows(self, panel: Panel) -> pd.DataFrame:
        return summarise_mask(panel) if self.mask else summarise(panel)

    def _seen(self, X: Any) -> pd.DataFrame:
        check_is_fitted(self, "estimator_")
        panel = read_like_training(X, self.layout_, self.steps_, self.statics_)
        return self._rows(panel)

    def predict(self, X: Any) -> np.ndarray:
        """A class, or a number, for each series; -> (series,)."""
        return self.estimator_.predict(self._seen(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags


class SummaryClassifier(ClassifierMixin, Summary):
    """Classify series with gaps by their summaries.

    Parameters
    ----------
    estimator : a classifier of tables whose fit takes `held_out`, default
        `BoostingClassifier("lightgbm")`
    mask : show it only when things were measured, no value

    Fitted: classes_, estimator_, settings_ (of the estimator), layout_.

    >>> from imputefree.baselines._linear import LinearClassifier
    >>> rng = np.random.default_rng(0)
    >>> series = [rng.normal(size=(steps, 2)) for steps in rng.integers(2, 7, 60)]
    >>> y = [int(one[-1, 0] > 0) for one in series]
    >>> clf = SummaryClassifier(LinearClassifier(random_state=0)).fit(series, y)
    >>> clf.score(series, y) > 0.9
    True
    """

    _default = BoostingClassifier

    def __init__(self, estimator: Any = None, *, mask: bool = False) -> None:
        self.estimator = estimator
        self.mask = mask

    @property
    def classes_(self) -> np.ndarray:
        """The class labels, sorted."""
        return self.estimator_.classes_

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; -> (series, classes)."""
        return self.estimator_.predict_proba(self._seen(X))


class SummaryRegressor(RegressorMixin, Summary):
    """Predict a number for series with gaps by their summaries; see `SummaryClassifier`.

    >>> from imputefree.baselines._linear import LinearRegressor
    >>> series = [np.full((steps, 1), float(steps)) for steps in (2, 3, 4, 5) * 3]
    >>> reg = SummaryRegressor(LinearRegressor(random_state=0)).fit(series, [2, 3, 4, 5] * 3)
    >>> reg.predict(series[:4]).round()
    array([2., 3., 4., 5.])
    """

    _default = BoostingRegressor

    def __init__(self, estimator: Any = None, *, mask: bool = False) -> None:
        self.estimator = estimator
        self.mask = mask
