"""One view of tables, series and images: rows and columns, what is observed, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from .._rules import check_value
from ..data import as_values, is_polars, location, read_columns, read_panel, scale
from ..errors import InputError, ParameterError, shorten


@dataclass(frozen=True, eq=False)
class Grid:
    """X as rows and columns.

    names : the column names, "0", "1", … if X had none
    named : whether X had names
    columns : d arrays (rows,) of numbers, of any dtype, or of strings
    present : (rows, d) bool, False where X has a gap already
    lengths : number of rows per series, one after the other; a table is one series
    restore : from (rows, d) bool to the shape of X
    """

    names: list[str]
    named: bool
    columns: list[np.ndarray]
    present: np.ndarray
    lengths: np.ndarray
    restore: Callable[[np.ndarray], Any]

    def label(self, at: int) -> str:
        """A column's name in errors."""
        return f"column {self.names[at]!r}" if self.named else f"column {at}"

    def is_text(self, at: int) -> bool:
        """Whether a column holds strings."""
        return self.columns[at].dtype == object

    def check_numbers(self, at: int) -> None:
        """Raise an InputError if a column holds strings."""
        if self.is_text(at):
            rule, remedy = "Only numbers can drive gaps", "Encode it, or choose other columns"
            raise InputError(f"{self.label(at)} holds strings", rule, remedy)

    def column(self, at: int) -> np.ndarray:
        """A column's numbers, (rows,) float64 with NaN for gaps."""
        self.check_numbers(at)
        return self.columns[at].astype(np.float64)

    def scaled(self, at: int) -> np.ndarray:
        """A column with mean 0 and deviation 1, outliers bent towards ±3; 0 where it has a gap.

        A constant column is 0 everywhere.
        """
        values = self.column(at)
        bent = scale(values, *location(values))
        seen = bent[self.present[:, at]]
        if not len(seen) or seen.min() == seen.max():
            return np.zeros(len(values))
        return np.nan_to_num((bent - seen.mean()) / seen.std(), nan=0.0)

    def varies(self, at: int) -> bool:
        """Whether a column holds at least two different numbers."""
        if self.is_text(at):
            return False
        seen = self.column(at)[self.present[:, at]]
        return bool(len(seen)) and bool(seen.min() < seen.max())

    def find(self, name: str, columns: Any) -> list[int]:
        """Positions of the columns listed in the parameter `name`, by name or number, each once.

        Names come first: in a frame with the columns 2, 0 and 1, 0 is the column of that name. If
        all names are integers, numbers are names and never positions.
        """
        columns = [columns] if isinstance(columns, str) or _is_integer(columns) else columns
        listed = isinstance(columns, Iterable)
        check_value(name, columns, (lambda _: listed, "a list of column names or positions"))
        places = {text: j for j, text in enumerate(self.names)}
        numbered = self.named and all(n.removeprefix("-").isdecimal() for n in self.names)
        positions, columns = [], list(columns)
        for column in columns:
            if (_is_integer(column) or isinstance(column, str)) and str(column) in places:
                positions.append(places[str(column)])
            elif _is_integer(column) and 0 <= column < len(self.names) and not numbered:
                positions.append(int(column))
            else:
                known = shorten(self.names) if self.named else f"0 to {len(self.names) - 1}"
                fact = f"{name} holds {column!r}, which is not a column of X"
                remedy = "Pass names of these" if numbered else "Pass names or positions of these"
                raise ParameterError(fact, f"Columns are {known}", remedy)
        different = len(positions) > 0 and len(set(positions)) == len(positions)
        check_value(name, columns, (lambda _: different, "one column or several, none twice"))
        return positions


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def read_grid(X: Any, lengths: Any = None, images: bool = False) -> Grid:
    """Read X, or raise an InputError that says what is wrong.

    images : an array (n, height, width) is a table with a row per image, not series
    """
    cube = isinstance(X, np.ndarray) and X.ndim == 3 and X.size > 0
    listed = isinstance(X, list | tuple) and any(getattr(x, "ndim", 1) == 2 for x in X)
    if listed or (cube and not images):
        return _read_series(X, lengths)
    if lengths is not None:
        fact = "lengths is given, but X is not a padded (N, T, D) array"
        raise ParameterError(fact, "Only padded series need lengths", "Leave lengths out")
    if cube:
        table = _read_table(X.reshape(len(X), -1))
        return replace(table, restore=lambda mask: mask.reshape(X.shape))
    return _read_table(X)


def _read_table(X: Any) -> Grid:
    plain = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray)
    plain = plain and X.dtype.kind in "fiub" and X.ndim == 2 and X.size > 0
    if plain and not (X.dtype.kind == "f" and np.isinf(X).any()):
        # Taken as it is: MNIST in uint8 would need eight times the memory as float64.
        present = ~np.isnan(X) if X.dtype.kind == "f" else np.ones(X.shape, bool)
        names = [str(j) for j in range(X.shape[1])]
        return Grid(names, False, list(X.T), present, np.array([len(X)]), lambda mask: mask)
    table = read_columns(X)
    whole = np.array([table.n_rows])
    return Grid(table.names, table.named, table.arrays, table.observed, whole, lambda mask: mask)


def _read_series(X: Any, lengths: Any) -> Grid:
    panel = read_panel(X, lengths=lengths)
    steps = panel.steps
    if isinstance(X, np.ndarray):
        valid = np.arange(X.shape[1]) < panel.lengths[:, None]

        def restore(mask: np.ndarray) -> Any:
            back = np.zeros(X.shape, bool)  # padding is not observed
            back[valid] = mask
            return back
    else:
        for i, series in enumerate(X):
            if hasattr(series, "columns") and list(map(str, series.columns)) != steps.names:
                fact = f"series {i} and series 0 have different columns, or in another order"
                rule = "All series must have the same columns in the same order"
                raise InputError(fact, rule, "Reindex them: [frame[names] for frame in X]")

        def restore(mask: np.ndarray) -> Any:
            return np.split(mask, np.cumsum(panel.lengths)[:-1])

    return Grid(steps.names, steps.named, steps.arrays, steps.observed, panel.lengths, restore)


def put_gaps(X: Any, observed: Any) -> Any:
    """A copy of X with gaps where `observed` is False: NaN, None, or what the frame uses."""
    if isinstance(observed, list):
        if not isinstance(X, list | tuple) or len(X) != len(observed):
            raise _misfit(f"{len(observed)} series", "X is not a list of as many")
        return [put_gaps(series, mask) for series, mask in zip(X, observed, strict=True)]
    frame = isinstance(X, pd.DataFrame) or is_polars(X)
    data = X if frame else as_values(X)
    if data.shape != observed.shape:
        raise _misfit(f"data of shape {observed.shape}", f"X has shape {data.shape}")
    if isinstance(X, pd.DataFrame):
        return _put_into_pandas(X, observed)
    if frame:
        import polars as pl

        return X.with_columns(
            pl.when(pl.Series(observed[:, j])).then(pl.col(name)).alias(name)
            for j, name in enumerate(X.columns)
        )
    if data.dtype.kind in "fiub":
        # float32 holds integers of up to 16 bits exactly; wider ones become float64.
        kind = data.dtype if data.dtype.kind == "f" else np.result_type(data.dtype, np.float32)
        return np.where(observed, data, np.array(np.nan, kind)).astype(kind, copy=False)
    copy = data.astype(object)
    copy[~observed] = None
    return copy


def _put_into_pandas(X: pd.DataFrame, observed: np.ndarray) -> pd.DataFrame:
    columns = []
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        if not observed[:, j].all():
            if column.dtype == bool:
                column = column.astype("boolean")  # mask would turn True and False into objects
            column = column.mask(~observed[:, j])
        columns.append(column)
    return pd.concat(columns, axis=1).set_axis(X.columns, axis=1)


def _misfit(expected: str, fact: str) -> InputError:
    fact = f"the gaps were made for {expected}, but {fact}"
    rule = "Gaps fit data of the shape they were made for"
    return InputError(fact, rule, "Pass that data, or make gaps for this data")
