"""Filled values given back in the form a table came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...data import is_polars
from ...errors import InputError


def like(X: Any, filled: np.ndarray, gaps: np.ndarray) -> Any:
    """Filled values (n, d) in the form of X; gaps (n, d) tells what was missing.

    A column without gaps comes back as it is, whatever its dtype; one with gaps keeps the width of
    its floats, and is float64 where it held something else.

    >>> frame = pd.DataFrame({"count": [1, 2], "size": np.array([0.5, np.nan], dtype=np.float32)})
    >>> filled = like(frame, np.array([[1.0, 0.5], [2.0, 0.25]]), frame.isna().to_numpy())
    >>> filled.dtypes.astype(str).tolist(), filled["size"].tolist()
    (['int64', 'float32'], [0.5, 0.25])
    """
    if isinstance(X, pd.DataFrame):
        return _pandas(X, filled, gaps)
    if is_polars(X):
        return _polars(X, filled, gaps)
    dtype = getattr(X, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "fiub":
        return filled
    return _narrowed(filled, dtype) if gaps.any() else np.array(X)


def _pandas(X: pd.DataFrame, filled: np.ndarray, gaps: np.ndarray) -> pd.DataFrame:
    columns = []
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        if gaps[:, j].any():
            numpy_dtype: Any = getattr(column.dtype, "numpy_dtype", column.dtype)
            is_float = isinstance(numpy_dtype, np.dtype) and numpy_dtype.kind == "f"
            narrow = _narrowed(filled[:, j], numpy_dtype if is_float else np.dtype(np.float64))
            column = pd.Series(narrow, index=X.index)
            if is_float:
                column = column.astype(X.dtypes.iloc[j])
        columns.append(column)
    made = pd.concat(columns, axis=1)
    made.columns = X.columns
    return made


def _polars(X: Any, filled: np.ndarray, gaps: np.ndarray) -> Any:
    new = {
        name: _narrowed(filled[:, j], np.dtype(np.float32))
        if str(X.schema[name]) == "Float32"
        else filled[:, j]
        for j, name in enumerate(X.columns)
        if gaps[:, j].any()
    }
    made = type(X)(new)
    return X.with_columns(made.get_columns())


def _narrowed(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """As floats of that width, or an error where a value does not fit."""
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype)
    if not np.isfinite(narrow).all():
        worst = values.ravel()[np.abs(values).argmax()]
        raise InputError(
            f"a filled entry is {worst:.3g}, too large for {dtype}",
            "Filled tables keep the width of their floats",
            "Pass the table as float64",
        )
    return narrow
