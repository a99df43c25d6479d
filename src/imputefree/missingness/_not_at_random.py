"""MNAR: which entries are missing depends on values that are missing themselves."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np

from ..errors import ParameterError
from ._at_random import pick_columns, scaled_columns
from ._checks import check_choice, check_columns, check_number
from ._draws import Gaps, allot, linear, lose_by_column, no_drivers, random_weights, to_lose
from ._grid import Grid


def mnar_self(
    grid: Grid,
    rate: float | None,
    rng: np.random.Generator,
    *,
    columns: Any = None,
    side: str = "high",
    strength: float = 2.0,
    keep_one: bool = False,
) -> Gaps:
    """Self-masking: the chance of a gap is logistic in the entry's own value.

    Every column loses the same share. Entries of a constant column go at random.

    columns : which may lose entries; None means all
    side : "high" or "low": the values that go missing more often
    strength : logits a standard deviation of the column
    keep_one : see `mcar`

    >>> from imputefree.missingness import make_missing
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> gappy = make_missing("mnar_self", X, rate=0.5).apply(X)
    >>> bool(np.nanmean(gappy) < X.mean())
    True
    """
    sign = 1 if check_choice("side", side, "high", "low") == "high" else -1
    check_number("strength", strength, 0, 100, open_low=True)
    chosen = _number_columns(grid, columns)
    etas = (sign * strength * grid.scaled(j) for j in chosen)
    lost = lose_by_column(grid, chosen, rate, rng, etas, _why(grid, chosen), keep_one)
    drivers = no_drivers(grid)
    for j in chosen:
        drivers[j, j] = sign * strength * grid.varies(j)
    return Gaps(lost, "MNAR", drivers)


def mnar_quantile(
    grid: Grid,
    rate: float | None,
    rng: np.random.Generator,
    *,
    columns: Any = None,
    side: str = "high",
    share: float = 1.0,
) -> Gaps:
    """Censoring: only values beyond a quantile of their column go missing, a share of them.

    Every column loses the same part p of its entries, out of its most extreme p / share. Equal
    values at the quantile are told apart at random. Drivers are infinite: outside the tail the odds
    of a gap are 0. Rows that are entirely missing can occur.

    columns : which may lose entries; None means all
    side : "high", "low" or "both", half of the tail at each end
    share : of the tail that goes missing, in (0, 1]; the rate can be no higher

    >>> from imputefree.missingness import make_missing
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> make_missing("mnar_quantile", X, rate=0.3).apply(X).ravel()
    array([ 0.,  1.,  2.,  3.,  4.,  5.,  6., nan, nan, nan])
    """
    check_choice("side", side, "high", "low", "both")
    check_number("share", share, 0, 1, open_low=True)
    chosen = _number_columns(grid, columns)
    free = np.floor(share * grid.present[:, chosen].sum(axis=0) + 1e-9).astype(int)
    why = f"{_why(grid, chosen)}, and only {share:g} of a tail goes missing"
    counts = allot(free, to_lose(grid, rate, int(free.sum()), why), rng)
    lost = np.zeros(grid.present.shape, bool, order="F")
    drivers = no_drivers(grid)
    for j, count in zip(chosen, counts, strict=True):
        rows = np.flatnonzero(grid.present[:, j])
        tail = _tail(grid.column(j)[rows], math.ceil(count / share - 1e-9), side, rng)
        lost[rows[rng.permutation(tail)[:count]], j] = True
        if grid.varies(j):
            drivers[j, j] = -np.inf if side == "low" else np.inf
    return Gaps(lost, "MNAR", drivers)


def mnar_hidden(
    grid: Grid,
    rate: float | None,
    rng: np.random.Generator,
    *,
    drivers: Any = 0.3,
    strength: float = 2.0,
    keep_one: bool = False,
) -> Gaps:
    """Gaps by a logistic model of columns that then lose entries themselves.

    As `mar`, but the columns that drive the gaps of the others lose the same share of their own
    entries, completely at random. What was missing in them beforehand drives as their mean would.

    drivers : columns by name or position; or their share, in (0, 1), picked at random among columns
        of numbers that vary
    strength, keep_one : see `mnar_self`

    >>> from imputefree.missingness import make_missing
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> make_missing("mnar_hidden", X, rate=0.5, drivers=[0]).report()["driven by"].tolist()
    ['nothing', "'0' (+2)"]
    """
    check_number("strength", strength, 0, 100, open_low=True)
    hidden = _hidden_drivers(grid, drivers, rng)
    others = [j for j in range(len(grid.names)) if j not in set(hidden)]
    if not others:
        raise ParameterError(
            "drivers holds all columns",
            "They drive the gaps of other columns",
            "Leave a column out of drivers",
        )
    z = scaled_columns(grid, hidden)
    weights = random_weights(z, len(others), strength, rng)
    none: list[np.ndarray | float] = [0.0] * len(hidden)
    etas = chain(none, linear(z, weights))
    chosen = hidden + others
    lost = lose_by_column(grid, chosen, rate, rng, etas, _why(grid, chosen), keep_one)
    matrix = no_drivers(grid)
    matrix[np.ix_(others, hidden)] = weights.T
    return Gaps(lost, "MNAR", matrix)


def _hidden_drivers(grid: Grid, drivers: Any, rng: np.random.Generator) -> list[int]:
    if isinstance(drivers, float):
        check_number("drivers", drivers, 0, 1, open_low=True)
        return pick_columns(grid, drivers, rng, "drivers", complete=False)
    found = check_columns("drivers", drivers, grid)
    for j in found:
        grid.column(j)  # refuses texts
    if not any(grid.varies(j) for j in found):
        raise ParameterError(
            "drivers holds constant columns only",
            "These gaps depend on values that differ between rows",
            "Pass drivers= a column that varies",
        )
    return found


def _tail(values: np.ndarray, size: int, side: str, rng: np.random.Generator) -> np.ndarray:
    """Positions of the `size` most extreme values; ties in random order."""
    low = {"low": size, "high": 0, "both": size // 2}[side]
    high = len(values) - (size - low)
    shuffled = rng.permutation(len(values))
    cuts = [cut for cut in (low, high) if cut < len(values)]
    order = shuffled[np.argpartition(values[shuffled], cuts)] if cuts else shuffled
    return np.concatenate([order[:low], order[high:]])


def _number_columns(grid: Grid, columns: Any) -> list[int]:
    if columns is None:
        chosen = list(range(len(grid.names)))
    else:
        chosen = check_columns("columns", columns, grid)
    for j in chosen:
        if grid.is_text(j):
            grid.column(j)  # refuses it
    return chosen


def _why(grid: Grid, chosen: list[int]) -> str:
    return f"{len(chosen)} of {len(grid.names)} columns may lose entries"
