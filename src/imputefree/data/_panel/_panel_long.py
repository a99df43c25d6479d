"""Frames with one row a step, whose ids and times are columns or levels of the index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._panel_clock import clock
from ._panel_frames import by_id, column, label_column, names_of, number_ids, select
from ._panel_layout import Layout
from ._panel_rows import Read, no_values, refuse_no_series
from ._panel_statics import constant_columns


def read_long(X: Any, layout: Layout) -> Read:
    """A pandas or polars frame with one row a step and a column of ids; rows in any order."""
    refuse_no_series(len(X))
    series, ids = number_ids(column(X, str(layout.id)), f"id column {layout.id!r}")
    stamps = None
    if layout.time is not None:
        stamps = clock(column(X, layout.time), f"time column {layout.time!r}", by_id(series, ids))
    return _read_keyed(X, layout, series, ids, stamps)


def read_indexed(X: pd.DataFrame, layout: Layout) -> Read:
    """A pandas frame with a two-level index (id, time), as sktime's pd-multiindex."""
    refuse_no_series(len(X))
    series, ids = number_ids(X.index.get_level_values(0), "level 0 of the index (the ids)")
    label, times = "level 1 of the index (the times)", X.index.get_level_values(1)
    return _read_keyed(X, layout, series, ids, clock(times, label, by_id(series, ids)))


def _read_keyed(
    X: Any, layout: Layout, series: np.ndarray, ids: np.ndarray, stamps: np.ndarray | None
) -> Read:
    roles = {layout.id, layout.time, *layout.static, *layout.apart}
    values = [name for name in names_of(X) if name not in roles]
    if not values:
        raise no_values(names_of(X))
    statics = constant_columns(X, layout.static, series, ids)
    apart = {name: label_column(X, name, by_id(series, ids)) for name in layout.apart}
    return Read(select(X, values), series, ids, True, stamps, statics, apart)
