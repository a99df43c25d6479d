"""GILSequenceClassifier and GILSequenceRegressor: networks for series with gaps."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ..data import (
    Layout,
    Panel,
    PanelEncoder,
    prediction_panel,
    read_target,
    read_weights,
    series_labels,
    split_static,
    step_labels,
    training_panel,
)
from ..errors import ParameterError
from ..gil import SequencePredictor, make_reward
from ._base import GILEstimator
from ._examples import Examples
from ._parameter_rules import check_parameters
from ._parameters import SequenceParameters, document
from ._targets import ClassTarget, NumberTarget

NETWORK = """Series of unequal length go, step by step, into an ensemble of recurrent networks. A
missing entry is filled with a placeholder and, for columns that have gaps in training, marked by
an indicator; the time since each column was last observed is an input too. The hidden state after
the last step gives the prediction. Padding is never taken for missing values."""
METHOD = {"row": "step", "layer": "cell's input weight", "where": "the gates"}


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceEstimator(SequenceParameters, GILEstimator):
    """What both estimators for series share: how series come in."""

    _encoder_class = PanelEncoder
    _network_class = SequencePredictor

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
        """Train on series with gaps.

        Parameters
        ----------
        X : a `Panel`, or series in any of these forms; NaN, None and pd.NA are missing
            - a long DataFrame (pandas or polars) with a column `id` and, unless rows are in
              order already, `time`; one column per variable, or `variable` and `value` columns
            - a DataFrame indexed by (series, time)
            - a list of (steps, columns) arrays or frames, one per series
            - an array (series, steps, columns) without padding; padded arrays, times and tables
              of static values come in a `Panel`
        y : one label per series: a dict or pandas Series by id, the name of a column of the frame,
            or in the order of the series (with ids only if they were sorted, so that there is
            only one order). With `per_step`, one per step, in the form X has.
        sample_weight, groups, held_out : one per series, in any form that y may have: how much it
            counts; series of one group are never split between training and validation; True for
            series to validate on, instead of folds drawn from all
        checkpoint : as for `GILClassifier.fit`
        """
        with self._all_or_nothing():
            self._fit(self._read(X, y, sample_weight, groups, held_out), checkpoint)
        return self

    def series_ids(self, X: Any) -> np.ndarray:
        """Which series each prediction belongs to: the ids in the order of `predict`; (series,)."""
        check_is_fitted(self, "predictor_")
        return self._inputs(X).ids

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        first = not hasattr(self, "predictor_")
        with self._all_or_nothing():
            self._fit_one_epoch(self._read(X, y, sample_weight, first=first), classes)
        return self

    def _score(
        self,
        measure: Callable[..., float],
        X: Any,
        y: Any,
        sample_weight: Any,
    ) -> float:
        check_is_fitted(self, "predictor_")
        panel = self._inputs(X, {"y": y, "sample_weight": sample_weight})
        truth, weight = self._labels(y, panel, self._every_step), None
        if sample_weight is not None:
            weight = read_weights(_weights(sample_weight, panel), panel.n_rows)
            weight = np.repeat(weight, panel.lengths) if self._every_step else weight
        guess = self._decided(self._predict_members(panel, self._every_step))
        return float(measure(truth, guess, sample_weight=weight))

    @property
    def _every_step(self) -> bool:
        """Whether the networks predict every step, whatever `per_step` has been set to since."""
        return bool(self.predictor_.shape["per_step"])

    def _decided(self, members: Tensor) -> np.ndarray:
        """From what the members say to labels; (K, n, O) -> (n,)."""
        raise NotImplementedError

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any = None,
        held_out: Any = None,
        first: bool = True,
    ) -> Examples:
        check_parameters(self)
        if self.per_step and make_reward(self.reward).balanced:
            raise ParameterError(
                f"reward is {self.reward!r} with per_step=True",
                "The contrastive reward compares series of different classes",
                "Use reward='loss'",
            )
        beside = {
            "y": y,
            "sample_weight": sample_weight,
            "groups": groups,
            "held_out": held_out,
        }
        if first:
            panel = training_panel(X, self._layout(), beside)
            self.layout_ = panel.layout.to_dict()
        else:
            panel = self._inputs(X, beside)
        labels = self._labels(y, panel, bool(self.per_step))
        if sample_weight is not None:
            sample_weight = _weights(sample_weight, panel)
        if groups is not None:
            groups = series_labels(groups, panel, "groups")
        if held_out is not None:
            held_out = series_labels(held_out, panel, "held_out")
        return Examples.read(panel, labels, sample_weight, groups, held_out, bool(self.per_step))

    def _labels(self, y: Any, panel: Panel, per_step: bool) -> np.ndarray:
        """One label a series, or a step; (n,) or (S,)."""
        name, count = type(self).__name__, panel.n_rows
        if y is None:
            return read_target(y, count, name)  # says what is wrong
        if per_step:
            return read_target(step_labels(y, panel), len(panel.times), name)
        return read_target(series_labels(y, panel), count, name)

    def _layout(self) -> Layout:
        """What the parameters say of columns and axes."""
        static, table = split_static(self.static)
        if table is not None:
            raise ParameterError(
                f"static is a {type(table).__name__}",
                "The parameter names columns of a frame",
                "Put a table of static values into a Panel, such as Panel.from_list(X, static=…)",
            )
        roles = {name: getattr(self, name) for name in ("id", "time", "variable", "value", "axes")}
        return Layout(static=static, **roles)

    def _inputs(self, X: Any, beside: Mapping[str, Any] | None = None) -> Panel:
        """Read series as those of training were."""
        steps, statics = self.encoder_.steps, self.encoder_.statics
        return prediction_panel(
            X,
            self.layout_,
            beside,
            steps.names if steps.named else None,
            statics.names if statics else (),
        )

    def _tensors(self, panel: Panel) -> dict[str, Any]:
        return super()._tensors(panel) | {"lengths": torch.from_numpy(panel.lengths)}

    def _new_encoder(self) -> PanelEncoder:
        return PanelEncoder(
            self.categorical_features,
            self.indicator,
            self.numeric_encoding,
            self.time_since,
            owner=type(self).__name__,
        )

    def _network(self) -> dict[str, Any]:
        return super()._network() | {
            "cell": self.cell,
            "summarised": self.encoder_.steps.n_entries if self.summary else 0,
            "per_step": bool(self.per_step),
        }

    def _predict_series(self, X: Any) -> tuple[Tensor, Panel]:
        check_is_fitted(self, "predictor_")
        panel = self._inputs(X)
        return self._predict_members(panel, self._every_step), panel

    def _arranged(self, found: np.ndarray, panel: Panel, X: Any) -> Any:
        """One row per series; per step, in the order of a frame's rows or a list of arrays."""
        return self._by_step(found, panel, X) if self._every_step else found

    def _by_step(self, found: np.ndarray, panel: Panel, X: Any) -> Any:
        if panel.keyed and panel.by_row and not isinstance(X, Panel):
            ordered = np.empty_like(found)
            ordered[panel.source] = found
            return ordered
        return np.split(found, np.cumsum(panel.lengths)[:-1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class GILSequenceClassifier(ClassTarget, SequenceEstimator):
    """Classify series with gaps, of any length: NaN in, probabilities out.
    classes_ : the class labels, sorted
    layout_ : which columns of the training frame meant what

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> series = [rng.normal(size=(steps, 2)) for steps in rng.integers(2, 7, 60)]
    >>> y = [int(one[-1, 0] > 0) for one in series]
    >>> for one in series: one[0, 1] = np.nan
    >>> clf = GILSequenceClassifier(random_state=0, n_members=1, max_iter=30, batch_size=8)
    >>> clf.fit(series, y).score(series, y) > 0.9
    True
    """

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, the mean over members; -> (series, classes).

        X is a `Panel` or comes as in training; series are in the order of their first appearance,
        which `series_ids` tells. With `per_step`: one row per row of a frame, else a list of
        (steps, classes), one per series.
        """
        members, panel = self._predict_series(X)
        return self._arranged(members.mean(0).numpy(), panel, X)

    def predict(self, X: Any) -> Any:
        """The most probable class of each series (or step); see `predict_proba`."""
        members, panel = self._predict_series(X)
        return self._arranged(self._decided(members), panel, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the series (or steps) whose class is found; X, y and the rest as for `fit`."""
        return self._score(accuracy_score, X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these series; see `GILClassifier.partial_fit` and `fit`."""
        return self._partial_fit(X, y, sample_weight, classes)

    def _decided(self, members: Tensor) -> np.ndarray:
        return self.classes_[members.mean(0).numpy().argmax(1)]


@dataclass(kw_only=True, eq=False, repr=False)
class GILSequenceRegressor(NumberTarget, SequenceEstimator):
    """Predict a number for series with gaps, of any length: NaN in, prediction out.
    target_mean_, target_scale_ : how the target was scaled for training
    layout_ : which columns of the training frame meant what

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"patient": [1, 1, 1, 2, 2] * 4, "hour": [0, 1, 2, 0, 1] * 4})
    >>> frame["patient"] += np.repeat(np.arange(4) * 2, 5)
    >>> frame["lactate"] = [1.0, np.nan, 2.0, 4.0, np.nan] * 4
    >>> reg = GILSequenceRegressor(id="patient", time="hour", n_members=1, max_iter=3)
    >>> reg.fit(frame, np.arange(8.0)).predict(frame).shape
    (8,)
    """

    def predict(self, X: Any) -> Any:
        """The mean prediction of the members; -> (series,).

        X is a `Panel` or comes as in training; series are in the order of their first appearance,
        which `series_ids` tells. With `per_step`: one number per row of a frame, else a list of
        (steps,), one per series.
        """
        members, panel = self._predict_series(X)
        return self._arranged(self._decided(members), panel, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² over the series (or steps); X, y and the rest as for `fit`."""
        return self._score(r2_score, X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch over these series. The first call fixes columns and scales."""
        return self._partial_fit(X, y, sample_weight)

    def _decided(self, members: Tensor) -> np.ndarray:
        return self._unscaled(members)


def _weights(given: Any, panel: Panel) -> Any:
    """Weights in the order of the series; a single number is for all of them."""
    if isinstance(given, numbers.Number):
        return given
    return series_labels(given, panel, "sample_weight")


document(GILSequenceClassifier, NETWORK, **METHOD)
document(GILSequenceRegressor, NETWORK, **METHOD)
