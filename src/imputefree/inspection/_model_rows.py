"""Rows with gaps for any model: select them, remove or exchange entries, predict.

Conformal sets, "measure next" and the audit need nothing else of a table or of series, for any
model: scikit-learn's estimators, LightGBM's wrappers, pipelines, ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from ..data import Columns, Panel, as_values, first_steps, is_polars, read_columns, read_panel
from ..errors import InputError, InputTypeError, counted, listed, shorten
from ..estimators import Engine, read_inputs, reads_series, unfitted_panel
from ..missingness import put_gaps


@dataclass(frozen=True, eq=False)
class ModelRows:
    """n rows of a table, or n series, in a form that their model takes.

    X : a frame, a 2D array, a `Panel`, or `Columns`, which models of this package read fastest
    names : of the d columns; for series those of the steps, then the static ones
    observed : (n, d) bool, whether a row has an entry; for series, whether a column has any value

    >>> rows = read_rows(np.array([[1.0, np.nan], [3.0, 4.0]]))
    >>> rows.observed.tolist()
    [[True, False], [True, True]]
    >>> rows.take([1, 1]).hidden(np.array([[True, False], [False, True]])).X
    array([[ 3., nan],
           [nan,  4.]])
    """

    X: Any
    names: list[str]
    observed: np.ndarray

    def __len__(self) -> int:
        return len(self.observed)

    @property
    def n_rows(self) -> int:
        """How many rows, or series."""
        return len(self)

    @property
    def cells_per_row(self) -> float:
        """Entries of a row, or of a series on average."""
        steps = len(self.X.times) / len(self) if isinstance(self.X, Panel) else 1.0
        return steps * len(self.names)

    def take(self, rows: Any) -> ModelRows:
        """These rows, in that order; a mask, or numbers that may repeat."""
        rows = np.arange(len(self))[rows]
        has_rows = isinstance(self.X, Panel | Columns)
        X = self.X.rows(rows) if has_rows else _safe_indexing(self.X, rows)
        return replace(self, X=X, observed=self.observed[rows])

    rows = take  # as `Columns` and `Panel` call it

    def hidden(self, kept: np.ndarray) -> ModelRows:
        """The same rows with gaps wherever `kept` is False as well; (n, d) bool."""
        observed = self.observed & kept
        if isinstance(self.X, Panel):
            return replace(self, X=_without_columns(self.X, observed), observed=observed)
        if isinstance(self.X, Columns):
            return replace(self, X=self.X.hidden(observed), observed=observed)
        return replace(self, X=put_gaps(self.X, observed), observed=observed)

    def with_columns(self, names: list[str]) -> ModelRows:
        """The same rows with exactly these columns, found by name, in that order."""
        if self.names == names:
            return self
        named = hasattr(self.X, "columns")
        lacking = [name for name in names if name not in self.names]
        if lacking or not named:
            size = f"X has {counted(len(self.names), 'column')} without names"
            raise InputError(
                listed(("X lacks the columns", lacking)) if named else size,
                f"The model learned from {counted(len(names), 'column')}",
                "Pass rows with the columns of training",
            )
        return self._picked(names)

    def _picked(self, names: list[str]) -> ModelRows:
        """These columns, all of which are there, in that order."""
        place = [self.names.index(name) for name in names]
        if isinstance(self.X, Panel):
            n_steps, statics = len(self.X.steps.names), self.X.statics
            steps = self.X.steps.pick([self.names[j] for j in place if j < n_steps])
            statics = statics and statics.pick([self.names[j] for j in place if j >= n_steps])
            X: Any = replace(self.X, steps=steps, statics=statics)
        elif isinstance(self.X, Columns):
            X = self.X.pick(names)
        else:
            X = self.X[names] if is_polars(self.X) else self.X.iloc[:, place]
        return ModelRows(X, names, self.observed[:, place])


def read_rows(
    X: Any, model: Any = None, beside: dict[str, Any] | None = None, *, once: bool = False
) -> ModelRows:
    """Rows of any table, or series, for a model that is fitted or not.

    A sequence estimator reads X as its parameters say. Anything else is a table, unless it is a
    `Panel`, a 3D array or a list of 2D ones.

    beside : for a frame of series: labels, groups or weights that may name columns of it
    once : a table for a model of this package is read here, once, and not for every prediction
    """
    if model is not None and reads_series(model) and not isinstance(X, Panel):
        if hasattr(model, "layout_"):
            X = read_inputs(model, X, beside)
        else:
            X = unfitted_panel(model, X, beside)
    elif once and isinstance(model, Engine) and not isinstance(X, Panel):
        X = read_columns(X)
    elif not isinstance(X, Columns) and _is_cube(X):
        X = read_panel(X)
    if isinstance(X, Columns):
        return ModelRows(X, X.names, X.observed)
    if isinstance(X, Panel):
        return ModelRows(X, *_panel_entries(X))
    if not (isinstance(X, pd.DataFrame) or is_polars(X)):
        X = as_values(X)
        if X.ndim != 2:
            raise InputTypeError(
                f"X has {X.ndim} dimension{'s' * (X.ndim != 1)}",
                "A table has rows and columns",
                "Pass a DataFrame, a 2D array, or a Panel of series",
            )
    columns = read_columns(X)
    return ModelRows(X, columns.names, columns.observed)


def check_answers(model: Any) -> None:
    """Refuse a classifier that gives no probabilities."""
    if is_classifier(model) and not hasattr(model, "predict_proba"):
        raise InputTypeError(
            f"{type(model).__name__} has no predict_proba",
            "A classifier must give probabilities",
            "Wrap it in sklearn.calibration.CalibratedClassifierCV",
        )


def predict_rows(model: Any, rows: ModelRows) -> np.ndarray:
    """Probabilities (n, classes) of a classifier, numbers (n,) of any other model; float64."""
    check_answers(model)
    predicted = model.predict_proba(rows.X) if is_classifier(model) else model.predict(rows.X)
    predicted = np.asarray(predicted, dtype=np.float64)
    if not np.isfinite(predicted).all():
        bad = int(np.flatnonzero(~np.isfinite(predicted.reshape(len(rows), -1)).all(1))[0])
        raise InputError(
            f"{type(model).__name__} predicts a number that is not finite for row {bad}",
            "Predictions must be finite for rows with gaps",
            "Use an estimator that accepts NaN, or a pipeline that begins with an imputer",
        )
    return predicted


def as_objects(array: np.ndarray) -> np.ndarray:
    """A column as an array of objects whose gaps are None."""
    objects = array.astype(object)
    objects[pd.isna(array)] = None
    return objects


def _is_cube(X: Any) -> bool:
    listed = isinstance(X, list | tuple) and any(getattr(x, "ndim", 1) == 2 for x in X)
    return listed or getattr(X, "ndim", 2) == 3


def _panel_entries(panel: Panel) -> tuple[list[str], np.ndarray]:
    """Names of the columns of steps, then of static ones, and which a series has values of."""
    ever = panel.steps.observed
    if len(panel):
        ever = np.logical_or.reduceat(ever, first_steps(panel.lengths))
    if panel.statics is None:
        return panel.steps.names, ever
    return panel.steps.names + panel.statics.names, np.hstack([ever, panel.statics.observed])


def _without_columns(panel: Panel, kept: np.ndarray) -> Panel:
    """The series without all values of some of their columns; kept (n, d)."""
    n_steps = len(panel.steps.names)
    steps = panel.steps.hidden(kept[panel.series, :n_steps])
    statics = panel.statics and panel.statics.hidden(kept[:, n_steps:])
    return replace(panel, steps=steps, statics=statics)


class Mosaic:
    """Several tables with the same columns, one below the other, as a stock of entries.

    Whoever reads the new rows finds the types of the old ones: an entry is moved, never rebuilt
    from what was read of it.

    starts : the number of the first row of each table; observed : (N, d) of all rows

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
    return rows._picked(like.names)


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
