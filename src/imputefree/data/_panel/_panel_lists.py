"""Series one by one: as a list of arrays or frames, or as the cells of a nested frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, InputTypeError
from ._panel_frames import column, count_ids, label_column, names_of
from ._panel_layout import Layout
from ._panel_members import member_array, member_kind, stack, stack_frames
from ._panel_rows import Read, empty_series, no_values, refuse_no_series
from ._panel_statics import constant_columns
from ._panel_times import index_stamps, is_clock


def read_list(X: Sequence[Any]) -> Read:
    """A list of (T_i, D) arrays, nested lists, (T_i,) single columns, or frames matched by name.

    Dates or fractions that index pandas members are their times; whole numbers are row labels.
    """
    n = len(X)
    refuse_no_series(n)
    kinds = [member_kind(member) for member in X]
    for i, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise InputTypeError(
                f"series {i} is {kind} while series 0 is {kinds[0]}",
                "Series of a list must be of one kind, so that columns can be matched",
                "Convert all of them to frames, or all of them to arrays",
            )
    members: list[Any] = list(X)
    if kinds[0] == "an array":
        members = [member_array(member, i) for i, member in enumerate(X)]
    lengths = np.array([len(member) for member in members])
    if not lengths.all():
        raise empty_series(int(np.argmin(lengths)))
    series, stamps = np.repeat(np.arange(n), lengths), None
    if kinds[0] == "an array":
        for i, member in enumerate(members):
            if member.shape[1] != members[0].shape[1]:
                raise InputError(
                    f"series {i} has {member.shape[1]} columns while series 0 has"
                    f" {members[0].shape[1]}",
                    "All series must have the same columns",
                    "Add the columns it lacks (all NaN is allowed), or pass frames with names",
                )
        table: Any = stack(members)
    else:
        table = stack_frames(members, polars=kinds[0] == "a polars DataFrame")
    if all(isinstance(member, pd.DataFrame | pd.Series) for member in X):
        stamps = index_stamps([member.index for member in X], series)
    return Read(table, series, count_ids(n), False, stamps)


def read_nested(X: pd.DataFrame, layout: Layout) -> Read:
    """A frame with one row a series and a pd.Series in each cell (sktime's nested_univ)."""
    n = len(X)
    refuse_no_series(n)
    names = [name for name in X.columns if str(name) not in {*layout.static, *layout.apart}]
    if not names:
        raise no_values(names_of(X))
    table: dict[Any, np.ndarray] = {}
    for name in names:
        cells = column(X, str(name)).tolist()
        for i, cell in enumerate(cells):
            if not isinstance(cell, pd.Series):
                raise InputTypeError(
                    f"column {name!r} of series {i} holds a value of type {type(cell).__name__}",
                    "In a nested frame all cells are pd.Series, besides static columns",
                    f"Name the column in static=, or drop it: X.drop(columns=[{name!r}])",
                )
        arrays, index = [cell.to_numpy() for cell in cells], [cell.index for cell in cells]
        counts = np.array([len(array) for array in arrays])
        if not table:
            lengths, indices = counts, index
        if (differ := np.flatnonzero(counts != lengths)).size:
            i = int(differ[0])
            raise InputError(
                f"series {i} has {counts[i]} steps in column {name!r} and {lengths[i]} in"
                f" {names[0]!r}",
                "The columns of one series must be of equal length",
                "Put NaN where a column has no value",
            )
        for i, (own, first) in enumerate(zip(index, indices, strict=True)):
            if is_clock(own) and not own.equals(first):
                raise InputError(
                    f"series {i} has other times in column {name!r} than in {names[0]!r}",
                    "The columns of one series share their times",
                    "Reindex the cells of each row to common times, with NaN for gaps",
                )
        table[name] = stack(arrays)
    if not lengths.all():
        raise empty_series(int(np.argmin(lengths)))
    series, ids = np.repeat(np.arange(n), lengths), count_ids(n)
    statics = constant_columns(X, layout.static, np.arange(n), ids, "series")
    apart = {name: label_column(X, name, "series {}".format)[series] for name in layout.apart}
    stamps = index_stamps(indices, series)
    frame = pd.DataFrame(table, copy=False)
    return Read(frame, series, ids, False, stamps, statics, apart)
