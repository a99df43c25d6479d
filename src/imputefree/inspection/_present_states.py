"""States of series at a step, as rows of a table: `measure_next` works on these.

A state has, in this order, the values of the step, the static values, and for every column of the
steps the last value before it. A measurement fills a gap of the step. Its possible results are
drawn from a density of states, so they depend on the rest of the step and on earlier values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Columns, Panel, first_steps, read_columns
from ..errors import InputError
from ._model_rows import ModelRows, as_objects

BEFORE = " before"


def present_states(panel: Panel) -> ModelRows:
    """One state per series: that of its last step.

    >>> rows = present_states(Panel.from_list([[[1.0, 5.0], [np.nan, 6.0]]]))
    >>> dict(zip(rows.names, rows.X.to_numpy()[0].tolist()))
    {'0': nan, '1': 6.0, '0 before': 1.0, '1 before': 5.0}
    """
    return _states(panel, np.cumsum(panel.lengths) - 1)


def past_states(panel: Panel) -> ModelRows:
    """The states of all steps at which some column was observed for the last time.

    So a column that is rarely measured has a value in as many states as there are series that have
    one, and states are as late as they can be.

    >>> panel = Panel.from_list([[[1.0, 5.0], [np.nan, 6.0], [np.nan, np.nan]]])
    >>> past_states(panel).X["0"].tolist()
    [1.0, nan, nan]
    """
    ends = np.cumsum(panel.lengths) - 1
    last = [_last_seen(seen)[ends] for seen in panel.steps.observed.T]
    steps = np.concatenate([step[step >= first_steps(panel.lengths)] for step in last])
    return _states(panel, np.unique(np.concatenate([steps, ends])))


def with_present(panel: Panel, states: ModelRows, series: np.ndarray) -> ModelRows:
    """Series whose last step and static values are those of states; series (m,) numbers them."""
    panel = panel.rows(series)
    values, ends = read_columns(states.X), np.cumsum(panel.lengths) - 1
    n_steps = len(panel.steps.names)
    arrays = []
    for old, new in zip(panel.steps.arrays, values.arrays[:n_steps], strict=True):
        if old.dtype != new.dtype:  # one of them has only gaps
            old, new = as_objects(old), as_objects(new)
        array = old.copy()
        array[ends] = new
        arrays.append(array)
    statics = panel.statics
    if statics is not None:
        statics = replace(statics, arrays=values.arrays[n_steps : n_steps + len(statics.names)])
    panel = replace(panel, steps=replace(panel.steps, arrays=arrays), statics=statics)
    return ModelRows(panel, states.names, states.observed)


def _states(panel: Panel, at: np.ndarray) -> ModelRows:
    """The states at these steps, numbered over all series; (k,)."""
    starts = panel.begins
    before: list[np.ndarray] = []
    for array, seen in zip(panel.steps.arrays, panel.steps.observed.T, strict=True):
        last = np.append(-1, _last_seen(seen)[:-1])[at]
        gap: Any = None if array.dtype == object else np.nan
        before.append(np.where(last >= starts[at], array[last], gap))
    steps = panel.steps.rows(at)
    names, arrays = list(steps.names), list(steps.arrays)
    if panel.statics is not None:
        names += panel.statics.names
        arrays += panel.statics.rows(panel.series[at]).arrays
    names += [name + BEFORE for name in steps.names]
    if len(set(names)) < len(names):
        twice = [name for name in names if names.count(name) > 1]
        rule = f"Last values before a step are columns too, whose names end in {BEFORE!r}"
        raise InputError(f"two columns have the name {twice[0]!r}", rule, "Rename one of them")
    table = Columns(names, True, arrays + before, [False] * len(names), len(at))
    return ModelRows(table.to_frame(), names, table.observed)


def _last_seen(seen: np.ndarray) -> np.ndarray:
    """The last seen step up to each, over all series, or -1; (S,)."""
    return np.maximum.accumulate(np.where(seen, np.arange(len(seen)), -1))
