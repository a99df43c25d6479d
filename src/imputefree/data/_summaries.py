"""Summaries of series: a few numbers per column, or only when it was measured.

One row per series, or one per step that knows no later step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ._columns import Columns
from ._panel import Panel
from ._series_rows import first_steps

STATIC = " (static)"
LARGEST = np.finfo(np.float64).max
NUMBERS_ONLY = ("mean of", "min of", "max of", "std of", "change of")
EXTENT = ("observations", "steps", "duration")
WINDOWS = (1, 2, 4, 8, 16)  # steps at both ends of a series in which observations are counted
ACTIVITY = (
    "steps with observations",
    "most observations in a step",
    *(f"observations in the {end} {steps}" for end in ("first", "last") for steps in WINDOWS),
)
ABOUT_GAPS = ("count of ", "first time of ", "time since ")  # not about values
KINDS = (*NUMBERS_ONLY, "count of", "first of", "last of", "first time of", "time since")


def summarise(panel: Panel) -> Columns:
    """Series as rows of a table.

    First all means, then all minima and so on: mean, min, max, std, last minus first, count, first,
    last, the time from the start of the series to the first observation, and from the last
    observation to the end; NaN where nothing was measured. Strings have no mean, min, max, std and
    change. Then how observations of all columns spread over the steps: how many steps have any, the
    most in one step, and how many are in the first and last 1, 2, 4, 8 and 16 steps; the number of
    observations in all, of steps, the duration and the static columns. Times are those of the panel
    (steps, if it has none).

    >>> from imputefree.data import read_panel
    >>> table = summarise(read_panel([[[1.0], [3.0], [np.nan]], [[np.nan]]]))
    >>> dict(table.items())["mean of 0"]
    array([ 2., nan])
    >>> table.names[-3:]
    ['observations', 'steps', 'duration']
    """
    series, n = panel.series, panel.n_rows
    starts, ends = first_steps(panel.lengths), np.cumsum(panel.lengths) - 1
    parts: dict[str, dict[str, np.ndarray]] = {kind: {} for kind in KINDS}
    in_step = np.zeros(len(series))
    for name, array in panel.steps.items():
        seen = ~pd.isna(array)
        in_step += seen
        count = np.bincount(series[seen], minlength=n)
        first, last = _ends(panel, seen)
        summary = {"first of": array[first], "last of": array[last]}
        with np.errstate(over="ignore"):
            summary["first time of"] = panel.times[first] - panel.times[starts]
            summary["time since"] = panel.times[ends] - panel.times[last]
            if array.dtype != object:
                summary["change of"] = array[last] - array[first]
                summary |= _moments(array[seen], series[seen], count)
        parts["count of"][f"count of {name}"] = count.astype(np.float64)
        for kind, values in summary.items():
            gap: Any = None if values.dtype == object else np.nan
            parts[kind][f"{kind} {name}"] = np.where(count > 0, finite(values), gap)
    columns = {name: values for part in parts.values() for name, values in part.items()}
    columns |= _activity(panel, in_step)
    columns["observations"] = np.sum(list(parts["count of"].values()), axis=0)
    columns["steps"] = panel.lengths.astype(np.float64)
    with np.errstate(over="ignore"):
        columns["duration"] = finite(panel.times[ends] - panel.times[starts])
    statics = static_columns(panel, lambda values: values)
    return summary_table(columns | statics, panel.statics.declared if panel.statics else [])


def without_gap_summaries(table: Columns) -> Columns:
    """Summaries of values only: without how often and when they were observed."""
    activity = {"observations", *ACTIVITY}
    about_gaps = [
        name in activity or (name.startswith(ABOUT_GAPS) and not name.endswith(STATIC))
        for name in table.names
    ]
    return table.pick([n for n, about in zip(table.names, about_gaps, strict=True) if not about])


def summarise_mask(panel: Panel) -> Columns:
    """When each column was measured, without any value; series as rows of a table.

    First all shares of steps with an observation, then all times of the first and of the last
    observation, counted from the start of the series (if there is none: 1 after the end, and 1
    before the start); then steps and duration, and which static columns are known.

    >>> from imputefree.data import read_panel
    >>> table = summarise_mask(read_panel([[[1.0], [3.0], [np.nan]], [[np.nan]]]))
    >>> table.names[:3], table.arrays[1:3]
    (['share of 0', 'first of 0', 'last of 0'], [array([0., 1.]), array([ 1., -1.])])
    """
    start = first_steps(panel.lengths)
    duration = panel.times[np.cumsum(panel.lengths) - 1] - panel.times[start]
    shares, firsts, lasts = {}, {}, {}
    for name, array in panel.steps.items():
        seen = ~pd.isna(array)
        count = np.bincount(panel.series[seen], minlength=panel.n_rows)
        first, last = (panel.times[at] - panel.times[start] for at in _ends(panel, seen))
        shares[f"share of {name}"] = count / panel.lengths
        firsts[f"first of {name}"] = finite(np.where(count > 0, first, duration + 1))
        lasts[f"last of {name}"] = finite(np.where(count > 0, last, -1.0))
    extent = {"steps": panel.lengths.astype(np.float64), "duration": finite(duration)}
    known = static_columns(panel, lambda values: (~pd.isna(values)).astype(np.float64))
    return summary_table(shares | firsts | lasts | extent | known)


def summary_table(columns: dict[str, np.ndarray], declared: Sequence[bool] = ()) -> Columns:
    """Columns by name; `declared` says of the last ones whether they are categories."""
    arrays = list(columns.values())
    categories = [False] * (len(columns) - len(declared)) + list(declared)
    return Columns(list(columns), True, arrays, categories, len(arrays[0]))


def _ends(panel: Panel, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last seen step of each series, or any step if there is none; (n,)."""
    step, start = np.arange(len(seen)), first_steps(panel.lengths)
    first = np.minimum.reduceat(np.where(seen, step, len(seen) - 1), start)
    last = np.maximum.reduceat(np.where(seen, step, 0), start)
    return first, last


def _activity(panel: Panel, in_step: np.ndarray) -> dict[str, np.ndarray]:
    """How observations spread over the steps of each series; in_step (S,) counts them."""
    ends = np.cumsum(panel.lengths)
    starts = ends - panel.lengths
    before = np.append(0.0, np.cumsum(in_step))
    parts = [np.add.reduceat((in_step > 0).astype(np.float64), starts)]
    parts.append(np.maximum.reduceat(in_step, starts))
    parts += [before[np.minimum(starts + steps, ends)] - before[starts] for steps in WINDOWS]
    parts += [before[ends] - before[np.maximum(ends - steps, starts)] for steps in WINDOWS]
    return dict(zip(ACTIVITY, parts, strict=True))


def _moments(values: np.ndarray, series: np.ndarray, count: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, minimum, maximum and standard deviation within each series; (n,) each."""
    n = len(count)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    held = count > 0
    if len(values):
        start = first_steps(count)[held]
        low[held] = np.minimum.reduceat(values, start)
        high[held] = np.maximum.reduceat(values, start)
    with np.errstate(over="ignore"):  # finite values of 1e308 have no finite sum
        mean = finite(np.bincount(series, values, n) / np.maximum(count, 1))
        mean = np.where(low == high, low, mean)  # without rounding: the spread is then exactly 0
        variance = np.bincount(series, (values - mean[series]) ** 2, n) / np.maximum(count, 1)
    return {"mean of": mean, "min of": low, "max of": high, "std of": np.sqrt(variance)}


def finite(values: np.ndarray) -> np.ndarray:
    """Numbers as float64 without infinities; strings as they are."""
    if values.dtype == object:
        return values
    return np.clip(values.astype(np.float64), -LARGEST, LARGEST)


def static_columns(panel: Panel, show: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    """Static columns, one row per series, by names that no summary has."""
    if panel.statics is None:
        return {}
    return {f"{name}{STATIC}": show(array) for name, array in panel.statics.items()}


def summarise_steps(panel: Panel) -> Columns:
    """Steps as rows of a table, (S, ·): what is known of their series by then.

    Per column the last value, the mean, the extremes, the number of values and the time since the
    last one; NaN before the first. Strings have no mean and no extremes. Then the number of steps,
    the duration and the static columns. Times are those of the panel (steps, if it has none).

    >>> from imputefree.data import read_panel
    >>> table = summarise_steps(read_panel([[[1.0], [np.nan], [4.0]], [[np.nan], [3.0]]]))
    >>> dict(table.items())["max of 0"]
    array([ 1.,  1.,  4., nan,  3.])
    """
    series = panel.series
    columns: dict[str, np.ndarray] = {}
    for name, array in panel.steps.items():
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
    more than the duration); then as for `summarise_steps`, where static columns are replaced by
    whether they are known.
    """
    columns, extent = {}, _extent(panel)
    for name, array in panel.steps.items():
        seen = ~pd.isna(array)
        since = _time_since(panel, seen)
        count = pd.Series(seen).groupby(panel.series).cumsum().to_numpy()
        columns[f"share of {name}"] = count / extent["steps"]
        columns[f"time since {name}"] = np.where(np.isnan(since), extent["duration"] + 1, since)
    known = static_columns(panel, lambda v: (~pd.isna(v)).astype(np.float64)[panel.series])
    return summary_table(columns | extent | known)


def _extent(panel: Panel) -> dict[str, np.ndarray]:
    """The number of steps so far, and the time since the first; (S,) each."""
    begins = panel.begins
    with np.errstate(over="ignore"):
        duration = finite(panel.times - panel.times[begins])
    return {"steps": np.arange(len(begins)) - begins + 1.0, "duration": duration}


def _time_since(panel: Panel, seen: np.ndarray) -> np.ndarray:
    """Time since the last seen step of the series, NaN before the first; seen (S,) -> (S,)."""
    times = pd.Series(np.where(seen, panel.times, np.nan))
    with np.errstate(over="ignore"):
        return finite(panel.times - times.groupby(panel.series).ffill().to_numpy())
