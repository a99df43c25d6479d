"""Plausible values of a gap, given the rest of its row, or of the state that a series is in.

A state has, in this order, the values of the step, the static values, and for every column of the
steps the last value before it. A measurement fills a gap of the step. Its possible results are
drawn from a density of states, so they depend on the rest of the step and on earlier values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Columns, Panel, first_steps, read_columns
from ..errors import InputError, shorten
from ..estimators import Engine
from ..families import ConditionalDraws
from ..missingness import generator
from ._model_rows import ModelRows, as_objects, read_rows

BEFORE = " before"  # ends the names of last values before a step
MOST_ROWS = 5000  # rows that a density learns from: more are drawn at random


class PlausibleValues:
    """Plausible values of gaps, drawn conditionally on the rest of the row.

    A joint density of all columns, numbers and categories together, is fitted to background rows
    (gaps integrated out). Every draw is a value of a background row, with its original type.

    Parameters
    ----------
    background : a table like those the model predicts, for example its training rows, which may
        have gaps; more than 5,000 rows are thinned at random. For series a `Panel`: its rows are
        the steps at which some column was observed for the last time (see docs/measure-next.md)
    conditional : False draws from the column's marginal distribution, independently of the row
    categorical_features : "auto" (columns of strings or categories), or a list of names or
        positions
    random_state : for the thinning and for the initialisation of the density

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, size=500)
    >>> people = pd.DataFrame({"height": height, "weight": height - 100 + rng.normal(size=500)})
    >>> plausible = PlausibleValues(people)
    >>> tall = pd.DataFrame({"height": [190.0], "weight": [None]})
    >>> plausible.draw(tall, "weight", 1000).mean().round(-1)
    np.float64(90.0)
    """

    def __init__(
        self,
        background: Any,
        *,
        conditional: bool = True,
        categorical_features: Any = "auto",
        random_state: Any = 0,
    ) -> None:
        rng = generator(random_state)
        inputs = read_model_rows(background)
        rows = read_table(inputs, past=True)
        if len(rows) > MOST_ROWS:
            rows = rows.take(np.sort(rng.permutation(len(rows))[:MOST_ROWS]))
        self.inputs, self.rows, self.conditional = inputs, rows, conditional
        self.of_series = isinstance(inputs.X, Panel)
        self.usual: Any = None  # gains over these rows, see `usual_gains`
        self.columns = read_columns(rows.X)
        self.draws = ConditionalDraws(categorical_features).fit(self.columns, rng)

    def rows_for(self, model: Any) -> ModelRows:
        """The background rows as a model reads them best; of series, their states."""
        if self.of_series or not isinstance(model, Engine):
            return self.rows
        return ModelRows(self.columns, self.rows.names, self.rows.observed)

    def entries(self, rows: ModelRows) -> tuple[np.ndarray, np.ndarray]:
        """What the density sees of rows: values and which are known; (n, entries) each."""
        values, observed = self.draws.entries(read_columns(rows.X))
        return values, observed & self.conditional

    def draw(self, X: Any, column: str, n: int, random_state: Any = 0) -> np.ndarray:
        """n values of a column per row, given the row's other entries; (rows, n).

        The row's own value of the column, if any, is ignored.
        """
        rows = read_table(X)
        names = self.rows.names
        if column not in names:
            raise InputError(f"{column!r} is not a column", f"There are {shorten(names)}", "")
        j, count = names.index(column), len(rows)
        values, observed = self.entries(rows)
        observed = observed & (self.draws.column_of != j)
        gaps = np.repeat(np.arange(count), n), np.full(count * n, j)
        donors = self.draws.draw(values, observed, *gaps, generator(random_state))
        array = self.columns.arrays[j]
        gap = None if array.dtype == object else np.nan
        return np.append(array, [gap])[donors].reshape(count, n)


def read_table(X: Any, model: Any = None, *, past: bool = False) -> ModelRows:
    """Rows of a table; of series, their states at the end or, with `past`, at earlier steps."""
    rows = read_model_rows(X, model)
    if not isinstance(rows.X, Panel):
        return rows
    return past_states(rows.X) if past else present_states(rows.X)


def read_model_rows(X: Any, model: Any = None) -> ModelRows:
    """Rows of a table, or series; a model of this package gets columns, which it reads fastest."""
    if isinstance(X, ModelRows):
        return X
    if isinstance(X, Columns) and not isinstance(model, Engine):  # as a server reads rows
        X = X.to_frame()
    return read_rows(X, model, once=True)


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
