"""Putting gaps into data of any kind, without touching the original."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..data import as_values, is_polars
from ..errors import InputError


def put_gaps(X: Any, observed: Any) -> Any:
    """A copy of X with gaps where `observed` is False: NaN, None or the frame's own.

    >>> put_gaps(np.array([[1, 2], [3, 4]]), np.array([[True, False], [True, True]]))
    array([[ 1., nan],
           [ 3.,  4.]])
    """
    if isinstance(observed, list):
        if not isinstance(X, list | tuple) or len(X) != len(observed):
            raise _misfit(f"{len(observed)} series", "X is no list of as many")
        return [put_gaps(one, mask) for one, mask in zip(X, observed, strict=True)]
    frame = isinstance(X, pd.DataFrame) or is_polars(X)
    data = X if frame else as_values(X)
    if data.shape != observed.shape:
        raise _misfit(f"data of shape {observed.shape}", f"X has shape {data.shape}")
    if isinstance(X, pd.DataFrame):
        return _pandas(X, observed)
    return _polars(X, observed) if frame else _array(data, observed)


def _misfit(made_for: str, fact: str) -> InputError:
    return InputError(
        f"the gaps were made for {made_for}, but {fact}",
        "Gaps fit data of the shape they were made for",
        "Pass that data, or make gaps for this one",
    )


def _array(X: np.ndarray, observed: np.ndarray) -> np.ndarray:
    if X.dtype.kind in "fiub":
        # float32 holds whole numbers of up to 16 bits exactly; wider ones become float64.
        kind = X.dtype if X.dtype.kind == "f" else np.result_type(X.dtype, np.float32)
        return np.where(observed, X, np.array(np.nan, kind)).astype(kind, copy=False)
    made = X.astype(object)
    made[~observed] = None
    return made


def _pandas(X: pd.DataFrame, observed: np.ndarray) -> pd.DataFrame:
    columns = []
    for j in range(X.shape[1]):
        one = X.iloc[:, j]
        if not observed[:, j].all():
            if one.dtype == bool:
                one = one.astype("boolean")  # mask would turn True and False into objects
            one = one.mask(~observed[:, j])
        columns.append(one)
    made = pd.concat(columns, axis=1)
    made.columns = X.columns
    return made


def _polars(X: Any, observed: np.ndarray) -> Any:
    import polars as pl

    return X.with_columns(
        pl.when(pl.Series(observed[:, j])).then(pl.col(name)).alias(name)
        for j, name in enumerate(X.columns)
    )
