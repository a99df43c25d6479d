"""One view of tables, series and images: rows and columns, what is there, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..data import is_polars, location, read_columns, scale
from ..errors import InputError, InputTypeError, ParameterError


@dataclass(frozen=True, eq=False)
class Grid:
    """Whatever came in, as rows and columns.

    names : the columns', "0", "1", … where X had none
    named : whether X had names
    columns : a (rows, d) array of numbers, or d arrays (rows,) of numbers or texts
    present : (rows, d) bool, False where X has a gap already
    lengths : rows of each series, one after the other; a table is one series
    restore : from (rows, d) bool to the shape of X

    >>> grid = read_grid([np.ones((2, 3)), np.ones((4, 3))])
    >>> grid.present.shape, grid.lengths
    ((6, 3), array([2, 4]))
    >>> [one.shape for one in grid.restore(grid.present)]
    [(2, 3), (4, 3)]
    """

    names: list[str]
    named: bool
    columns: np.ndarray | list[np.ndarray]
    present: np.ndarray
    lengths: np.ndarray
    restore: Callable[[np.ndarray], Any]

    def label(self, at: int) -> str:
        """How an error calls a column."""
        return f"column {self.names[at]!r}" if self.named else f"column {at}"

    def is_text(self, at: int) -> bool:
        """Whether a column holds texts."""
        return isinstance(self.columns, list) and self.columns[at].dtype == object

    def column(self, at: int) -> np.ndarray:
        """A column's numbers, (rows,) float64 with NaN for gaps."""
        if self.is_text(at):
            raise InputError(
                f"{self.label(at)} holds texts",
                "Only numbers can drive which entries go missing",
                "Encode it as numbers, or choose other columns",
            )
        one = self.columns[at] if isinstance(self.columns, list) else self.columns[:, at]
        return one.astype(np.float64)

    def scaled(self, at: int) -> np.ndarray:
        """A column with mean 0 and deviation 1, outliers bent to ±3 before; 0 where it has a gap.

        A constant column is 0 everywhere.
        """
        values = self.column(at)
        bent = scale(values, *location(values))
        seen = bent[self.present[:, at]]
        if not len(seen) or seen.min() == seen.max():
            return np.zeros(len(values))
        return np.nan_to_num((bent - seen.mean()) / seen.std(), nan=0.0)

    def varies(self, at: int) -> bool:
        """Whether a column holds numbers of which two differ."""
        if self.is_text(at):
            return False
        seen = self.column(at)[self.present[:, at]]
        return bool(len(seen)) and bool(seen.min() < seen.max())


def read_grid(X: Any, lengths: Any = None, images: bool = False) -> Grid:
    """Read X, or raise an InputError that names what is wrong."""
    if isinstance(X, list | tuple) and any(getattr(one, "ndim", 1) == 2 for one in X):
        return _read_list(X, lengths)
    array = X if isinstance(X, np.ndarray) else None
    if array is not None and array.ndim == 3 and array.size:
        if images:
            flat = _read_table(array.reshape(len(array), -1), lambda mask: mask.reshape(X.shape))
            return _no_lengths(flat, lengths)
        return _read_padded(array, lengths)
    return _no_lengths(_read_table(X, lambda mask: mask), lengths)


def _no_lengths(grid: Grid, lengths: Any) -> Grid:
    if lengths is not None:
        raise ParameterError(
            "lengths is given, but X is no padded (N, T, D) array",
            "Only padded series need lengths",
            "Leave lengths out",
        )
    return grid


def _read_table(X: Any, restore: Callable[[np.ndarray], Any]) -> Grid:
    plain = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray)
    plain = plain and X.dtype.kind in "fiub" and X.ndim == 2 and X.size > 0
    if plain and not (X.dtype.kind == "f" and np.isinf(X).any()):
        # Taken as it is: MNIST in uint8 would take eight times the memory as float64.
        present = ~np.isnan(X) if X.dtype.kind == "f" else np.ones(X.shape, bool)
        names = [str(j) for j in range(X.shape[1])]
        return Grid(names, False, X, present, np.array([len(X)]), restore)
    table = read_columns(X)
    present = np.column_stack([pd.notna(one) for one in table.arrays])
    whole = np.array([table.n_rows])
    return Grid(table.names, table.named, table.arrays, present, whole, restore)


def _read_padded(X: np.ndarray, lengths: Any) -> Grid:
    n, steps, _ = X.shape
    if lengths is None:
        grid = _read_table(X.reshape(n * steps, -1), lambda mask: mask.reshape(X.shape))
        return _in_series(grid, np.full(n, steps))
    try:
        length = np.asarray(lengths)
        good = length.shape == (n,) and length.dtype.kind in "iu"
        good = good and bool(((length >= 1) & (length <= steps)).all())
    except (ValueError, TypeError):
        good = False
    if not good:
        raise ParameterError(
            "lengths does not fit X",
            f"It must hold {n} whole numbers from 1 to {steps}, one a series",
            "Pass the number of steps of each series",
        )
    valid = np.arange(steps) < length[:, None]

    def restore(mask: np.ndarray) -> np.ndarray:
        back = np.zeros(X.shape, bool)
        back[valid] = mask
        return back

    return _in_series(_read_table(X[valid], restore), length)


def _read_list(X: Sequence[Any], lengths: Any) -> Grid:
    shapes = [tuple(getattr(one, "shape", ())) for one in X]
    odd = next((i for i, one in enumerate(shapes) if len(one) != 2 or not one[0]), None)
    if odd is not None or len({one[1] for one in shapes}) > 1:
        at = odd if odd is not None else [one[1] != shapes[0][1] for one in shapes].index(True)
        raise InputError(
            f"series {at} has shape {shapes[at]}, series 0 has {shapes[0]}",
            "All series must be (steps, channels) with at least one step and the same channels",
            "Drop empty series, and fill absent channels with NaN",
        )
    frames = [is_polars(one) or isinstance(one, pd.DataFrame) for one in X]
    if any(frames):
        if not all(isinstance(one, pd.DataFrame) for one in X):
            raise InputTypeError(
                "X mixes kinds of series",
                "Series must all be arrays, or all be pandas frames",
                "Turn them into one kind",
            )
        if any(list(one.columns) != list(X[0].columns) for one in X):
            raise InputError(
                "the series have different column names",
                "All series must have the same columns in the same order",
                "Reindex them: [one[names] for one in X]",
            )
        joined: Any = pd.concat(list(X), ignore_index=True)
    else:
        joined = np.concatenate([np.asarray(one) for one in X])
    length = np.array([one[0] for one in shapes])
    ends = np.cumsum(length)[:-1]
    grid = _read_table(joined, lambda mask: np.split(mask, ends))
    return _in_series(_no_lengths(grid, lengths), length)


def _in_series(grid: Grid, lengths: np.ndarray) -> Grid:
    return Grid(grid.names, grid.named, grid.columns, grid.present, lengths, grid.restore)
