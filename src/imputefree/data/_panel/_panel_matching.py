"""How labels find their series and steps: by id, by (id, time), or by a position that is certain.

Labels by position are taken only where the position says it all. A long frame in an order of its
own has no such position, and guessing would train on shuffled labels without a word.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, InputTypeError, listed, shorten
from .._target import as_labels
from ._container import Panel
from ._panel_clock import clock, hours, stamp_text
from ._panel_frames import match_ids
from ._panel_members import stack


def match_series(labels: np.ndarray, keys: Any, panel: Panel, name: str) -> np.ndarray:
    """Labels with one id each."""
    rows, extra = match_ids(panel.ids, keys, name)
    lacking = panel.ids[rows < 0]
    if len(lacking) or len(extra):
        differ = listed(("ids without labels:", lacking), ("labels without series:", extra))
        raise InputError(
            f"{name} does not match the series; {differ}",
            "Labels are matched by id, and every series needs one",
            f"Select the same ids in both, for example {name}.loc[ids]",
        )
    return labels[rows]


def match_steps(y: pd.Series, panel: Panel, name: str) -> np.ndarray:
    """Labels with an (id, time) index."""
    if y.index.nlevels != 2:
        raise InputError(
            f"the index of {name} has {y.index.nlevels} levels",
            "Labels of steps are indexed by (id, time)",
            f"Drop the other levels with {name}.droplevel",
        )
    wanted = pd.Index(panel.ids, dtype=object, tupleize_cols=False)
    ids = y.index.get_level_values(0).astype(object)
    series = wanted.get_indexer(ids)
    stamps = clock(
        y.index.get_level_values(1),
        f"level 1 of the index of {name}",
        lambda row: f"row {row}, id {ids[row]!r}",
    )
    if (stamps.dtype.kind == "M") != (panel.starts is not None):
        dates = "dates", "numbers"
        raise InputTypeError(
            f"{name} has {dates[panel.starts is not None]} as times while X has"
            f" {dates[panel.starts is None]}",
            "Labels are matched by id and time",
            f"Index {name} by the times of X",
        )
    if panel.starts is not None:
        stamps, shown = stamps - panel.starts[series], stamps
    else:
        shown = stamps
    times = hours(stamps) if stamps.dtype.kind == "m" else stamps
    theirs = pd.MultiIndex.from_arrays([series, times])
    ours = pd.MultiIndex.from_arrays([panel.series, panel.times])
    rule = "Labels are matched by id and time, and every step needs one"
    repeated = np.flatnonzero(theirs.duplicated() & (series >= 0))
    if len(repeated):
        row = repeated[0]
        raise InputError(
            f"{name} holds two labels of id {ids[row]!r} at time {stamp_text(shown[row])}",
            rule,
            "Drop the repeated rows",
        )
    extra, lacking = (np.flatnonzero(~a.isin(b)) for a, b in ((theirs, ours), (ours, theirs)))
    if len(extra) or len(lacking):
        parts = []
        if len(lacking):
            parts.append(f"steps without labels: {shorten(lacking, 3, partial(_step_text, panel))}")
        if len(extra):
            keys = shorten(extra, 3, lambda row: f"({ids[row]!r}, {stamp_text(shown[row])})")
            parts.append(f"labels without steps: {keys}")
        raise InputError(
            f"{name} does not match the steps of X; {'; '.join(parts)}",
            rule,
            "Select the same ids and times in both",
        )
    return y.to_numpy()[theirs.get_indexer(ours)]


def match_members(members: list[Any], panel: Panel, name: str) -> np.ndarray:
    """A list of (T_i,) arrays."""
    remedy = "Pass one label a step: a list of one (T_i,) array a series"
    if len(members) != panel.n_rows:
        raise InputError(
            f"{name} has {len(members)} members for {panel.n_rows} series",
            "A list of labels has one array a series",
            remedy,
        )
    arrays = [as_labels(member, f"{name} of series {i}") for i, member in enumerate(members)]
    for i, (array, length) in enumerate(zip(arrays, panel.lengths, strict=True)):
        if array.shape != (length,):
            raise InputError(
                f"{name} of {series_text(panel, i)} has shape {array.shape} for {length} steps",
                "There must be one label a step",
                remedy,
            )
    check_sorted(panel, name, "a Series indexed by (id, time)")
    return in_order_of_rows(stack(arrays), panel)


def in_order_of_rows(labels: np.ndarray, panel: Panel) -> np.ndarray:
    """Labels that come series by series, each in the order of its rows in X -> by time; (S,)."""
    by_time = np.empty_like(labels)
    by_time[np.lexsort((panel.source, panel.series))] = labels
    return by_time


def check_sorted(panel: Panel, name: str, remedy: str) -> None:
    """Labels by position belong to series with ids only if there is but one order of the ids."""
    if panel.sorted_ids:
        return
    first = shorten(panel.ids.tolist(), 3)
    raise InputError(
        f"{name} has no ids, and the ids of X are not in sorted order (first: {first})",
        "Nobody knows whether such labels follow the rows of X or the sorted ids",
        f"Pass {remedy}, or name a column of X",
    )


def _step_text(panel: Panel, step: int) -> str:
    i, time = panel.series[step], panel.times[step]
    if panel.starts is None:
        return f"({panel.ids[i]!r}, {stamp_text(time)})"
    return f"({panel.ids[i]!r}, {pd.Timestamp(panel.starts[i]) + pd.Timedelta(time, unit='h')})"


def series_text(panel: Panel, i: int) -> str:
    """A series in words."""
    return f"id {panel.ids[i]!r}" if panel.keyed else f"series {i}"
