"""Estimators for tables on something derived from the data: the mask of a table, or summaries of
series.

Mask only shows how far one gets by knowing where the gaps are, without any value. Where it is far
above chance, the gaps themselves reveal the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..data import (
    Columns,
    Layout,
    Panel,
    prediction_panel,
    read_columns,
    read_target,
    remember_columns,
    series_labels,
    step_labels,
    summarise,
    summarise_mask,
    summarise_mask_steps,
    summarise_steps,
    table_tags,
    training_panel,
)
from ..errors import InputError
from ._baseline_encoders import PlainEncoder
from ._boosting import BoostingClassifier, BoostingRegressor
from ._linear import LinearClassifier, LinearRegressor


class DerivedTable(BaseEstimator):
    """Base class: an estimator for tables behind a transformation that subclasses define."""

    estimator: Any
    _default: type

    def _fit_estimator(self, rows: pd.DataFrame | Columns, y: Any, **options: Any) -> None:
        estimator = self._default() if self.estimator is None else clone(self.estimator)
        estimator.fit(rows, y, **options)
        self.estimator_ = estimator

    def _derived(self, X: Any) -> pd.DataFrame | Columns:
        """What the estimator sees of new data."""
        raise NotImplementedError

    @property
    def settings_(self) -> dict[str, Any]:
        """What the estimator chose."""
        return self.estimator_.settings_

    def predict(self, X: Any) -> np.ndarray:
        """A class, or a number, for each row (or series); -> (n,)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(self._derived(X))


class DerivedClassifier(ClassifierMixin, DerivedTable):
    """Adds classes and their probabilities."""

    @property
    def classes_(self) -> np.ndarray:
        """The class labels, sorted."""
        return self.estimator_.classes_

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; -> (n, classes)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(self._derived(X))


class MaskOnly(DerivedTable):
    """Base class of the two: the estimator sees the mask of a table."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, *, held_out: Any = None) -> Self:
        """Learn from which entries of a table are observed; as for `GILClassifier.fit`."""
        columns = read_columns(X)
        table = PlainEncoder(owner=type(self).__name__).fit(columns)
        self._fit_estimator(_mask(table.arranged(columns)), y, held_out=held_out)
        self.table_ = table
        remember_columns(self, columns)
        return self

    def _derived(self, X: Any) -> pd.DataFrame | Columns:
        return _mask(self.table_.arranged(read_columns(X)))

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())


class MaskOnlyClassifier(DerivedClassifier, MaskOnly):
    """Classify rows by which of their entries are observed; if there are no gaps, predict the class
    shares.

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


class MaskOnlyRegressor(RegressorMixin, MaskOnly):
    """Predict a number from which entries are observed; see `MaskOnlyClassifier`."""

    _default = LinearRegressor


def _mask(columns: Columns) -> pd.DataFrame:
    """1 where an entry is observed, else 0; (n, columns)."""
    observed = [~pd.isna(array) for array in columns.arrays]
    return pd.DataFrame(np.column_stack(observed).astype(np.float64), columns=columns.names)


class Summary(DerivedTable):
    """Base class of the two: the estimator sees one row of summaries per series, or per step."""

    def __init__(
        self, estimator: Any = None, *, mask: bool = False, per_step: bool = False
    ) -> None:
        self.estimator = estimator
        self.mask = mask
        self.per_step = per_step

    def fit(self, X: Any, y: Any, *, held_out: Any = None) -> Self:
        """Learn from series with gaps.

        Parameters
        ----------
        X, y, held_out : series, one label each, and which to validate on; as for
            `GILSequenceClassifier.fit`; pass long frames as a `Panel`
        """
        owner = type(self).__name__
        panel = training_panel(X, Layout(), {"y": y, "held_out": held_out})
        if held_out is not None:
            held_out = series_labels(held_out, panel, "held_out")
        steps = PlainEncoder(owner=owner).fit(panel.steps)
        statics = None if panel.statics is None else PlainEncoder(owner=owner).fit(panel.statics)
        rows = self._rows(_arranged(panel, steps, statics))
        options: dict[str, Any] = {"held_out": held_out}
        if y is not None:
            y = step_labels(y, panel) if self.per_step else series_labels(y, panel)
        if self.per_step and y is not None:
            known = np.flatnonzero(~pd.isna(y))
            rows, y, options["groups"] = rows.rows(known), y[known], panel.series[known]
            if held_out is not None:
                options["held_out"] = held_out[options["groups"]]
        self._fit_estimator(rows, read_target(y, rows.n_rows, owner), **options)
        self.layout_, self.steps_, self.statics_ = panel.layout.to_dict(), steps, statics
        self.n_features_in_ = len(panel.steps.names)
        return self

    def _rows(self, panel: Panel) -> Columns:
        if self.per_step:
            return summarise_mask_steps(panel) if self.mask else summarise_steps(panel)
        return summarise_mask(panel) if self.mask else summarise(panel)

    def _derived(self, X: Any) -> pd.DataFrame | Columns:
        names = self.steps_.names if self.steps_.named else None
        statics = self.statics_.names if self.statics_ else ()
        panel = prediction_panel(X, self.layout_, None, names, statics)
        rows = self._rows(_arranged(panel, self.steps_, self.statics_))
        return rows.rows(np.argsort(panel.source)) if self.per_step else rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags


class SummaryClassifier(DerivedClassifier, Summary):
    """Classify series with gaps by their summaries.

    Parameters
    ----------
    estimator : a classifier for tables whose fit takes `held_out`, default
        `BoostingClassifier("lightgbm")`
    mask : use only when values were measured, not the values themselves
    per_step : one label per step, which is predicted from what is known by then; predictions are
        in the order of a frame's rows

    Fitted: classes_, estimator_, settings_ (of the estimator), layout_.

    >>> from imputefree.baselines import LinearClassifier
    >>> rng = np.random.default_rng(0)
    >>> series = [rng.normal(size=(steps, 2)) for steps in rng.integers(2, 7, 60)]
    >>> y = [int(steps[-1, 0] > 0) for steps in series]
    >>> clf = SummaryClassifier(LinearClassifier(random_state=0)).fit(series, y)
    >>> clf.score(series, y) > 0.9
    True
    """

    _default = BoostingClassifier


class SummaryRegressor(RegressorMixin, Summary):
    """Predict a number for series with gaps by their summaries; see `SummaryClassifier`."""

    _default = BoostingRegressor


def _arranged(panel: Panel, steps: PlainEncoder, statics: PlainEncoder | None) -> Panel:
    """The panel with the columns of training, in their order."""
    panel = replace(panel, steps=steps.arranged(panel.steps))
    if (statics is None) != (panel.statics is None):
        name = statics.names[0] if statics is not None else panel.statics.names[0]  # type: ignore[union-attr]
        raise InputError(
            f"the static column {name!r} is "
            + ("missing" if statics is not None else "new: training had none"),
            "Series must have the columns of training",
            "Pass static columns, with NaN for unknown values, if training had them",
        )
    if statics is not None and panel.statics is not None:
        return replace(panel, statics=statics.arranged(panel.statics))
    return panel
