"""Summarise series up to each of their steps: one row per step, which knows no later one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._columns import Columns
from ._panel import Panel
from ._series_rows import first_steps
from ._summaries import finite, static_columns, summary_table


def summarise_steps(panel: Panel) -> Columns:
    """Steps as rows of a table, (S, ·): what is known of their series by then.

    Per column the last value, the mean, the extremes, the number of values and the time since the
    last one; NaN before the first. Strings have no mean and no extremes. Then the number of steps,
    the duration and the static columns. Times are those of the panel (steps, if it has none).

    >>> from imputefree.data import read_panel
    >>> table = summarise_steps(read_panel([[[1.0], [np.nan], [4.0]], [[np.nan], [3.0]]]))
    >>> dict(zip(table.names, table.arrays))["max of 0"]
    array([ 1.,  1.,  4., nan,  3.])
    """
    series = panel.series
    columns: dict[str, np.ndarray] = {}
    for name, array in zip(panel.steps.names, panel.steps.arrays, strict=True):
        seen, values = ~pd.isna(array), pd.Series(array)
        by = values.groupby(series)
        count = pd.Series(seen).groupby(series).cumsum().to_numpy(dtype=np.float64)
        last: Any = by.ffill().to_numpy()
        columns[f"last of {name}"] = last
        if array.dtype == object:
            last[pd.isna(last)] = None
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                total = values.fillna(0.0).groupby(series).cumsum().to_numpy()
                columns[f"mean of {name}"] = finite(np.where(count > 0, total, np.nan) / count)
            for kind, running in (("min", by.cummin()), ("max", by.cummax())):
                columns[f"{kind} of {name}"] = running.groupby(series).ffill().to_numpy()
        columns[f"count of {name}"] = count
        columns[f"time since {name}"] = _time_since(panel, seen)
    statics = static_columns(panel, lambda values: values[series])
    declared = panel.statics.declared if panel.statics else []
    return summary_table(columns | _extent(panel) | statics, declared)


def summarise_mask_steps(panel: Panel) -> Columns:
    """When each column was measured up to each step, without any value; (S, ·).

    Per column the share of steps with a value, and the time since the last one (if there is none: 1
    more than the duration); then as for `summarise_steps`, where of static columns it is told
    whether they are known.
    """
    columns, extent = {}, _extent(panel)
    for name, array in zip(panel.steps.names, panel.steps.arrays, strict=True):
        seen = ~pd.isna(array)
        since = _time_since(panel, seen)
        count = pd.Series(seen).groupby(panel.series).cumsum().to_numpy()
        columns[f"share of {name}"] = count / extent["steps"]
        columns[f"time since {name}"] = np.where(np.isnan(since), extent["duration"] + 1, since)
    known = static_columns(panel, lambda v: (~pd.isna(v)).astype(np.float64)[panel.series])
    return summary_table(columns | extent | known)


def _extent(panel: Panel) -> dict[str, np.ndarray]:
    """The number of steps so far, and the time since the first; (S,) each."""
    start = np.repeat(first_steps(panel.lengths), panel.lengths)
    with np.errstate(over="ignore"):
        duration = finite(panel.times - panel.times[start])
    return {"steps": np.arange(len(start)) - start + 1.0, "duration": duration}


def _time_since(panel: Panel, seen: np.ndarray) -> np.ndarray:
    """Time since the last seen step of the series, NaN before the first; seen (S,) -> (S,)."""
    times = pd.Series(np.where(seen, panel.times, np.nan))
    with np.errstate(over="ignore"):
        return finite(panel.times - times.groupby(panel.series).ffill().to_numpy())
