"""Rows whose entries come from different rows of one table, in the type that the table has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import Columns, is_polars
from ..errors import InputError, InputTypeError, shorten
from ._model_rows import ModelRows, as_objects


class Mosaic:
    """Several tables with the same columns, one below the other, as a stock of entries.

    Whoever reads the new rows finds the types of the old ones: an entry is moved, never rebuilt
    from what was read of it.

    starts : the number of the first row of each table; observed : (N, d) of all rows

    >>> from imputefree.inspection._model_rows import read_rows
    >>> ages, more = pd.DataFrame({"age": [31, None]}), pd.DataFrame({"age": [70], "sex": ["f"]})
    >>> stock = Mosaic(read_rows(ages), read_rows(more))
    >>> stock.rows(np.array([[2], [0]])).X["age"].tolist()
    [70.0, 31.0]
    """

    def __init__(self, *tables: ModelRows) -> None:
        self.names = tables[0].names
        parts = [arranged(rows, tables[0]) for rows in tables]
        self.starts = np.cumsum([0, *map(len, parts)])[:-1]
        self.observed = np.concatenate([rows.observed for rows in parts])
        self.stock = _below_each_other([rows.X for rows in parts])

    def rows(self, source: np.ndarray) -> ModelRows:
        """New rows; source (m, d) says from which row of the stock each entry comes."""
        return ModelRows(take_entries(self.stock, source), self.names, self.seen(source))

    def seen(self, source: np.ndarray) -> np.ndarray:
        """Which entries of such rows are observed; (m, d)."""
        return np.take_along_axis(self.observed, source, 0)

    def start(self, table: int, rows: np.ndarray) -> np.ndarray:
        """Sources of unchanged rows of one of the tables; (m,) -> (m, d)."""
        return np.repeat((self.starts[table] + rows)[:, None], len(self.names), 1)


def arranged(rows: ModelRows, like: ModelRows) -> ModelRows:
    """Rows with the columns of others, in their order; further columns are left out."""
    frame = isinstance(like.X, pd.DataFrame | Columns) or is_polars(like.X)
    if type(rows.X) is not type(like.X):
        raise InputTypeError(
            f"X is a {type(like.X).__name__}, other rows are a {type(rows.X).__name__}",
            "Entries move from one table to the other",
            "Pass both as the model takes them",
        )
    if not frame:
        if len(rows.names) != len(like.names):
            fact = f"X has {len(like.names)} columns, other rows have {len(rows.names)}"
            raise InputError(fact, "Both tables need the same columns", "Pass the model's columns")
        return rows
    lacking = [name for name in like.names if name not in set(rows.names)]
    if lacking:
        fact = f"the other rows do not have the columns {shorten(lacking)} of X"
        raise InputError(fact, "Every column of X is needed", "Add them, or drop them from X")
    at = [rows.names.index(name) for name in like.names]
    if isinstance(rows.X, Columns):
        X: Any = rows.X.pick(like.names)
    else:
        X = rows.X.iloc[:, at] if isinstance(rows.X, pd.DataFrame) else rows.X[:, at]
    return ModelRows(X, like.names, rows.observed[:, at])


def take_entries(X: Any, source: np.ndarray) -> Any:
    """A table of the same type as X whose entry (i, j) is that of row source[i, j]; (m, d)."""
    if isinstance(X, Columns):
        pairs = zip(X.arrays, source.T, strict=True)
        return replace(X, arrays=[array[rows] for array, rows in pairs], n_rows=len(source))
    if isinstance(X, pd.DataFrame):
        arrays = {j: X.iloc[:, j].array.take(rows) for j, rows in enumerate(source.T)}
        return pd.DataFrame(arrays).set_axis(X.columns, axis=1)
    if is_polars(X):
        columns = zip(X.get_columns(), source.T, strict=True)
        return type(X)([column.gather(rows) for column, rows in columns])
    return np.take_along_axis(X, source, 0)


def _below_each_other(tables: list[Any]) -> Any:
    """Tables of one type with the same columns as one table."""
    first = tables[0]
    if isinstance(first, Columns):
        arrays = zip(*(table.arrays for table in tables), strict=True)
        n_rows = sum(table.n_rows for table in tables)
        return replace(first, arrays=[_joined_arrays(parts) for parts in arrays], n_rows=n_rows)
    if isinstance(first, pd.DataFrame):
        columns = ([table.iloc[:, j] for table in tables] for j in range(first.shape[1]))
        return pd.DataFrame(dict(enumerate(map(_joined, columns)))).set_axis(first.columns, axis=1)
    if is_polars(first):
        import polars as pl

        return pl.concat(tables, how="vertical_relaxed")
    kinds = {np.asarray(table).dtype.kind in "fiub" for table in tables}
    if kinds == {True, False}:
        tables = [np.asarray(table).astype(object) for table in tables]
    return np.concatenate(tables)


def _joined_arrays(arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    """Arrays of a column as `Columns` has them; strings if one of them has strings."""
    if len({array.dtype for array in arrays}) > 1:
        arrays = tuple(as_objects(array) for array in arrays)
    return np.concatenate(arrays)


def _joined(columns: list[pd.Series]) -> Any:
    """Columns one below the other; one without entries takes the type of the others."""
    typed = [column for column in columns if column.notna().any()]
    if typed and len({column.dtype for column in typed}) == 1:
        gap = typed[0].iloc[:0]
        columns = [c if c.notna().any() else gap.reindex(range(len(c))) for c in columns]
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        return pd.api.types.union_categoricals(columns, ignore_order=True)
    return pd.concat(columns, ignore_index=True).array
