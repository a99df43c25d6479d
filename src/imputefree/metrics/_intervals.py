"""Confidence intervals by the percentile bootstrap, with the same draws for every method.

Rows (or series, or whole groups) are drawn with replacement, as many as there are, and the middle
95 % of the scores are the interval. It shows how scores vary with the rows that happened to be
scored, not with those that happened to be learned from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ._scores import scores, weighted_scores

LEVEL = 0.95
RESAMPLES, RESAMPLES_OF_MANY, MANY = 1000, 200, 100_000
AT_ONCE = 2_000_000  # weights held in memory


class Figure(NamedTuple):
    """A score and its interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


Scores = dict[str, Figure]  # by metric


def intervals(
    task: str,
    truth: np.ndarray,
    predictions: Mapping[str, np.ndarray],
    groups: np.ndarray | None = None,
    ours: str = "imputefree",
    seed: int = 0,
) -> tuple[dict[str, Scores], dict[str, Scores]]:
    """Scores of every method, and of ours minus each other one, on the same draws.

    truth : (n,) as for `scores`
    predictions : by method, as for `scores`
    groups : (n,) rows of one group are drawn together

    >>> truth, guess = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.1, 0.9, 2.1, 2.9])
    >>> figures, _ = intervals("regression", truth, {"imputefree": guess})
    >>> [round(number, 3) for number in figures["imputefree"]["mae"]]
    [0.1, 0.1, 0.1]
    """
    parts: dict[str, list[dict[str, np.ndarray]]] = {name: [] for name in predictions}
    for weights in resamples(len(truth), groups, seed):
        for name, prediction in predictions.items():
            parts[name].append(weighted_scores(task, truth, prediction, weights))
    values = {name: scores(task, truth, prediction) for name, prediction in predictions.items()}
    drawn = {
        name: {metric: np.concatenate([part[metric] for part in some]) for metric in some[0]}
        for name, some in parts.items()
    }
    figures = {
        name: {
            metric: figure_of(values[name][metric], drawn[name][metric]) for metric in drawn[name]
        }
        for name in predictions
    }
    differences = {
        name: {
            metric: figure_of(
                _minus(values[ours][metric], values[name][metric]),
                drawn[ours][metric] - drawn[name][metric],
            )
            for metric in drawn[name]
        }
        for name in predictions
        if name != ours and ours in predictions
    }
    return figures, differences


def n_resamples(rows: int) -> int:
    """How many resamples are drawn."""
    return RESAMPLES if rows <= MANY else RESAMPLES_OF_MANY


def resamples(
    rows: int, groups: np.ndarray | None = None, seed: int = 0, count: int | None = None
) -> Iterator[np.ndarray]:
    """How often each row is drawn, (B, rows), some resamples at a time.

    count : of resamples; None for `n_resamples`
    """
    unit = np.arange(rows) if groups is None else np.unique(groups, return_inverse=True)[1]
    units = int(unit.max()) + 1
    rng = np.random.default_rng(seed)
    left, at_once = count or n_resamples(rows), max(AT_ONCE // rows, 1)
    while left:
        count = min(left, at_once)
        drawn = rng.integers(0, units, (count, units)) + np.arange(count)[:, None] * units
        times = np.bincount(drawn.ravel(), minlength=count * units).reshape(count, units)
        yield times[:, unit].astype(np.float64)
        left -= count


def figure_of(value: float | None, drawn: np.ndarray) -> Figure:
    """A score with the middle 95 % of its resamples; (B,) with NaN where it is not defined."""
    known = drawn[~np.isnan(drawn)]
    if value is None or not len(known):
        return Figure(value, None, None)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Figure(value, float(low), float(high))


def _minus(ours: float | None, other: float | None) -> float | None:
    return None if ours is None or other is None else ours - other
