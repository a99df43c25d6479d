"""Targets and weights of rows, read from any container, and checked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError, InputTypeError
from ._columns import is_polars, refuse_rows

MOST_CLASSES = 20  # a number with more distinct values is not a class
LARGEST_TARGET = 1e150  # its square still fits a float64


@dataclass(frozen=True)
class ClassCodes:
    """Labels as the numbers of their classes, for tables too large for an array of strings.

    codes : (n,) int
    classes : the sorted classes, all of which occur
    """

    codes: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> ClassCodes:
        return replace(self, codes=self.codes[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.codes, dtype)


def read_target(y: Any, n_rows: int, estimator: str) -> Any:
    """y as a one-dimensional array without missing values, (n_rows,); `ClassCodes` as they are."""
    if isinstance(y, ClassCodes):
        return y
    if y is None:
        fact = f"This {estimator} estimator requires y to be passed, but the target y is None"
        raise InputError(fact, "A supervised estimator learns from targets", "Call fit(X, y)")
    target = as_array(y, "y")
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape"
            " of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        target = target[:, 0]
    if target.ndim != 1:
        fact = f"y has shape {target.shape}"
        remedy = "Fit one estimator per target, for example with sklearn.multioutput"
        raise InputError(fact, "y must be one-dimensional: one target per row", remedy)
    if len(target) != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y"
            f" has {len(target)}",
            "There must be one target per row",
            "Check how rows were selected",
        )
    unusable = {"NaN or None": pd.isna(target)}
    if target.dtype.kind == "f":
        unusable["infinity"] = np.isinf(target)
    for kind, flags in unusable.items():
        remedy = "Drop these rows from X and y before fitting"
        refuse_rows(flags, f"Input y contains {kind}", "Targets must be known and finite", remedy)
    return target


def read_classes(target: np.ndarray) -> np.ndarray:
    """The sorted classes of a target, or an error when it holds measurements."""
    try:
        with np.errstate(invalid="ignore"):  # of numbers beyond int64
            check_classification_targets(target)
        if target.dtype.kind in "mMS":  # scikit-learn lets dates, and before 1.7 bytes, pass
            raise ValueError(f"Unknown label type: {target.dtype}")
        return np.unique(target)
    except (TypeError, ValueError) as error:
        kinds = sorted({type(value).__name__ for value in target.ravel()})
        mixed = f"y mixes values of the types {', '.join(kinds)}"
        raise InputTypeError(
            mixed if len(kinds) > 1 else str(error).strip().rstrip("."),
            "Class labels must be of one kind: strings, whole numbers or booleans",
            "Use a regressor for measurements, or convert y, for example with y.astype(str)",
        ) from None


def read_numbers(target: np.ndarray) -> np.ndarray:
    """A regression target as float64."""
    try:
        # NumPy would take dates for counts and drop imaginary parts.
        numbers = None if target.dtype.kind in "mMc" else np.asarray(target, dtype=np.float64)
    except OverflowError:
        numbers = np.array([np.inf])  # a whole number beyond any float
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or np.isnan(numbers).any():  # NumPy reads the string "nan" as a number
        odd = next((value for value in target.tolist() if not _is_number(value)), target[0])
        fact = f"y holds {type(odd).__name__} values such as {odd!r}"
        remedy = "Use a classifier for classes, or convert y to numbers"
        raise InputTypeError(fact, "A regression target must be numbers", remedy)
    if np.abs(numbers).max() > LARGEST_TARGET:
        fact = f"y holds values up to {np.abs(numbers).max():.3g} in size"
        rule = f"Targets must be below {LARGEST_TARGET:.0e} in size, or squared errors overflow"
        raise InputError(fact, rule, "Divide y by a constant, or take logarithms")
    return numbers


def read_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Sample weights as float64; None means 1 each."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = as_array(sample_weight, "sample_weight", np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    check_shape(weight, "sample_weight", n_rows)
    bad = ~np.isfinite(weight) | (weight < 0)
    rule = "Weights must be finite and not negative"
    fact = f"sample_weight holds {weight[np.argmax(bad)]}"
    refuse_rows(bad, fact, rule, "Set unusable rows to weight 0")
    if not weight.any():
        rule = "Sample weights must contain at least one non-zero number"
        raise InputError("all sample weights are zero", rule, "Check the weights")
    return weight


def check_shape(array: np.ndarray, name: str, n_rows: int) -> None:
    """Refuse anything but one value per row."""
    if array.shape != (n_rows,):
        rule = f"It must be one value per row: ({n_rows},)"
        raise InputError(f"{name} has shape {array.shape}", rule, "Check how rows were selected")


def as_array(values: Any, name: str, dtype: Any = None) -> np.ndarray:
    """Targets, weights or groups from any container; of any shape."""
    try:
        if isinstance(values, pd.Series | pd.DataFrame) or is_polars(values):
            values = values.to_numpy()  # which a lazy frame does not have
        with np.errstate(over="ignore"):  # long doubles may become infinite, and are refused
            return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        fact = f"{name} cannot be read as an array ({error})"
        rule = f"It must hold one {'number' if dtype is np.float64 else 'value'} per row"
        raise InputTypeError(fact, rule, f"Check the values of {name}") from None


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, complex) and not np.isnan(float(value))
    except (TypeError, ValueError):
        return False
