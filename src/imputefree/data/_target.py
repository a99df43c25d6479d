"""Checked targets and sample weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError, InputTypeError
from ._columns import is_polars

LARGEST_TARGET = 1e150  # its square still fits a float64


def read_target(y: Any, n_rows: int, estimator: str) -> np.ndarray:
    """y as a one-dimensional array without missing values; shape (n_rows,)."""
    if y is None:
        raise InputError(
            f"This {estimator} estimator requires y to be passed, but the target y is None",
            "A supervised estimator learns from targets",
            "Call fit(X, y)",
        )
    target = as_labels(y, "y")
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape"
            " of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        target = target[:, 0]
    if target.ndim != 1:
        raise InputError(
            f"y has shape {target.shape}",
            "y must be one-dimensional: one target per row",
            "Fit one estimator per target, for example with sklearn.multioutput",
        )
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
        rows = np.flatnonzero(flags)
        if len(rows):
            raise InputError(
                f"Input y contains {kind} in {len(rows)} rows (first: row {rows[0]})",
                "Targets must be known and finite",
                "Drop these rows from X and y before fitting",
            )
    return target


def read_classes(target: np.ndarray) -> np.ndarray:
    """The sorted classes of a target, or an error when it holds measurements."""
    try:
        check_classification_targets(target)
        if target.dtype.kind in "mM":  # scikit-learn lets dates pass
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
        raise InputTypeError(
            f"y holds {type(odd).__name__} values such as {odd!r}",
            "A regression target must be numbers",
            "Use a classifier for classes, or convert y to numbers",
        )
    if np.abs(numbers).max() > LARGEST_TARGET:
        raise InputError(
            f"y holds values up to {np.abs(numbers).max():.3g} in size",
            f"Targets must be below {LARGEST_TARGET:.0e} in size, or squared errors overflow",
            "Divide y by a constant, or take logarithms",
        )
    return numbers


def read_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Sample weights as float64; None means 1 each."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = as_array(sample_weight, "sample_weight", np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {weight.shape}",
            f"It must be one number per row: ({n_rows},)",
            "Check how rows were selected",
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        row = int(np.flatnonzero(~np.isfinite(weight) | (weight < 0))[0])
        raise InputError(
            f"sample_weight holds {weight[row]} (first: row {row})",
            "Weights must be finite and not negative",
            "Set unusable rows to weight 0",
        )
    if not weight.any():
        raise InputError(
            "all sample weights are zero",
            "Sample weights must contain at least one non-zero number",
            "Check the weights",
        )
    return weight


def as_labels(y: Any, name: str) -> np.ndarray:
    """Labels from a frame, a column or anything NumPy reads; of any shape."""
    if isinstance(y, pd.Series | pd.DataFrame) or is_polars(y):
        y = y.to_numpy()
    return as_array(y, name)


def as_array(values: Any, name: str, dtype: Any = None) -> np.ndarray:
    """Targets, weights or groups as a NumPy array, of any shape."""
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"{name} cannot be read as an array ({error})",
            f"It must hold one {'value' if dtype is None else 'number'} per row",
            f"Check the values of {name}",
        ) from None


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, complex) and not np.isnan(float(value))
    except (TypeError, ValueError):
        return False
