"""Random rows and series with gaps for a model, to compare two ways to predict them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Category, Columns, Number, Panel, PanelEncoder, Plan, TableEncoder
from ._metadata import levels_of

LONGEST_SAMPLE = 48  # steps of a random series, at most


def draw(model: Any, rng: np.random.Generator, rows: int) -> Columns | Panel:
    """Random rows, or series, as the estimator reads them.

    The first has no entry, the second no gap; the others have gaps at rates from 0 to 1.
    """
    encoder = model.encoder_
    if not isinstance(encoder, PanelEncoder):
        return _columns(encoder, rng, _rates(rng, rows))
    lengths = rng.integers(1, LONGEST_SAMPLE + 1, rows)
    lengths[: min(rows, 2)] = LONGEST_SAMPLE
    distance = rng.uniform(0.2, 1.8, lengths.sum()) if encoder.uneven else 1.0
    times = np.cumsum(np.broadcast_to(encoder.unit * distance, lengths.sum()))
    statics = None
    if encoder.statics is not None:
        statics = _columns(encoder.statics, rng, _rates(rng, rows))
    steps = _columns(encoder.steps, rng, np.repeat(_rates(rng, rows), lengths))
    return Panel(
        steps=replace(steps, arrays=[_held(array, rng, lengths) for array in steps.arrays]),
        lengths=lengths,
        times=times,
        statics=statics,
        ids=np.arange(rows, dtype=object),
        keyed=False,
        source=np.arange(lengths.sum()),
        apart={},
    )


def _held(array: np.ndarray, rng: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
    """The column with one value throughout in half of the series; gaps stay where they are.

    Real columns are often constant, and the spread of such a one is where rounding shows most.
    """
    if array.dtype == object or np.isnan(array).all():
        return array
    values = np.repeat(rng.choice(array[~np.isnan(array)], len(lengths)), lengths)
    held = np.repeat(rng.random(len(lengths)) < 0.5, lengths) & ~np.isnan(array)
    return np.where(held, values, array)


def _rates(rng: np.random.Generator, rows: int) -> np.ndarray:
    """The chance of a gap in each row; (n,)."""
    rates = rng.uniform(0, 1, rows)
    rates[:2] = [1.0, 0.0][:rows]
    return rates


def _columns(encoder: TableEncoder, rng: np.random.Generator, rates: np.ndarray) -> Columns:
    arrays = []
    for plan in encoder.plans:
        array = _column(plan, rng, len(rates))
        array[rng.random(len(rates)) < rates] = None if array.dtype == object else np.nan
        arrays.append(array)
    declared = [isinstance(plan, Category) for plan in encoder.plans]
    return Columns(encoder.names, encoder.named, arrays, declared, len(rates))


def _column(plan: Plan, rng: np.random.Generator, rows: int) -> np.ndarray:
    """Values without gaps; levels, values of training and, where inputs are bent, outliers."""
    if isinstance(plan, Category):
        levels = np.array([*levels_of(plan), None], dtype=object)
        return levels[rng.integers(0, max(len(levels) - 1, 1), rows)]
    width = plan.spread * np.where(_bent(plan, rng, rows), 100.0, 1.5)
    array = plan.center + width * rng.standard_normal(rows)
    special = np.array([*plan.levels, *plan.knots])
    if len(special):
        array = np.where(rng.random(rows) < 0.5, rng.choice(special, rows), array)
    return array


def _bent(plan: Number, rng: np.random.Generator, rows: int) -> np.ndarray:
    return (rng.random(rows) < 0.1) & plan.scaled
