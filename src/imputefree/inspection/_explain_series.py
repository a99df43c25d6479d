"""Series explained: variants of whole series, encoded anew, as the time since an observation
changes with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import Category, Columns, Panel, TableEncoder, first_steps
from ..errors import ParameterError
from ._explain_tables import importance
from ._explanation import SeriesExplanation
from ._outcome import Outcome
from ._variants import REMOVED, NextValue, Variants, measured, removals

CHUNK_STEPS = 2**14  # steps of the variants that are encoded at once
MOST_STEPS = 5_000_000  # about a minute of one core with the default networks


def explain_series(model: Any, X: Any, of: Any, single: bool, most_steps: int) -> SeriesExplanation:
    """See `explain_rows`; d columns, those of the steps and then the static ones."""
    encoder = model.encoder_
    given = model._inputs(X)
    members = _members(model, given)  # says what is wrong with it, and what training never saw
    panel = _arranged(encoder, given)
    outcome = Outcome.choose(model, members, of)
    prediction = outcome.read(members, np.arange(panel.n_rows))
    n_steps, n_static = len(encoder.steps.plans), len(panel.statics.names) if panel.statics else 0
    plans = [*encoder.steps.plans, *(encoder.statics.plans if encoder.statics else [])]
    seen = _observed(panel.steps)  # (S, columns of steps)
    static = np.empty((panel.n_rows, 0), dtype=bool)
    if panel.statics is not None:
        static = _observed(panel.statics)
    begin = first_steps(panel.lengths)
    end = begin + panel.lengths  # one behind the last step
    if single:
        _refuse_too_much(seen, panel, most_steps)

    def predict(which: Variants, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Each variant's column changed at the steps first … stop - 1 of its series; (m,)."""
        found = np.empty(len(which))
        for part in _parts(panel.lengths[which.row]):
            some = which.part(part)
            changed = _changed(panel, some, first[part], stop[part], coming.values)
            found[part] = outcome.read(_members(model, changed), some.row)
        return found

    now = np.hstack([seen[end - 1], static])
    coming = NextValue(now, prediction, plans)
    which = measured(now, coming.choices)
    length = panel.lengths[which.row]
    coming.add(which, predict(which, length - 1, length))

    some = np.hstack([np.logical_or.reduceat(seen, begin), static])
    column_removal = np.full(some.shape, np.nan)
    which = removals(some)
    length = panel.lengths[which.row]
    without = predict(which, np.zeros_like(length), length)
    column_removal[which.row, which.column] = prediction[which.row] - without

    removal = None
    if single:
        flat = np.full((len(panel.times), len(plans)), np.nan)
        flat[begin, n_steps:] = column_removal[:, n_steps:]
        steps = removals(seen)  # its rows are steps
        owner = panel.series[steps.row]
        at = steps.row - begin[owner]
        which = Variants(owner, steps.column, steps.choice)
        without = predict(which, at, at + 1)
        flat[steps.row, steps.column] = prediction[owner] - without
        removal = np.split(flat, end[:-1])
    return SeriesExplanation(
        columns=encoder.names,
        of=outcome.of,
        prediction=prediction,
        observed=now,
        importance=_importance_by_series(model, X, given),
        removal=removal,
        next_value=coming.change,
        next_low=coming.low,
        next_high=coming.high,
        column_removal=column_removal,
        ids=panel.ids,
        times=np.split(panel.times, end[:-1]),
        n_static=n_static,
    )


def _members(model: Any, panel: Panel) -> Any:
    """ŷ of every member for each series, at its last step; (K, n, O)."""
    found = model._predict_members(panel, model._every_step)
    return found[:, np.cumsum(panel.lengths) - 1] if model._every_step else found


def _arranged(encoder: Any, panel: Panel) -> Panel:
    """Columns in the order and of the kind of training, levels it never saw as gaps."""
    statics = panel.statics
    return replace(
        panel,
        steps=_without_strangers(encoder.steps, encoder.steps.arranged(panel.steps)),
        statics=None
        if statics is None
        else _without_strangers(encoder.statics, encoder.statics.arranged(statics)),
        apart={},
    )


def _without_strangers(encoder: TableEncoder, columns: Columns) -> Columns:
    arrays = []
    for plan, array in zip(encoder.plans, columns.arrays, strict=True):
        if isinstance(plan, Category):
            known = {*plan.levels, *plan.rare_levels}
            array = np.array([one if one in known else None for one in array], dtype=object)
        arrays.append(array)
    return replace(columns, arrays=arrays)


def _observed(columns: Columns) -> np.ndarray:
    """Which entries are there; (n, columns). Texts have None, numbers NaN."""
    return np.column_stack([~pd.isna(array) for array in columns.arrays])


def _parts(lengths: np.ndarray) -> list[slice]:
    """Variants in pieces of at most CHUNK_STEPS steps, or of one."""
    parts, start, steps = [], 0, 0
    for i, length in enumerate(lengths):
        if steps + length > CHUNK_STEPS and i > start:
            parts.append(slice(start, i))
            start, steps = i, 0
        steps += length
    return [*parts, slice(start, len(lengths))] if len(lengths) else parts


def _changed(
    panel: Panel,
    which: Variants,
    first: np.ndarray,
    stop: np.ndarray,
    values: list[np.ndarray],
) -> Panel:
    """A series a variant, with its column changed at some steps; a step that it empties stays."""
    many = panel.rows(which.row)
    n_steps = len(panel.steps.names)
    begin = first_steps(many.lengths)
    spans = zip(which.column, which.choice, begin + first, begin + stop, strict=True)
    for i, (j, choice, start, end) in enumerate(spans):
        if j >= n_steps:
            assert many.statics is not None
            array, where = many.statics.arrays[j - n_steps], slice(i, i + 1)
        else:
            array, where = many.steps.arrays[j], slice(start, end)
        if choice != REMOVED:
            array[where] = values[j][choice]
        else:
            array[where] = None if array.dtype == object else np.nan
    return many


def _refuse_too_much(seen: np.ndarray, panel: Panel, most_steps: int) -> None:
    each = np.add.reduceat(seen.sum(axis=1), first_steps(panel.lengths))
    steps = int((each * panel.lengths).sum())
    if steps > most_steps:
        raise ParameterError(
            f"removing {int(each.sum()):,} values one by one means {steps:,} steps to predict",
            f"The limit is {most_steps:,}",
            "Explain fewer series, or whole columns only (single=False, --no-steps), or raise"
            " most_steps",
        )


def _importance_by_series(model: Any, X: Any, panel: Panel) -> Any:
    """A list of (steps, d), whatever the form that X has."""
    found = importance(model, X)
    if found is None or isinstance(found, list):
        return found
    return np.split(found[panel.source], np.cumsum(panel.lengths)[:-1])
