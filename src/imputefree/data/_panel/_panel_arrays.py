"""Series as a 3D array: which axis is which, and how much of it is padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ...errors import InputError, InputTypeError
from .._columns import as_values, read_columns
from ._panel_frames import count_ids
from ._panel_rows import Read, empty_series, refuse_no_series


def as_cube(X: Any) -> np.ndarray:
    """X as an array of three axes."""
    if sparse.issparse(X):
        read_columns(X)  # says why sparse data is refused
    if X is None or isinstance(X, str | bytes | dict | set | pd.Series | pd.Index):
        raise InputTypeError(
            f"X is a {type(X).__name__}",
            "Series come as a 3D array, a list of (steps, columns) arrays, or a frame with ids",
            "Pass X as one of these",
        )
    array = as_values(X)
    if array.ndim != 3:
        raise InputError(
            f"X is a {array.ndim}D array of shape {array.shape}",
            "Arrays of series are 3D: (series, steps, columns)",
            "Pass X[None] for a single series, a frame with id= for rows of several, or use"
            " GILClassifier or GILRegressor for a table of independent rows"
            if array.ndim == 2
            else "Reshape X, or pass a list of (steps, columns) arrays",
        )
    return array


def read_array(X: np.ndarray, axes: str, lengths: Any) -> Read:
    """(N, T, D), or (N, D, T) for "ndt"; what lies beyond `lengths` (N,) is never looked at."""
    array = X.transpose(0, 2, 1) if axes == "ndt" else X
    n, width, n_columns = array.shape
    refuse_no_series(n)
    if width == 0:
        raise empty_series(0)
    if lengths is None:
        table, counts = array.reshape(n * width, n_columns), np.full(n, width)
    else:
        counts = _read_lengths(lengths, n, width)
        table = array[np.arange(width) < counts[:, None]]
    return Read(table, np.repeat(np.arange(n), counts), count_ids(n), False, width=width)


def _read_lengths(lengths: Any, n: int, width: int) -> np.ndarray:
    counts = as_values(lengths, "lengths")
    if counts.shape != (n,):
        raise InputError(
            f"lengths has shape {counts.shape}",
            f"It must be one whole number a series: ({n},)",
            "Check how the series were selected",
        )
    if counts.dtype == object:  # nullable integers, or lists of them
        counts = read_columns(counts[:, None]).arrays[0]
    whole = counts.dtype.kind in "iu" or (
        counts.dtype.kind == "f" and bool((counts == np.round(counts)).all())
    )
    if not whole:
        raise InputError(
            f"lengths holds {counts.dtype} values that are not whole numbers",
            f"It must be one whole number of steps a series, from 1 to {width}",
            "Count the real steps of each series",
        )
    outside = np.flatnonzero((counts < 1) | (counts > width))
    if len(outside):
        i = int(outside[0])
        raise InputError(
            f"lengths holds {counts[i]:g} for series {i}",
            f"A series has from 1 to {width} steps here: X has room for {width}",
            "Drop series without a step; check lengths against the time axis of X",
        )
    return counts.astype(np.int64)
