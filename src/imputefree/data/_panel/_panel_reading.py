"""The one front door for series: arrays, lists and frames become a `Panel` of steps.

Padding is never guessed and nothing is filled in: a series has the steps it came with, at the
times it came with, and a value that is not there stays missing. Values themselves are read by
`read_columns`, as those of tables are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, InputTypeError
from .._columns import is_polars, read_columns
from ._container import Panel, first_steps
from ._panel_arrays import as_cube, read_array
from ._panel_clock import hours, stamp_text
from ._panel_kinds import (
    ARRAY,
    INDEXED,
    LIST,
    LONG,
    NESTED,
    PAIRS,
    check_columns,
    check_options,
    frame_kind,
)
from ._panel_layout import PLAIN, Layout, check_layout
from ._panel_lists import read_list, read_nested
from ._panel_long import read_indexed, read_long
from ._panel_pairs import read_pairs
from ._panel_rows import Read
from ._panel_statics import read_static
from ._panel_times import given_times


def read_panel(
    X: Any, layout: Layout = PLAIN, *, lengths: Any = None, times: Any = None, static: Any = None
) -> Panel:
    """Take series of any format apart, or raise an InputError that says what is wrong and where.

    Parameters
    ----------
    X : one of
        a 3D array (N, T, D), or (N, D, T) with `axes="ndt"`;
        a list of (T_i, D) arrays or frames, or of (T_i,) single columns;
        a long pandas or polars frame with `layout.id`, rows in any order;
        such a frame of (variable, value) pairs, with `layout.variable` and `layout.value`;
        a pandas frame indexed by (id, time);
        a pandas frame with a pd.Series in each cell.
    layout : which columns or axes mean what
    lengths : (N,) real steps of each series of a 3D array; the rest is padding, never looked at
    times : (T,), (N, T) or a list of (T_i,), for arrays and lists. Without it they are 0, 1, 2, …,
        or the index of pandas members where that holds dates or fractions
    static : table of static columns; a frame whose index or id column holds the ids, or, for
        series without ids, any table with one row a series

    Examples
    --------
    >>> panel = read_panel(np.array([[[1.0], [2.0]], [[3.0], [np.inf]]]), lengths=[2, 1])
    >>> panel.steps.arrays, panel.lengths, panel.times
    ([array([1., 2., 3.])], array([2, 1]), array([0., 1., 0.]))
    """
    check_layout(layout)
    if is_polars(X) and type(X).__name__ != "DataFrame":
        raise InputTypeError(
            f"X is a polars {type(X).__name__}",
            "Series come as arrays, lists or DataFrames",
            "Call .collect() on a LazyFrame, .to_frame() on a Series",
        )
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = list(X)  # how NumPy stores series of unequal length
    if isinstance(X, pd.DataFrame) or is_polars(X):
        kind = frame_kind(X, layout)
        check_columns(X, layout, kind)
    elif isinstance(X, list | tuple):
        kind = LIST
    else:
        X, kind = as_cube(X), ARRAY
    check_options(kind, layout, lengths, times, static)
    if kind == ARRAY:
        read = read_array(X, layout.axes, lengths)
    elif kind == LIST:
        read = read_list(X)
    else:
        readers = {NESTED: read_nested, LONG: read_long, INDEXED: read_indexed, PAIRS: read_pairs}
        read = readers[kind](X, layout)
    if times is not None:
        read.stamps = given_times(times, read)
    layout = replace(layout, lengths=lengths is not None, times=times is not None)
    panel = _in_order(read, layout, kind)
    if static is None:
        return panel
    return replace(panel, statics=read_static(static, panel, layout))


def _in_order(read: Read, layout: Layout, kind: str) -> Panel:
    """Sort rows into steps, series after series, and let their times count."""
    keys = (read.series,) if read.stamps is None else (read.stamps, read.series)
    # Rows of arrays and lists are in order by position: a time that goes back is an error there.
    order = np.lexsort(keys) if read.keyed else np.arange(len(read.series))
    lengths = np.bincount(read.series, minlength=len(read.ids))
    first = first_steps(lengths)
    starts, series = None, np.repeat(np.arange(len(lengths)), lengths)
    if read.stamps is None:
        times = (np.arange(len(order)) - first[series]).astype(np.float64)
    else:
        stamps = times = read.stamps[order]
        if stamps.dtype.kind == "M":
            starts = stamps[first]
            times = hours(stamps - starts[series])
        elif stamps.dtype.kind == "m":
            times = hours(stamps)
        behind = np.flatnonzero((times[1:] <= times[:-1]) & (series[1:] == series[:-1]))
        if len(behind):
            raise _order_error(read, layout, order[behind[0]], order[behind[0] + 1])
    steps = read_columns(read.table, read.place)
    if not np.array_equal(order, np.arange(len(order))):
        steps = steps.rows(order)
    apart = {name: values[order] for name, values in read.apart.items()}
    width = read.width or int(lengths.max())
    return Panel(
        *(steps, lengths, times, read.statics, read.ids, read.keyed, order, apart),
        *(read.by_row, width, starts, layout, kind),
        sorted_ids=not read.keyed or _is_sorted(read.ids),
        timed=read.stamps is not None,
    )


def _is_sorted(ids: np.ndarray) -> bool:
    listed = ids.tolist()
    try:
        return listed == sorted(listed)
    except TypeError:  # ids of mixed types have no order
        return False


def _order_error(read: Read, layout: Layout, one: int, other: int) -> InputError:
    assert read.stamps is not None
    before, after = (stamp_text(read.stamps[row]) for row in (one, other))
    if not read.keyed:
        return InputError(
            f"the times of {read.place(other)} do not increase: {after} comes after {before}",
            "Times must be strictly increasing within a series",
            "Sort the steps of each series by time, and merge steps of equal time",
        )
    by = "level=[0, 1]" if layout.id is None else f"[{layout.id!r}, {layout.time!r}]"
    pandas = isinstance(read.table, pd.DataFrame)
    groupby, numeric = ("groupby", "numeric_only=True") if pandas else ("group_by", "")  # polars
    back = ".reset_index()" if pandas and layout.id is not None else ""
    return InputError(
        f"id {read.ids[read.series[one]]!r} has two rows at time {after} (rows {one} and {other})",
        "A series has one row a time stamp",
        f"Merge them first, for example with X.{groupby}({by}).mean({numeric}){back}",
    )
