"""Long frames of (variable, value) pairs, pivoted to one column a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, InputTypeError, counted
from .._columns import read_columns
from ._panel_clock import clock, stamp_text
from ._panel_frames import by_id, column, label_column, number_ids, plain
from ._panel_layout import Layout
from ._panel_rows import Read, refuse_no_series
from ._panel_statics import constant_columns, first_known


def read_pairs(X: Any, layout: Layout) -> Read:
    """A frame of (variable, value) pairs; one column a variable, sorted by name, comes out."""
    refuse_no_series(len(X))
    series, ids = number_ids(column(X, str(layout.id)), f"id column {layout.id!r}")
    words = by_id(series, ids)
    stamps = clock(column(X, str(layout.time)), f"time column {layout.time!r}", words)
    variable, names = _number_variables(column(X, str(layout.variable)), layout, words)
    # A step is one (id, time). Hashing beats sorting here: pairs come by the million.
    moment, moments = pd.factorize(stamps, sort=True)
    step, keys = pd.factorize(series * len(moments) + moment, sort=True)
    cell, rows = variable * len(keys) + step, np.arange(len(X))
    row_of_cell = np.full(len(names) * len(keys), -1)
    row_of_cell[cell] = rows
    if (twice := row_of_cell[cell] != rows).any():
        row = int(twice.argmax())
        by = f"{[layout.id, layout.time, layout.variable]}"
        merged = f"groupby({by})[{layout.value!r}].mean().reset_index()"
        raise InputError(
            f"id {ids[series[row]]!r} has two values of {names[variable[row]]!r} at time"
            f" {stamp_text(stamps[row])} (rows {row} and {row_of_cell[cell[row]]})",
            "A variable has one value a time stamp",
            "Merge them first, for example with X."
            + (merged if isinstance(X, pd.DataFrame) else f"group_by({by}).mean()"),
        )
    values = plain(column(X, str(layout.value)))
    matrix = np.full((len(names), len(keys)), None if values.dtype == object else np.nan)
    matrix.reshape(-1)[cell] = values
    table = pd.DataFrame(matrix.T, columns=names)
    apart = {}
    for name in layout.apart:
        raw = label_column(X, name, words)

        def conflict(row: int, one: Any, other: Any, name: str = name) -> InputError:
            when = f"id {ids[series[row]]!r} at time {stamp_text(stamps[row])}"
            return InputError(
                f"column {name!r} of {when} holds {one!r} and {other!r}",
                "Pairs of one id and time make one step, so this column has one value there",
                "Make the column constant within each id and time",
            )

        apart[name] = raw[first_known(raw, step, len(keys), conflict)]
    statics = constant_columns(X, layout.static, series, ids)
    stamps, series = np.asarray(moments)[keys % len(moments)], keys // len(moments)
    return Read(table, series, ids, True, stamps, statics, apart, by_row=False)


def _number_variables(
    values: pd.Series, layout: Layout, place: Callable[[int], str]
) -> tuple[np.ndarray, list[str]]:
    """For each pair the number of its variable (R,), and the sorted names."""
    try:
        codes, levels = pd.factorize(values)
    except TypeError:
        raise InputTypeError(
            f"variable column {layout.variable!r} holds values such as lists",
            "A variable's name is a text or a number",
            "Convert it, for example with .astype(str)",
        ) from None
    # Only the levels are read: item 220045 and item 220045.0 are one variable, as in tables.
    level_frame = pd.DataFrame({layout.variable: pd.Series(levels).astype("category")})
    texts = read_columns(level_frame).arrays[0] if len(levels) else np.empty(0, dtype=object)
    empty = np.flatnonzero(np.append(texts == "", True)[codes])  # code -1 is the appended one
    if len(empty):
        raise InputError(
            f"variable column {layout.variable!r} is missing or empty in"
            f" {counted(len(empty), 'row')} (first: {place(int(empty[0]))})",
            "Every pair must say which variable its value belongs to",
            f"Drop these rows, for example with X.dropna(subset=[{layout.variable!r}])",
        )
    names, number = np.unique(texts.astype(str), return_inverse=True)
    return number[codes], names.tolist()
