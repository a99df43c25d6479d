"""The same few questions to pandas and polars: names, columns, and whose row a row is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, InputTypeError, counted, shorten


def names_of(X: Any) -> list[str]:
    """Column names as texts."""
    return [str(name) for name in X.columns]


def column(X: Any, name: str) -> pd.Series:
    """One column, raw."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, names_of(X).index(name)]
    values = X[name].to_numpy()
    if values.ndim > 1:  # a column of polars arrays
        return pd.Series(list(values), dtype=object)
    return pd.Series(values, dtype=object if values.dtype == object else None)


def select(X: Any, names: Sequence[str]) -> Any:
    """These columns as a frame of the same kind."""
    if isinstance(X, pd.DataFrame):
        wanted = set(names)
        return X.iloc[:, [j for j, name in enumerate(names_of(X)) if name in wanted]]
    return X.select(list(names))


def objects(values: pd.Series) -> np.ndarray:
    """A column as an object array of Python values; shape (R,)."""
    return values.astype(object).to_numpy()


def label_column(X: Any, name: str, place: Callable[[int], str]) -> np.ndarray:
    """A column of labels, groups or weights as objects, one single value a row; shape (R,)."""
    values = objects(column(X, name))
    if pd.api.types.infer_dtype(values).startswith("mixed"):  # any other kind is single values
        row = next((i for i, cell in enumerate(values) if not isinstance(cell, Hashable)), None)
        if row is not None:
            raise InputTypeError(
                f"column {name!r} holds a value of type {type(values[row]).__name__}"
                f" (first: {place(row)})",
                "A label, group or weight is one single value a row",
                "Take the part you need out of it into a column of its own",
            )
    return values


def plain(values: pd.Series) -> np.ndarray:
    """Numbers as float64 with NaN, anything else as objects."""
    dtype = values.dtype
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return objects(values)


def number_ids(values: Any, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Series numbers in the order of first appearance (R,), and the ids they stand for (n,)."""
    try:
        codes, found = pd.factorize(values)
    except TypeError:
        raise InputTypeError(
            f"{label} holds values such as lists",
            "An id must be a text, a number or another value with a hash",
            "Convert it, for example with .astype(str)",
        ) from None
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise InputError(
            f"{label} is missing in {counted(len(missing), 'row')} (first: row {missing[0]})",
            "Every row must say which series it belongs to",
            "Drop these rows, or fill in their ids",
        )
    return codes.astype(np.int64), np.fromiter(found, dtype=object, count=len(found))


def count_ids(n: int) -> np.ndarray:
    """0 … n-1 as objects: ids of series that have none."""
    return np.arange(n).astype(object)


def by_id(series: np.ndarray, ids: np.ndarray) -> Callable[[int], str]:
    """Words for a row of a frame while its time is not known yet."""
    return lambda row: f"row {row}, id {ids[series[row]]!r}"


def match_ids(ids: np.ndarray, keys: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """For each id the row of its key, -1 if there is none (n,); and the keys no id has."""
    index = keys if isinstance(keys, pd.Index) else pd.Index(keys, tupleize_cols=False)
    if isinstance(index, pd.MultiIndex):
        index = index.to_flat_index()  # ids that are tuples
    index = index.astype(object)
    if not index.is_unique:
        twice = index[index.duplicated()].unique().tolist()
        raise InputError(
            f"{name} holds ids more than once: {shorten(twice)}",
            f"{name} has one row a series",
            "Drop the repeated rows",
        )
    wanted = pd.Index(ids, dtype=object, tupleize_cols=False)
    return index.get_indexer(wanted), index[wanted.get_indexer(index) < 0].to_numpy()
