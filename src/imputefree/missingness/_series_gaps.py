"""Gaps of series: channels sampled at different rates, and runs of steps that were not recorded.

Neither looks at a value, so both are MCAR by definition, although masks carry a pattern in time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from .._rules import check_value, choice, number
from ..errors import ParameterError
from ._entry_gaps import DEFAULT_RATE, Draw, Gaps, allot, check_reachable, highest, to_lose
from ._grid import Grid


def series_rates(
    draw: Draw, *, rates: Any = None, spread: float = 1.0, spacing: str = "regular"
) -> Gaps:
    """Each channel has its own sampling rate: pulse at every step, lactate at every tenth.

    A table counts as one series. Steps at which no channel is sampled can occur.

    rates : share of steps seen per channel, in [0, 1]: a list in the order of channels, or a dict
        (channels that it does not name are seen as before). None draws them around the rate.
    spread : standard deviation between channels, in logits, where rates are drawn
    spacing : "regular", evenly spaced from a random start in each series; or "random"

    Steps that a channel misses already are not counted among its steps.

    >>> from imputefree.missingness import make_missing
    >>> X = np.zeros((1, 8, 2))
    >>> make_missing("series_rates", X, rates=[1, 0.25]).observed[0].astype(int).T
    array([[1, 1, 1, 1, 1, 1, 1, 1],
           [0, 0, 1, 0, 0, 0, 1, 0]])
    """
    grid, rate, rng = draw
    check_value("spacing", spacing, choice("regular", "random"))
    check_value("spread", spread, number(0, 100))
    sizes = grid.present.sum(axis=0)
    if rates is None:
        total = to_lose(draw, int(sizes.sum()))
        seen = sizes - _uneven(sizes, total, spread, rng)
    else:
        seen = np.floor(_check_rates(rates, rate, grid) * sizes + 0.5).astype(int)
    lost = grid.present.copy()
    for j, count in enumerate(seen):
        recorded = np.flatnonzero(grid.present[:, j])
        if spacing == "random":
            sampled = highest(rng.random(len(recorded)), count)
        else:
            sampled = _regular(_counts(grid, recorded), count, rng)
        lost[recorded[sampled], j] = False
    return Gaps(lost, "MCAR")


def bursts(draw: Draw, *, length: float = 5.0, together: bool = False) -> Gaps:
    """Runs of consecutive steps go missing, their lengths geometric with mean `length`.

    Seen stretches between runs are geometric too: a two-state Markov chain in each channel, given
    how many steps it loses. A run ends with its series at the latest. A step that a channel misses
    already is skipped, so a run continues after it. All steps of a channel can go missing.

    length : mean number of steps of a run, at least 1. There is a seen step between two runs, which
        bounds the rate by length / (length + 1)
    together : all channels at once, as when a monitor is unplugged. The rate is met to the nearest
        step; a step that all channels miss already is skipped.

    >>> from imputefree.missingness import make_missing
    >>> X = np.zeros((1, 12, 2))
    >>> make_missing("bursts", X, 0.5, length=3).observed[0].astype(int).T
    array([[1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0],
           [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0]])
    """
    grid, rate, rng = draw
    check_value("length", length, number(1, np.inf, open_high=True))
    sizes = grid.present.sum(axis=0)
    limit = length / (length + 1)
    total = to_lose(draw, int(sizes.sum()))
    wanted, most = rate or DEFAULT_RATE, 1 - (1 - limit) * grid.present.mean()
    reason = f"runs of mean length {length:g} need seen steps between"
    check_reachable(wanted, total > limit * sizes.sum() + 1, most, reason)
    lost = np.zeros(grid.present.shape, bool)
    if together:
        weight = grid.present.sum(axis=1)
        rows = np.flatnonzero(weight)
        count = round(total / max(int(sizes.sum()), 1) * len(rows))
        steps = _runs(_counts(grid, rows), count, length, rng)
        lost[rows] = _settled(steps, weight[rows], total, rng)[:, None]
        return Gaps(lost & grid.present, "MCAR")
    for j, count in enumerate(allot(sizes, total, rng)):
        recorded = np.flatnonzero(grid.present[:, j])
        lost[recorded, j] = _runs(_counts(grid, recorded), count, length, rng)
    return Gaps(lost, "MCAR")


def _counts(grid: Grid, rows: np.ndarray) -> np.ndarray:
    """The number of these rows per series."""
    series = np.repeat(np.arange(len(grid.lengths)), grid.lengths)
    return np.bincount(series[rows], minlength=len(grid.lengths))


def _regular(sizes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` steps in all, evenly spaced within each series: (sum of sizes,) bool."""
    wanted = np.repeat(allot(sizes, count, rng), sizes)
    steps = np.repeat(sizes, sizes)
    at = np.arange(len(wanted)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    start = np.repeat(rng.random(len(sizes)), sizes)
    # Where the count of samples due so far grows: exactly `wanted` times in a series.
    return np.floor((at + 1) * wanted / steps + start) > np.floor(at * wanted / steps + start)


def _runs(sizes: np.ndarray, count: int, length: float, rng: np.random.Generator) -> np.ndarray:
    """`count` steps in runs, over all series joined in random order: (sum of sizes,) bool.

    Geometric lengths have no memory, so a run cut at the end of a series is still geometric.
    """
    total = int(sizes.sum())
    lost = np.zeros(total, bool)
    if count == 0:
        return lost
    # No run is longer than `count`; sums of longer ones would overflow.
    ends = np.cumsum(np.minimum(rng.geometric(1 / length, size=count), count))
    runs = np.diff(ends[: int(np.searchsorted(ends, count)) + 1], prepend=0)
    runs[-1] -= int(runs.sum()) - count
    # The seen steps, dealt at random to the places before, between and after the runs.
    between = 1 if total - count >= len(runs) - 1 else 0
    spare = total - count - between * (len(runs) - 1)
    bars = np.sort(rng.choice(spare + len(runs), len(runs), replace=False))
    before = np.diff(bars, prepend=-1) - 1
    before[1:] += between
    pieces = np.column_stack([before, runs]).ravel()
    line = np.repeat(np.tile([False, True], len(runs)), pieces)
    lost[: len(line)] = line
    order = rng.permutation(len(sizes))
    first = np.cumsum(sizes) - sizes
    shift = np.repeat(first[order] - (np.cumsum(sizes[order]) - sizes[order]), sizes[order])
    placed = np.empty(total, bool)
    placed[np.arange(total) + shift] = lost
    return placed


def _settled(
    lost: np.ndarray, weight: np.ndarray, total: int, rng: np.random.Generator
) -> np.ndarray:
    """Make runs longer or shorter until the lost steps weigh `total`, within one step.

    The weight of a step is the number of entries it still has.

    lost : (steps,) bool; weight : (steps,), above 0
    """
    while True:
        over = int(weight[lost].sum()) - total
        before, after = np.r_[False, lost[:-1]], np.r_[lost[1:], False]
        if over >= 0:
            ends = np.flatnonzero(lost & ~after)
        else:
            ends = np.flatnonzero(~lost & before & ~after)  # a seen step stays between runs
            ends = ends if len(ends) else np.flatnonzero(~lost)
        ends = rng.permutation(ends)
        reached = np.concatenate([[0], np.cumsum(weight[ends])])
        taken = int(np.abs(reached - abs(over)).argmin())
        lost[ends[:taken]] = over < 0
        if taken == 0 or taken < len(ends):
            return lost


def _uneven(sizes: np.ndarray, total: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """How many entries each channel loses, `total` in all; shares are logistic-normal."""
    if total in (0, int(sizes.sum())):
        return sizes * (total > 0)
    deviation = spread * rng.normal(size=len(sizes))
    low, high = -800.0 - np.abs(deviation).max(), 800.0 + np.abs(deviation).max()
    for _ in range(80):  # bisection to the last bit of a double
        middle = (low + high) / 2
        short = (sizes * expit(middle + deviation)).sum() < total
        low, high = (middle, high) if short else (low, middle)
    reached = np.cumsum(sizes * expit(high + deviation))
    return np.diff(np.floor(reached * (total / reached[-1]) + 0.5), prepend=0).astype(int)


def _check_rates(rates: Any, rate: float | None, grid: Grid) -> np.ndarray:
    if rate is not None:
        rule = "The channels' sampling rates settle the rate"
        raise ParameterError("both rate and rates are given", rule, "Leave one of them out")
    shares = np.ones(len(grid.names))
    positions = list(range(len(shares)))
    if isinstance(rates, Mapping):
        positions = [grid.find("rates", [name])[0] for name in rates]
        rates = list(rates.values())
    rule = f"a dict, or a list of {len(shares)} numbers, one per channel"
    check_value("rates", rates, (lambda v: np.shape(v) == (len(positions),), rule))
    for position, share in zip(positions, rates, strict=True):
        check_value("rates", share, number(0, 1))
        shares[position] = share
    return shares
