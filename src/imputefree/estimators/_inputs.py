"""What goes in, tables or series: the part of an estimator that reads X and y.

An estimator is made of three parts: `TableInputs` or `SeriesInputs` read, `ClassTarget` or
`NumberTarget` say what is predicted, and an engine learns: networks (`GILEstimator`) or a blend.
The engine has `_predict_inputs` and, for series, `_known_columns` and `_predicts_steps`.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from ..data import (
    Columns,
    Examples,
    Layout,
    Panel,
    prediction_panel,
    read_columns,
    read_target,
    read_weights,
    series_labels,
    split_static,
    step_labels,
    training_panel,
)
from ..errors import ParameterError


class TableInputs:
    """Reads tables: pandas, polars, arrays, lists of rows."""

    def _examples(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None, held_out: Any = None
    ) -> Examples:
        columns = read_columns(X)
        target = read_target(y, columns.n_rows, type(self).__name__)
        return Examples.read(columns, target, sample_weight, groups, held_out)

    def _read(self, X: Any) -> Columns:
        return read_columns(X)

    def _arrange(self, values: np.ndarray, inputs: Any, X: Any, by_step: bool) -> Any:
        """One row per row of the table."""
        return values

    def __sklearn_tags__(self) -> Any:
        return _tags(super().__sklearn_tags__())  # type: ignore[misc]


class SeriesInputs:
    """Reads series: panels, long frames, lists and arrays. Fitted: layout_."""

    id: str | None
    time: str | None
    static: Any
    variable: str | None
    value: str | None
    axes: str
    per_step: bool
    layout_: dict[str, Any]
    _predicts_steps: bool
    _predict_inputs: Any
    _decide: Any

    def series_ids(self, X: Any) -> np.ndarray:
        """Which series each prediction belongs to: the ids in the order of `predict`; (series,)."""
        check_is_fitted(self, "layout_")
        return self._read(X).ids

    def _examples(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any = None,
        held_out: Any = None,
        first: bool = True,
    ) -> Examples:
        extras = {"y": y, "sample_weight": sample_weight, "groups": groups, "held_out": held_out}
        if first:
            panel = training_panel(X, self._layout(), extras)
            self.layout_ = panel.layout.to_dict()
        else:
            panel = self._read(X, extras)
        target = self._labels(y, panel, bool(self.per_step))
        sample_weight = _weights(sample_weight, panel)
        if groups is not None:
            groups = series_labels(groups, panel, "groups")
        if held_out is not None:
            held_out = series_labels(held_out, panel, "held_out")
        return Examples.read(panel, target, sample_weight, groups, held_out, bool(self.per_step))

    def _layout(self) -> Layout:
        """What the parameters say about columns and axes."""
        static, table = split_static(self.static)
        if table is not None:
            raise ParameterError(
                f"static is a {type(table).__name__}",
                "The parameter names columns of a frame",
                "Put a table of static values into a Panel, such as Panel.from_list(X, static=…)",
            )
        roles = {name: getattr(self, name) for name in ("id", "time", "variable", "value", "axes")}
        return Layout(static=static, **roles)

    def _labels(self, y: Any, panel: Panel, per_step: bool) -> np.ndarray:
        """One label per series, or per step; (n,) or (S,)."""
        count = len(panel.times) if per_step else len(panel)
        if y is not None:  # if it is, read_target says what is wrong
            y = step_labels(y, panel) if per_step else series_labels(y, panel)
        return read_target(y, count, type(self).__name__)

    def _known_columns(self) -> tuple[list[str] | None, Sequence[str]]:
        """Names of the columns of a step (None if training had none), and of static columns."""
        raise NotImplementedError

    def _read(self, X: Any, extras: Mapping[str, Any] | None = None) -> Panel:
        return prediction_panel(X, self.layout_, extras, *self._known_columns())

    def _arrange(self, values: np.ndarray, panel: Panel, X: Any, by_step: bool) -> Any:
        """One row per series; by step, in the order of a frame's rows or a list of arrays."""
        if not by_step:
            return values
        if panel.keyed and panel.by_row and not isinstance(X, Panel):
            ordered = np.empty_like(values)
            ordered[panel.source] = values
            return ordered
        return np.split(values, np.cumsum(panel.lengths)[:-1])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R², over series (or steps); X, y and sample_weight as for `fit`."""
        check_is_fitted(self, "layout_")
        panel = self._read(X, {"y": y, "sample_weight": sample_weight})
        truth, weight = self._labels(y, panel, self._predicts_steps), None
        if sample_weight is not None:
            weight = read_weights(_weights(sample_weight, panel), len(panel))
            weight = np.repeat(weight, panel.lengths) if self._predicts_steps else weight
        guess = self._decide(self._predict_inputs(panel))
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(truth, guess, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = _tags(super().__sklearn_tags__())  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _tags(tags: Any) -> Any:
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags


def _weights(sample_weight: Any, panel: Panel) -> Any:
    """Weights in the order of the series; a single number is for all of them."""
    if sample_weight is None or isinstance(sample_weight, numbers.Number):
        return sample_weight
    return series_labels(sample_weight, panel, "sample_weight")
