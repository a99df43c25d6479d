"""Estimators that take tables of numbers: read them, and hold them to the columns of training."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._manners import remember_columns
from ..errors import InputError, InputTypeError
from ._columns import Columns, read_columns
from ._wording import shorten


class NumericTables:
    """Reads (n, d) tables as float64 with NaN, and remembers n_features_in_, feature_names_in_."""

    n_features_in_: int

    def _read_training(self, X: Any) -> tuple[np.ndarray, Columns]:
        """A training table, and its columns to be remembered once training went well."""
        columns = read_columns(X)
        return numbers(columns, type(self).__name__), columns

    def _remember(self, columns: Columns) -> None:
        """These are the columns of every table to come."""
        remember_columns(self, columns)

    def _read(self, X: Any) -> np.ndarray:
        """A table with the columns of training."""
        columns = read_columns(X)
        owner = type(self).__name__
        names = list(getattr(self, "feature_names_in_", columns.names))
        if columns.named and columns.names != names:
            raise InputError(
                "The feature names should match those that were passed during fit: they are"
                f" {shorten(columns.names)}",
                f"They must be those of training, in that order: {shorten(names)}",
                "Select them by name first",
            )
        if len(columns.names) != self.n_features_in_:
            raise InputError(
                f"X has {len(columns.names)} features, but {owner} is expecting"
                f" {self.n_features_in_} features as input",
                "A table must have the columns of the training table",
                "Select them first",
            )
        return numbers(columns, owner)


def numbers(columns: Columns, owner: str) -> np.ndarray:
    """All columns as (n, d) float64 with NaN, or an error naming the first that holds text.

    >>> numbers(read_columns([[1, None], [2, 3]]), "EMImputer")
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    for name, array in zip(columns.names, columns.arrays, strict=True):
        if array.dtype == object and any(value is not None for value in array):
            raise InputTypeError(
                f"column {name!r} holds text",
                f"{owner} takes numbers",
                "Encode categories as numbers first, or use GILClassifier, which takes them as"
                " they are",
            )
    gaps = np.full(columns.n_rows, np.nan)
    return np.column_stack([gaps if a.dtype == object else a for a in columns.arrays])
