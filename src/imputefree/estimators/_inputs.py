"""Inputs, targets and predictions: everything of an estimator except how it learns.

An estimator is made of three parts: `TableInputs` or `SeriesInputs` read, `ClassTarget` or
`NumberTarget` define what is predicted, and an engine learns: networks (`GILEstimator`) or a blend
(`BlendEstimator`). The engine has `_predict_inputs` and, for series, `_known_columns` and
`_predicts_steps`.
"""

from __future__ import annotations

import numbers
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from .._rules import finite
from ..data import (
    ClassCodes,
    Columns,
    Examples,
    Layout,
    Outside,
    Panel,
    RowStore,
    as_array,
    fill_labels,
    prediction_panel,
    read_classes,
    read_columns,
    read_numbers,
    read_target,
    read_training_table,
    read_weights,
    series_labels,
    split_static,
    step_labels,
    table_tags,
    training_panel,
)
from ..errors import InputError, InputTypeError, ParameterError
from ..io import load_model_file, save_model_file

FARTHEST = 1e15  # scaled targets beyond that overflow when squared in float32
SMALLEST = 1e-140  # standard deviation of targets whose squares still are float64


class Engine:
    """What every engine has: predictions in the form of X, and model files.

    It is fitted once it has the attribute that `_fitted_by` names; the file of a fitted one holds
    the attributes that `_kept` names. `encoder_` knows the columns of training: their kinds,
    levels, ranges and plausible values.
    """

    _fitted_by: str
    _kept: tuple[str, ...]
    encoder_: Any
    classes_: np.ndarray  # of a classifier
    _predicts_steps: Any = False
    # of the inputs (`TableInputs`, `SeriesInputs`) and the target (`ClassTarget`, `NumberTarget`)
    _examples: Any
    _read: Any
    _arrange: Any
    _learn_target: Any
    _encode_target: Any
    _class_weights: Any
    _in_units: Any

    def _predict_inputs(self, inputs: Any) -> np.ndarray:
        """Probabilities (n, classes), or numbers in the target's units (n,)."""
        raise NotImplementedError

    def _predict(self, X: Any, output: Callable[[np.ndarray], np.ndarray]) -> Any:
        """What `output` makes of the predictions for X, in the form of X."""
        self._check_fitted()
        inputs = self._read(X)
        values = output(self._predict_inputs(inputs))
        if hasattr(self.encoder_, "count_outside"):  # a custom encoder may not know ranges
            outside = Outside()
            self.encoder_.count_outside(inputs, outside)
            outside.warn()
        return self._arrange(values, inputs, X, self._predicts_steps)

    def _check_fitted(self) -> None:
        if not hasattr(self, self._fitted_by):  # scikit-learn takes as long as half a prediction
            check_is_fitted(self, self._fitted_by)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file that holds no code."""
        self._check_fitted()
        save_model_file(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model written by `save`; nothing in the file is ever executed."""
        return load_model_file(path, cls)


# ---- what other packages need of a fitted estimator, with either engine
def read_inputs(model: Engine, X: Any, beside: Mapping[str, Any] | None = None) -> Any:
    """X as `Columns` or a `Panel`, read as in training.

    beside : for series: labels, groups or weights by role; a string names a column of X
    """
    if not isinstance(model, Engine):
        raise InputTypeError(
            f"{type(model).__name__} is not an estimator of imputefree",
            "What its columns were in training is needed",
            "Fit one of the ImputeFree… or GIL… estimators",
        )
    model._check_fitted()
    return model._read(X, beside) if reads_series(model) else model._read(X)


def predict_inputs(model: Engine, inputs: Any) -> np.ndarray:
    """Probabilities (n, classes), or numbers (n,), for `Columns` or a `Panel`.

    n counts rows, series or, if `predicts_steps`, steps.
    """
    return model._predict_inputs(inputs)


def predicts_steps(model: Engine) -> bool:
    """Whether a model predicts every step of a series."""
    return bool(model._predicts_steps)


def reads_series(model: Any) -> bool:
    """Whether a model, fitted or not, is one of the sequence estimators of this package."""
    return isinstance(model, SeriesInputs)


def unfitted_panel(model: SeriesInputs, X: Any, beside: Mapping[str, Any] | None = None) -> Panel:
    """Series for a sequence estimator that is not fitted yet, as its parameters say.

    beside : as for `read_inputs`
    """
    return training_panel(X, model._layout(), beside or {})


class TableInputs:
    """Reads tables: pandas, polars, arrays, lists of rows."""

    def _examples(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any = None,
        held_out: Any = None,
        trusted: Any = None,
    ) -> Examples:
        table = read_training_table(X)
        custom = getattr(self, "encoder", None) is not None  # which knows columns only
        if isinstance(table, RowStore) and (custom or getattr(self, "missingness", "") == "ignore"):
            table = table.whole()
        target = read_target(y, table.n_rows, type(self).__name__)
        return Examples.read(table, target, sample_weight, groups, held_out, trusted=trusted)

    def _read(self, X: Any) -> Columns:
        return read_columns(X)

    def _arrange(self, values: np.ndarray, inputs: Any, X: Any, by_step: bool) -> Any:
        """One row per row of the table."""
        return values

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())  # type: ignore[misc]


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
        target, labelled = self._labels(y, panel, bool(self.per_step))
        sample_weight = _weights(sample_weight, panel)
        if groups is not None:
            groups = series_labels(groups, panel, "groups")
        if held_out is not None:
            held_out = series_labels(held_out, panel, "held_out")
        roles = (sample_weight, groups, held_out, bool(self.per_step))
        return Examples.read(panel, target, *roles, labelled=labelled)

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

    def _labels(self, y: Any, panel: Panel, per_step: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """One label per series, or per step, (n,) or (S,); and which steps have one, if not all."""
        count, labelled = len(panel.times) if per_step else len(panel), None
        if y is not None:  # if it is, read_target says what is wrong
            y = step_labels(y, panel) if per_step else series_labels(y, panel)
            if per_step:
                y, labelled = fill_labels(y)
        return read_target(y, count, type(self).__name__), labelled

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
        (truth, labelled), weight = self._labels(y, panel, self._predicts_steps), None
        if sample_weight is not None:
            weight = read_weights(_weights(sample_weight, panel), len(panel))
            weight = np.repeat(weight, panel.lengths) if self._predicts_steps else weight
        if labelled is not None:
            weight = labelled * (1.0 if weight is None else weight)
        guess = self._decide(self._predict_inputs(panel))
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(truth, guess, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = table_tags(super().__sklearn_tags__())  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _weights(sample_weight: Any, panel: Panel) -> Any:
    """Weights in the order of the series; a single number is for all of them."""
    if sample_weight is None or isinstance(sample_weight, numbers.Number):
        return sample_weight
    return series_labels(sample_weight, panel, "sample_weight")


@dataclass(kw_only=True, eq=False, repr=False)
class ClassTarget(ClassifierMixin):
    """Classes; fitted: classes_ (the class labels, sorted)."""

    class_weight: Any = None
    _predict: ClassVar[Any]  # of the engine

    def _learn_target(self, target: np.ndarray | ClassCodes, classes: Any) -> None:
        """Fix the classes from the first target seen; (n,)."""
        if classes is None:
            self.classes_ = _classes_of(target)
        else:
            self.classes_ = read_classes(as_array(classes, "classes"), listed=True)
        if classes is None and len(self.classes_) == 1:
            (only,) = self.classes_.tolist()
            fact = f"y is {only!r} in all rows, so the model will predict nothing else"
            warnings.warn(f"{fact}. Check which rows were selected.", UserWarning, stacklevel=6)

    def _encode_target(self, target: np.ndarray | ClassCodes) -> tuple[np.ndarray, np.ndarray]:
        """What the networks learn, and strata for the folds; (n,) int64 each."""
        known = self.classes_.tolist()
        unknown = [label for label in _classes_of(target).tolist() if label not in known]
        if unknown:
            raise InputError(
                f"y holds the class {unknown[0]!r}, which earlier training did not have",
                f"The classes were fixed as {known}",
                "Name all classes in the first partial_fit, or fit again with warm_start=False",
            )
        if isinstance(target, ClassCodes):
            codes = np.searchsorted(self.classes_, target.classes)[target.codes]
        else:
            codes = np.searchsorted(self.classes_, target)
        codes = codes.astype(np.int64)
        return codes, codes

    def _class_weights(self, target: np.ndarray | ClassCodes) -> np.ndarray:
        """Weight of each label's class; (n,)."""
        if self.class_weight is None:
            return np.ones(len(target))
        if isinstance(target, ClassCodes):
            if not isinstance(self.class_weight, dict):
                return compute_sample_weight(self.class_weight, target.codes)
            return self._class_weights(target.classes)[target.codes]
        if isinstance(self.class_weight, dict):
            unknown = [label for label in self.class_weight if label not in self.classes_.tolist()]
            if unknown:
                raise ParameterError(
                    f"class_weight names {unknown[0]!r}, which is not a class",
                    f"Its keys must be among the classes {self.classes_.tolist()}",
                    "Correct the key, or leave it out",
                )
        return compute_sample_weight(self.class_weight, target)

    def _in_units(self, prediction: np.ndarray) -> np.ndarray:
        """Probabilities as they are; (n, classes)."""
        return finite(prediction)

    def _decide(self, prediction: np.ndarray) -> np.ndarray:
        """The most probable class; (n, classes) -> (n,)."""
        return self.classes_[prediction.argmax(1)]

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class; (n, classes).

        One row per row of a table. Series are in the order of their first appearance, which
        `series_ids` gives; with `per_step` there is one row per row of a frame, else a list of
        (steps, classes) arrays, one per series.

        X : as for `fit`
        """
        return self._predict(X, lambda probability: probability)

    def predict(self, X: Any) -> Any:
        """The most probable class of each row, series or step; ordered as by `predict_proba`."""
        return self._predict(X, self._decide)


def _classes_of(target: np.ndarray | ClassCodes) -> np.ndarray:
    """The sorted classes of a target."""
    if isinstance(target, ClassCodes):
        return read_classes(target.classes, listed=True)
    return read_classes(target)


class NumberTarget(RegressorMixin):
    """Numbers; fitted: target_mean_ and target_scale_ (how the target was scaled)."""

    _predict: ClassVar[Any]  # of the engine

    def _learn_target(self, target: np.ndarray, classes: Any) -> None:
        """Fix the scale from the first target seen; (n,)."""
        numbers = read_numbers(target)
        self.target_mean_ = float(numbers.mean())
        self.target_scale_ = float(numbers.std())
        if self.target_scale_ < SMALLEST:
            unit = float(np.abs(numbers).max()) or 1.0
            self.target_scale_ = float((numbers / unit).std()) * unit or 1.0

    def _encode_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the networks learn, float32, and one stratum for the folds; (n,) each."""
        numbers = read_numbers(target)
        scaled = (numbers - self.target_mean_) / self.target_scale_
        if np.abs(scaled).max() > FARTHEST:
            raise InputError(
                f"y reaches {np.abs(scaled).max():.1e} standard deviations of the first targets",
                f"Continued training keeps the first scale; {FARTHEST:.0e} is the limit",
                "Fit from scratch, with targets on one scale",
            )
        return scaled.astype(np.float32), np.zeros(len(numbers), dtype=int)

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        return np.ones(len(target))

    def _in_units(self, prediction: np.ndarray) -> np.ndarray:
        """Scaled numbers in units of the target; (n, 1) -> (n,)."""
        return finite(prediction[..., 0] * self.target_scale_ + self.target_mean_)

    def _decide(self, prediction: np.ndarray) -> np.ndarray:
        """The numbers themselves; (n,)."""
        return prediction

    def predict(self, X: Any) -> Any:
        """A number for each row; (n,).

        Series are in the order of their first appearance, which `series_ids` gives; with
        `per_step` there is one number per row of a frame, else a list of (steps,) arrays, one per
        series.

        X : as for `fit`
        """
        return self._predict(X, self._decide)
