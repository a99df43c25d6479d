"""Series from a 3D array, a list of arrays or frames, or the cells of a nested frame."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError, listed
from ._columns import as_values, is_polars, read_columns
from ._panel_frames import column, constant_columns, label_column, names_of, plain
from ._series_rows import Layout, Rows, read_stamps, refuse_no_values, stack


def as_cube(X: Any) -> np.ndarray:
    """X as an array of three axes."""
    if X is None or isinstance(X, str | bytes | dict | set | pd.Series | pd.Index):
        rule = "Series come as a 3D array, a list of (steps, columns) arrays, or a frame with ids"
        raise InputTypeError(f"X is a {type(X).__name__}", rule, "Pass X as one of these")
    array = as_values(X)
    if array.ndim != 3:
        raise InputError(
            f"X is a {array.ndim}D array of shape {array.shape}",
            "Arrays of series are 3D: (series, steps, columns)",
            "Pass X[None] for a single series, a list of (steps, columns) arrays, or a frame with"
            " id=; for a table of independent rows use GILClassifier or GILRegressor",
        )
    return array


def read_array(X: np.ndarray, axes: str, lengths: Any) -> Rows:
    """(N, T, D), or (N, D, T) for "ndt"; what lies beyond `lengths` (N,) is never looked at."""
    array = X.transpose(0, 2, 1) if axes == "ndt" else X
    n, width, n_columns = array.shape
    if lengths is None:
        table, counts = array.reshape(n * width, n_columns), np.full(n, width)
    else:
        counts = _read_lengths(lengths, n, width)
        table = array[np.arange(width) < counts[:, None]]
    series, ids = _numbered(counts)
    return Rows(table, series, ids, False, width=width)


def _numbered(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each step the number of its series (S,), and 0 … n-1 as ids (n,) of series without."""
    n = len(lengths)
    if not lengths.all():
        fact = f"series {int(np.argmin(lengths))} is empty (it has 0 steps)"
        rule = "A series has at least one step (its values may all be missing)"
        raise InputError(fact, rule, "Drop empty series, and their labels")
    return np.repeat(np.arange(n), lengths), np.arange(n).astype(object)


def _read_lengths(lengths: Any, n: int, width: int) -> np.ndarray:
    counts, rule = as_values(lengths, "lengths"), f"It must be one whole number per series: ({n},)"
    if counts.shape != (n,):
        remedy = "Check how the series were selected"
        raise InputError(f"lengths has shape {counts.shape}", rule, remedy)
    if counts.dtype == object:  # nullable integers, or lists of them
        counts = read_columns(counts[:, None]).arrays[0]
    if counts.dtype.kind not in "iuf" or not (counts == np.round(counts)).all():
        fact = f"lengths holds {counts.dtype} values that are not whole numbers"
        raise InputError(fact, rule, "Count the real steps of each series")
    outside = np.flatnonzero((counts < 1) | (counts > width))
    if len(outside):
        raise InputError(
            f"lengths holds {counts[outside[0]]:g} for series {outside[0]}",
            f"A series has from 1 to {width} steps here: X has room for {width}",
            "Drop series without a step; check lengths against the time axis of X",
        )
    return counts.astype(np.int64)


def read_list(X: Sequence[Any]) -> Rows:
    """A list of (T_i, D) arrays, nested lists, (T_i,) single columns, or frames matched by name.

    Dates or fractions that index pandas members are their times; whole numbers are row labels.
    """
    kinds = [_kind(member) for member in X]  # only members of one kind can be stacked
    for i, kind in enumerate(kinds):
        if kind != kinds[0]:
            rule = "Series of a list must be of one kind, so that columns can be matched"
            remedy = "Convert all of them to frames, or all of them to arrays"
            raise InputTypeError(f"series {i} is {kind} while series 0 is {kinds[0]}", rule, remedy)
    arrays = kinds[0] == "an array"
    members = [_member_array(member, i) if arrays else member for i, member in enumerate(X)]
    series, ids = _numbered(np.array([len(member) for member in members]))
    table = _stack_arrays(members) if arrays else _stack_frames(members)
    stamps = None
    if all(isinstance(member, pd.DataFrame | pd.Series) for member in X):
        stamps = _index_times([member.index for member in X], series, ids)
    return Rows(table, series, ids, False, stamps)


def _kind(member: Any) -> str:
    if isinstance(member, pd.DataFrame):
        return "a pandas DataFrame"
    polars = is_polars(member) and type(member).__name__ == "DataFrame"
    return "a polars DataFrame" if polars else "an array"


def _member_array(member: Any, i: int) -> np.ndarray:
    """One series as (T_i, D)."""
    array = as_values(plain(member) if isinstance(member, pd.Series) else member, f"series {i}")
    if array.ndim not in (1, 2):
        form = f"{array.ndim}D" if array.ndim else f"a {type(member).__name__}"
        rule = "A series is (steps, columns), or (steps,) for a single column"
        remedy = "Pass a list of 2D arrays, or one 3D array (series, steps, columns)"
        raise InputError(f"series {i} of the list is {form}", rule, remedy)
    return array[:, None] if array.ndim == 1 else array


def _stack_arrays(members: list[np.ndarray]) -> np.ndarray:
    widths = [member.shape[1] for member in members]
    for i, width in enumerate(widths):
        if width != widths[0]:
            fact = f"series {i} has {width} columns while series 0 has {widths[0]}"
            remedy = "Add the columns it lacks (all NaN is allowed), or pass frames with names"
            raise InputError(fact, "All series must have the same columns", remedy)
    return stack(members)


def _stack_frames(members: list[Any]) -> Any:
    """One frame below the other, columns in the order of the first."""
    names, polars = names_of(members[0]), is_polars(members[0])
    for i, member in enumerate(members):
        if list(member.columns) == list(members[0].columns):
            continue
        others = names_of(member)
        missing = [name for name in names if name not in others]
        extra = [name for name in others if name not in names]
        if missing or extra or len(others) != len(names):
            raise InputError(
                f"series {i} has other columns than series 0: "
                + listed(("missing", missing), ("not in series 0", extra)),
                "All series must have the same columns (their order does not matter)",
                "Rename, add (all NaN is allowed) or drop the columns named above",
            )
        members[i] = member.select(names) if polars else member[list(members[0].columns)]
    if not polars:
        with warnings.catch_warnings():  # of pandas 2, on columns that are all missing in some
            warnings.simplefilter("ignore", FutureWarning)
            frame = pd.concat(members, ignore_index=True)
        for name, dtype in members[0].dtypes.items():  # concat forgets categories that differ
            if isinstance(dtype, pd.CategoricalDtype) and frame[name].dtype != dtype:
                frame[name] = frame[name].astype("category")
        return frame
    import polars as pl

    try:
        return pl.concat(members, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        odd = next(i for i, member in enumerate(members) if member.schema != members[0].schema)
        fact = f"series {odd} has columns of other types than series 0 ({error})"
        remedy = "Cast the columns, for example with .cast(pl.Float64)"
        raise InputTypeError(fact, "A column must be of one type in all series", remedy) from None


def read_nested(X: pd.DataFrame, layout: Layout) -> Rows:
    """A frame with one row per series and a pd.Series in each cell (sktime's nested_univ)."""
    names = [name for name in X.columns if str(name) not in {*layout.static, *layout.apart}]
    refuse_no_values(names, names_of(X))
    table, first = {}, column(X, str(names[0])).tolist()
    for name in names:
        cells = column(X, str(name)).tolist()
        for i, (cell, other) in enumerate(zip(cells, first, strict=True)):
            if not isinstance(cell, pd.Series):
                raise InputTypeError(
                    f"column {name!r} of series {i} holds a value of type {type(cell).__name__}",
                    "In a nested frame all cells are pd.Series, except in static columns",
                    f"Name the column in static=, or drop it: X.drop(columns=[{name!r}])",
                )
            if len(cell) != len(other):
                raise InputError(
                    f"series {i} has {len(cell)} steps in column {name!r} and {len(other)} in"
                    f" {names[0]!r}",
                    "The columns of one series must be of equal length",
                    "Put NaN where a column has no value",
                )
            if _holds_times(cell.index) and not cell.index.equals(other.index):
                fact = f"series {i} has other times in column {name!r} than in {names[0]!r}"
                remedy = "Reindex the cells of each row to common times, with NaN for gaps"
                raise InputError(fact, "The columns of one series share their times", remedy)
        table[name] = stack([cell.to_numpy() for cell in cells])
    series, ids = _numbered(np.array([len(cell) for cell in first]))
    statics = constant_columns(X, layout.static, np.arange(len(X)), ids, "series")
    apart = {name: label_column(X, name, "series {}".format)[series] for name in layout.apart}
    stamps = _index_times([cell.index for cell in first], series, ids)
    return Rows(pd.DataFrame(table, copy=False), series, ids, False, stamps, statics, apart)


def _index_times(indices: list[Any], series: np.ndarray, ids: np.ndarray) -> np.ndarray | None:
    """The times that members bring as their index, one stamp per step (S,); None: no times."""
    timed = [_holds_times(index) for index in indices]
    if not any(timed):
        return None
    if not all(timed):
        raise InputError(
            f"series {timed.index(False)} has no times as its index while series"
            f" {timed.index(True)} has",
            "Either all series bring their times as index, or none",
            "Set the index of all of them, or pass times=",
        )
    place = Rows(None, series, ids, False).place
    return read_stamps(indices[0].append(indices[1:]), "the index", place)


def _holds_times(index: pd.Index) -> bool:
    """Dates and fractions are times; whole numbers and strings may be just labels of rows."""
    return index.dtype.kind in "mMf" or isinstance(index, pd.PeriodIndex)
