"""Explain series: variants of whole series are encoded again, because the time since the last
observation changes with a removed value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import Category, Columns, Panel, TableEncoder, first_steps
from ..errors import ParameterError
from ..estimators import average_members, predict_members, predicts_steps, read_inputs
from ._explain_tables import REMOVED, NextValue, Outcome, Variants, importance_of
from ._explanation import SeriesExplanation

CHUNK_STEPS = 2**14  # steps of the variants that are encoded at once
MOST_STEPS = 5_000_000  # about a minute of one core with the default networks


def explain_series(model: Any, X: Any, of: Any, single: bool, most_steps: int) -> SeriesExplanation:
    """See `explain_rows`; d columns, those of the steps and then the static ones."""
    encoder = model.encoder_
    raw = read_inputs(model, X)
    predicted = _predict(model, raw)  # checks the input and warns of unseen categories
    panel = _known_levels(encoder, raw)
    outcome = Outcome.choose(model, predicted, of)
    prediction = outcome.read(predicted, np.arange(panel.n_rows))
    plans = [*encoder.steps.plans, *(encoder.statics.plans if encoder.statics else [])]
    n_static = len(plans) - len(encoder.steps.plans)
    seen = _observed(panel.steps)  # (S, columns of steps)
    static = np.empty((panel.n_rows, 0), dtype=bool)
    if panel.statics is not None:
        static = _observed(panel.statics)
    begin = first_steps(panel.lengths)
    end = begin + panel.lengths  # exclusive
    if single:
        _check_work(seen, panel, most_steps)

    def predict(variants: Variants, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Change each variant's column at the steps first … stop - 1 of its series; -> (m,)."""
        predicted = np.empty(len(variants))
        for part in _parts(panel.lengths[variants.row]):
            some = variants.part(part)
            changed = _changed(panel, some, first[part], stop[part], coming.values)
            predicted[part] = outcome.read(_predict(model, changed), some.row)
        return predicted

    last = np.hstack([seen[end - 1], static])  # observed at the last step
    coming = NextValue(~last, prediction, plans)
    variants = Variants.measurements(~last, coming.choices)
    length = panel.lengths[variants.row]
    coming.add(variants, predict(variants, length - 1, length))

    ever = np.hstack([np.logical_or.reduceat(seen, begin), static])
    column_removal = np.full(ever.shape, np.nan)
    variants = Variants.removals(ever)
    length = panel.lengths[variants.row]
    effect = prediction[variants.row] - predict(variants, np.zeros_like(length), length)
    column_removal[variants.row, variants.column] = effect

    removal = None
    if single:
        flat = np.full((len(panel.times), len(plans)), np.nan)
        flat[begin, len(plans) - n_static :] = column_removal[:, len(plans) - n_static :]
        steps = Variants.removals(seen)  # its rows are steps
        series = panel.series[steps.row]
        step = steps.row - begin[series]
        variants = Variants(series, steps.column, steps.choice)
        flat[steps.row, steps.column] = prediction[series] - predict(variants, step, step + 1)
        removal = np.split(flat, end[:-1])
    importance = importance_of(model, X)
    if importance is not None and not isinstance(importance, list):  # one row per row of a frame
        importance = np.split(importance[panel.source], end[:-1])
    return SeriesExplanation(
        columns=encoder.names,
        of=outcome.of,
        prediction=prediction,
        observed=last,
        importance=importance,
        removal=removal,
        next_value=coming.change,
        next_low=coming.low,
        next_high=coming.high,
        column_removal=column_removal,
        ids=panel.ids,
        times=np.split(panel.times, end[:-1]),
        n_static=n_static,
    )


def _predict(model: Any, panel: Panel) -> np.ndarray:
    """Predictions for each series, at its last step; (n, classes) or (n,)."""
    members = predict_members(model, panel)
    if predicts_steps(model):
        members = members[:, np.cumsum(panel.lengths) - 1]
    return average_members(model, members)


def _known_levels(encoder: Any, panel: Panel) -> Panel:
    """Columns in the order and of the kind of training; unknown levels become gaps."""

    def known(encoder: TableEncoder, columns: Columns) -> Columns:
        columns, arrays = encoder.arranged(columns), []
        for plan, array in zip(encoder.plans, columns.arrays, strict=True):
            if isinstance(plan, Category):
                levels = {*plan.levels, *plan.rare_levels}
                array = np.array([x if x in levels else None for x in array], dtype=object)
            arrays.append(array)
        return replace(columns, arrays=arrays)

    statics = None if panel.statics is None else known(encoder.statics, panel.statics)
    return replace(panel, steps=known(encoder.steps, panel.steps), statics=statics, apart={})


def _observed(columns: Columns) -> np.ndarray:
    """Which entries are there; (n, columns)."""
    return np.column_stack([~pd.isna(array) for array in columns.arrays])


def _parts(lengths: np.ndarray) -> list[slice]:
    """Variants in parts of at most CHUNK_STEPS steps, or of a single series."""
    parts, start, steps = [], 0, 0
    for i, length in enumerate(lengths):
        if steps + length > CHUNK_STEPS and i > start:
            parts.append(slice(start, i))
            start, steps = i, 0
        steps += length
    return [*parts, slice(start, len(lengths))] if len(lengths) else parts


def _changed(
    panel: Panel,
    variants: Variants,
    first: np.ndarray,
    stop: np.ndarray,
    values: list[np.ndarray],
) -> Panel:
    """One series per variant, with its column changed at some steps; an emptied step stays."""
    copies = panel.rows(variants.row)
    n_steps = len(panel.steps.names)
    begin = first_steps(copies.lengths)
    spans = zip(variants.column, variants.choice, begin + first, begin + stop, strict=True)
    for i, (j, choice, start, end) in enumerate(spans):
        if j < n_steps:
            array, where = copies.steps.arrays[j], slice(start, end)
        else:
            assert copies.statics is not None
            array, where = copies.statics.arrays[j - n_steps], slice(i, i + 1)
        if choice != REMOVED:
            array[where] = values[j][choice]
        else:
            array[where] = None if array.dtype == object else np.nan
    return copies


def _check_work(seen: np.ndarray, panel: Panel, most_steps: int) -> None:
    values = np.add.reduceat(seen.sum(axis=1), first_steps(panel.lengths))  # per series
    steps = int((values * panel.lengths).sum())
    if steps > most_steps:
        raise ParameterError(
            f"removing {int(values.sum()):,} values one by one means {steps:,} steps to predict",
            f"The limit is {most_steps:,}",
            "Explain fewer series, or whole columns only (single=False, --no-steps), or raise"
            " most_steps",
        )
