"""What is constant: static columns of a frame, the table of static=, one value a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, shorten
from .._columns import Columns, read_columns
from ._container import Panel
from ._panel_frames import column, match_ids, names_of, select
from ._panel_layout import Layout


def constant_columns(
    X: Any, names: Sequence[str], series: np.ndarray, ids: np.ndarray, owner: str = "id"
) -> Columns | None:
    """Static columns of a frame, one row a series: the one known value of each."""
    if not names:
        return None
    columns = read_columns(
        select(X, names), lambda row: f"static values of {owner} {ids[series[row]]!r}"
    )
    arrays = []
    for name, array in zip(columns.names, columns.arrays, strict=True):

        def conflict(row: int, one: Any, other: Any, name: str = name) -> InputError:
            return InputError(
                f"static column {name!r} of {owner} {ids[series[row]]!r} holds {one!r} and"
                f" {other!r}",
                "A static column has one value a series (missing in some rows is fine)",
                f"Correct the rows, or leave {name!r} out of static",
            )

        arrays.append(array[first_known(array, series, len(ids), conflict)])
    return replace(columns, arrays=arrays, n_rows=len(ids))


def read_static(static: Any, panel: Panel, layout: Layout) -> Columns:
    """static= as one row a series, in the order of the series."""
    words = "id {!r}" if panel.keyed else "series {!r}"
    kept = np.arange(panel.n_rows)
    if panel.keyed:
        if layout.id is not None and layout.id in getattr(static, "columns", ()):
            keys: Any = column(static, layout.id)
            static = select(static, [name for name in names_of(static) if name != layout.id])
        elif isinstance(static, pd.DataFrame) and not _just_counts(static.index, panel):
            keys = static.index
        else:
            raise InputError(
                f"static is a {type(static).__name__} without ids while the series have ids",
                "Static rows are matched to series by id",
                "Pass a frame with the id column, or pd.DataFrame(static, index=ids)",
            )
        kept, _ = match_ids(panel.ids, keys, "static")
        if (kept < 0).any():
            raise InputError(
                f"ids without a row in static: {shorten(panel.ids[kept < 0].tolist())}",
                "Every series needs its static row (its values may be missing)",
                "Add the rows; static.reindex(ids) adds them with missing values",
            )
        static = static.iloc[kept] if isinstance(static, pd.DataFrame) else static[kept.tolist()]
    columns = read_columns(static, lambda row: f"static of {words.format(panel.ids[row])}")
    if columns.n_rows != panel.n_rows:
        raise InputError(
            f"static has {columns.n_rows} rows for {panel.n_rows} series",
            "Without ids, static has one row a series, in the order of the series",
            "Check how the series were selected",
        )
    return columns


def _just_counts(index: pd.Index, panel: Panel) -> bool:
    """A nameless 0, 1, 2, … numbers rows; that it holds some ids too would be chance."""
    counts = isinstance(index, pd.RangeIndex) and index.name is None and index.start == 0
    return counts and sorted(map(str, index)) != sorted(map(str, panel.ids))


def first_known(
    array: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    conflict: Callable[[int, Any, Any], InputError],
) -> np.ndarray:
    """For each group the row of its one known value (or its first row if none is known).

    Shapes: array (R,), groups (R,) -> (n_groups,). Two different values raise `conflict`.
    """
    first = np.zeros(n_groups, dtype=np.int64)
    rows, seen = np.arange(len(array)), np.flatnonzero(~pd.isna(array))
    for some in (rows, seen):  # backwards: of several rows of a group the last one written stays
        first[groups[some[::-1]]] = some[::-1]
    differ = np.flatnonzero(array[seen] != array[first[groups[seen]]])
    if len(differ):
        row = int(seen[differ[0]])
        one, other = (array[at : at + 1].tolist()[0] for at in (first[groups[row]], row))
        raise conflict(row, one, other)
    return first
