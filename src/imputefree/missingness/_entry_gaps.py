"""Gaps entry by entry: MCAR, MAR and MNAR, and how gaps are drawn to an exact count.

A logistic model loses an entry if eta + noise > c, with noise from the standard logistic
distribution: the chance is then 1 / (1 + exp(c - eta)). Instead of solving for the intercept c on
average and tossing coins, `highest` puts c between the k-th and the next entry of the draw itself.
So exactly k entries go, in small tables too, and the mask knows no more about values than eta says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

import numpy as np

from .._rules import check_value, choice, number
from ..errors import ParameterError
from ._grid import Grid

DEFAULT_RATE = 0.3
CHUNK = 64  # columns whose eta is held in memory at once
SHARE = number(0, 1, open_low=True)
STRENGTH = number(0, 100, open_low=True)


class Gaps(NamedTuple):
    """What a mechanism returns.

    lost : (rows, d) bool, entries that go missing
    mechanism : "MCAR", "MAR" or "MNAR"
    drivers : (d, d), see `Missing`; None for MCAR
    rate : share missing in the end, if it is not simply a share of entries
    """

    lost: np.ndarray
    mechanism: str
    drivers: np.ndarray | None = None
    rate: float | None = None


class Draw(NamedTuple):
    """What a mechanism works on: the data, the share that is to be missing, and randomness."""

    grid: Grid
    rate: float | None
    rng: np.random.Generator


def mcar(draw: Draw, *, columns: Any = None, keep_one: bool = False) -> Gaps:
    """Entries go missing completely at random, the same share of each column.

    columns : which may lose entries; None means all
    keep_one : keep one entry per row, picked at random beforehand. Without it rows that are
        entirely missing can occur: about rate**d of them.

    >>> from imputefree.missingness import make_missing
    >>> make_missing("mcar", np.ones((100, 4)), rate=0.9).missing_by_column.tolist()
    [0.9, 0.9, 0.9, 0.9]
    """
    chosen = _all_or(draw.grid, columns)
    return Gaps(_lose_by_column(draw, chosen, repeat(0.0, len(chosen)), keep_one), "MCAR")


def mar(draw: Draw, *, seen: Any = 0.3, columns: Any = None, strength: float = 2.0) -> Gaps:
    """Entries go missing by a logistic model of columns that are always seen.

    For each column j that may lose entries, eta_j = Σ_s w_sj z_s over the seen columns s, with z in
    standard deviations and w_j a random direction; an entry goes with the chance
    1 / (1 + exp(c_j - eta_j)). Every such column loses the same share of its entries, so all gaps
    are outside the seen columns, and the rate can be no more than their share of the table.

    seen : the columns that are always seen and drive the gaps: names or positions; or their share,
        in (0, 1), picked at random among complete columns of numbers that vary
    columns : which may lose entries; None means all that are not seen
    strength : standard deviation of eta, in logits

    >>> from imputefree.missingness import make_missing
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> make_missing("mar", X, seen=[0], strength=1.0).drivers.abs().round().astype(int)
       0  1  2
    0  0  0  0
    1  1  0  0
    2  1  0  0
    """
    grid = draw.grid
    check_value("strength", strength, STRENGTH)
    drivers = driver_columns(draw, "seen", seen)
    others = [j for j in range(len(grid.names)) if j not in drivers]
    chosen = others if columns is None else grid.find("columns", columns)
    if set(chosen) & set(drivers) or not chosen:
        fact = "columns and seen overlap" if chosen else "no column is left to lose entries"
        rule = "A column that is always seen loses no entries"
        raise ParameterError(fact, rule, "Take columns out of seen")
    etas, matrix = _linear_models(draw, drivers, chosen, strength)
    return Gaps(
        _lose_by_column(draw, chosen, etas, more=f", {len(drivers)} drive them"), "MAR", matrix
    )


def mnar_self(
    draw: Draw,
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
    strength : logits per standard deviation of the column
    keep_one : see `mcar`

    >>> from imputefree.missingness import make_missing
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> gappy = make_missing("mnar_self", X, rate=0.5).apply(X)
    >>> bool(np.nanmean(gappy) < X.mean())
    True
    """
    grid = draw.grid
    check_value("side", side, choice("high", "low"))
    check_value("strength", strength, STRENGTH)
    sign = 1 if side == "high" else -1
    chosen = _all_or(grid, columns, numbers=True)
    etas = (sign * strength * grid.scaled(j) for j in chosen)
    lost = _lose_by_column(draw, chosen, etas, keep_one)
    drivers = no_drivers(grid)
    for j in chosen:
        drivers[j, j] = sign * strength * grid.varies(j)
    return Gaps(lost, "MNAR", drivers)


def mnar_quantile(
    draw: Draw, *, columns: Any = None, side: str = "high", share: float = 1.0
) -> Gaps:
    """Censoring: only values beyond a quantile of their column go missing, a share of them.

    Every column loses the same part p of its entries, out of its most extreme p / share. Ties at
    the quantile are broken at random. Drivers are infinite: outside the tail the odds of a gap are
    0. Rows that are entirely missing can occur.

    columns : which may lose entries; None means all
    side : "high", "low" or "both", half of the tail at each end
    share : share of the tail that goes missing, in (0, 1]; the rate can be no higher

    >>> from imputefree.missingness import make_missing
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> make_missing("mnar_quantile", X, rate=0.3).apply(X).ravel()
    array([ 0.,  1.,  2.,  3.,  4.,  5.,  6., nan, nan, nan])
    """
    grid, _, rng = draw
    check_value("side", side, choice("high", "low", "both"))
    check_value("share", share, SHARE)
    chosen = _all_or(grid, columns, numbers=True)
    free = np.floor(share * grid.present[:, chosen].sum(axis=0) + 1e-9).astype(int)
    reason = f"{len(chosen)} columns may lose entries, and only {share:g} of a tail goes missing"
    counts = allot(free, to_lose(draw, int(free.sum()), reason), rng)
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
    draw: Draw, *, drivers: Any = 0.3, strength: float = 2.0, keep_one: bool = False
) -> Gaps:
    """Gaps by a logistic model of columns that then lose entries themselves.

    Like `mar`, but the columns that drive the gaps of the others lose the same share of their
    entries, completely at random. What was missing in them beforehand drives as their mean would.

    drivers : columns by name or position; or their share, in (0, 1), picked at random among columns
        of numbers that vary
    strength, keep_one : see `mnar_self`

    >>> from imputefree.missingness import make_missing
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> make_missing("mnar_hidden", X, rate=0.5, drivers=[0]).report()["driven by"].tolist()
    ['nothing', "'0' (+2)"]
    """
    grid = draw.grid
    check_value("strength", strength, STRENGTH)
    hidden = driver_columns(draw, "drivers", drivers, complete=False)
    others = [j for j in range(len(grid.names)) if j not in hidden]
    if not others:
        rule, remedy = "They drive the gaps of other columns", "Leave a column out of drivers"
        raise ParameterError("drivers holds all columns", rule, remedy)
    etas, matrix = _linear_models(draw, hidden, others, strength)
    etas = chain(repeat(0.0, len(hidden)), etas)
    return Gaps(_lose_by_column(draw, hidden + others, etas, keep_one), "MNAR", matrix)


def _all_or(grid: Grid, columns: Any, numbers: bool = False) -> list[int]:
    """All columns if None; with `numbers`, columns of strings are an error."""
    chosen = list(range(len(grid.names))) if columns is None else grid.find("columns", columns)
    for j in chosen if numbers else []:
        grid.check_numbers(j)
    return chosen


def driver_columns(draw: Draw, name: str, columns: Any, complete: bool = True) -> list[int]:
    """Positions of columns that can drive gaps: those listed, or a share of all, at random.

    complete : they must have no gaps
    """
    if isinstance(columns, float):
        check_value(name, columns, SHARE)
        return _pick_columns(draw, columns, name, complete)
    grid = draw.grid
    positions = grid.find(name, columns)
    for j in positions:
        grid.check_numbers(j)
        if complete and not grid.present[:, j].all():
            fact = f"{name} holds {grid.label(j)}, which has gaps"
            rule = "Gaps at random depend on values that are always seen"
            raise ParameterError(fact, rule, f"Choose complete columns for {name}")
    if not any(grid.varies(j) for j in positions):
        rule = "These gaps depend on values that differ between rows"
        remedy = f"Choose a column that varies for {name}"
        raise ParameterError(f"{name} holds only constant columns", rule, remedy)
    return positions


def _pick_columns(draw: Draw, share: float, name: str, complete: bool) -> list[int]:
    """That share of the columns, at least one and not all, of numbers that vary."""
    grid, _, rng = draw
    width = len(grid.names)
    wanted = min(max(math.floor(share * width + 0.5), 1), width - 1)
    good = (
        j
        for j in rng.permutation(width).tolist()
        if (not complete or grid.present[:, j].all()) and grid.varies(j)
    )
    picked = sorted(islice(good, wanted))
    if not picked:
        raise ParameterError(
            f"X has {width} columns, and none of them can drive the gaps of another",
            f"That takes two columns, one of them {'complete and ' * complete}of numbers that vary",
            f"Add such a column and name it in {name}=",
        )
    return picked


def _linear_models(
    draw: Draw, drivers: list[int], targets: list[int], strength: float
) -> tuple[Iterable[Any], np.ndarray]:
    """Etas of the target columns, one after the other, and the matrix of who drives whom."""
    z = scaled_columns(draw.grid, drivers)
    weights = random_weights(z, len(targets), strength, draw.rng)
    matrix = no_drivers(draw.grid)
    matrix[np.ix_(targets, drivers)] = weights.T
    return _linear(z, weights), matrix


def scaled_columns(grid: Grid, columns: list[int]) -> np.ndarray:
    """(rows, len(columns)) float32, in standard deviations; constant columns are 0."""
    return np.column_stack([grid.scaled(j).astype(np.float32) for j in columns])


def random_weights(
    z: np.ndarray, n_models: int, strength: float, rng: np.random.Generator
) -> np.ndarray:
    """Weights (drivers, n_models) such that z @ weights has that standard deviation.

    Drivers that are 0 everywhere, as constant columns are, get no weight.
    """
    drives = np.asarray(z.any(axis=0))
    weights = rng.normal(size=(z.shape[1], n_models)) * drives[:, None]
    spread = np.sqrt(np.einsum("dm,de,em->m", weights, np.atleast_2d(np.cov(z.T, ddof=0)), weights))
    return weights * (strength / np.maximum(spread, 1e-12))


def no_drivers(grid: Grid) -> np.ndarray:
    """(d, d) zeros."""
    return np.zeros((len(grid.names), len(grid.names)), np.float32)


def to_lose(draw: Draw, may: int, reason: str = "") -> int:
    """How many entries have to go for this rate; at most `may`, for this reason."""
    rate = DEFAULT_RATE if draw.rate is None else float(draw.rate)
    present = draw.grid.present
    missing = present.size - int(present.sum())
    count = round(rate * present.size) - missing
    check_reachable(rate, count < 0, missing / present.size, "", low=True)
    check_reachable(rate, count > may, (missing + may) / present.size, reason)
    return count


def check_reachable(
    rate: float, beyond: bool, limit: float, reason: str, low: bool = False
) -> None:
    """Raise an error if the rate is beyond a limit: the highest, or the lowest possible rate."""
    if beyond and low:
        rule = "The rate counts all missing entries, old and new"
        fact = f"rate is {rate:g}, but {limit:.3g} of X is missing already"
        raise ParameterError(fact, rule, "Raise rate")
    if beyond:
        rule = f"At most {limit:.3g} of all entries can be missing here"
        remedy = "Lower rate, or let more entries go missing"
        raise ParameterError(f"rate {rate:g} cannot be reached: {reason}", rule, remedy)


def allot(sizes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Share `count` out in proportion to `sizes`, in integers; who gets the rest is random."""
    order = rng.permutation(len(sizes))
    reached = np.cumsum(sizes[order]) * (count / max(int(sizes.sum()), 1))
    counts = np.empty(len(sizes), int)
    counts[order] = np.diff(np.floor(reached + 0.5), prepend=0)
    return counts


def highest(score: np.ndarray, count: int) -> np.ndarray:
    """True at exactly the `count` highest scores."""
    if count == 0:
        return np.zeros(len(score), bool)
    cut = np.partition(score, -count)[-count]
    chosen = score > cut
    chosen[np.flatnonzero(score == cut)[: count - int(chosen.sum())]] = True
    return chosen


def _lose_by_column(
    draw: Draw, columns: list[int], etas: Iterable[Any], keep_one: bool = False, more: str = ""
) -> np.ndarray:
    """Each column loses the same share of its entries, those with the highest eta + noise.

    `etas`, one (rows,) per column, are in logits; `more` goes into an error. -> (rows, d) bool.
    """
    grid, _, rng = draw
    lost = np.zeros(grid.present.shape, bool, order="F")
    may = np.asfortranarray(grid.present[:, columns])
    reason = f"{len(columns)} of {len(grid.names)} columns may lose entries{more}"
    if keep_one:
        may &= ~_one_per_row(grid, rng)[:, columns]
        reason += " and keep_one keeps one entry per row"
    sizes = may.sum(axis=0)
    counts = allot(sizes, to_lose(draw, int(sizes.sum()), reason), rng)
    for at, (column, eta) in enumerate(zip(columns, etas, strict=True)):
        score = eta + rng.logistic(size=len(may))
        lost[may[:, at], column] = highest(score[may[:, at]], counts[at])
    return lost


def _one_per_row(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """One random entry of each row that has any, independently of its value: (rows, d) bool."""
    pick = np.where(grid.present, rng.random(grid.present.shape, np.float32), -1.0).argmax(axis=1)
    picked = np.zeros(grid.present.shape, bool)
    picked[np.arange(len(picked)), pick] = True
    return picked & grid.present


def _linear(z: np.ndarray, weights: np.ndarray) -> Iterator[np.ndarray]:
    """The columns of z @ weights one by one, without holding them all in memory."""
    for start in range(0, weights.shape[1], CHUNK):
        yield from (z @ weights[:, start : start + CHUNK].astype(z.dtype)).T


def _tail(values: np.ndarray, size: int, side: str, rng: np.random.Generator) -> np.ndarray:
    """Positions of the `size` most extreme values; ties in random order."""
    low = {"low": size, "high": 0, "both": size // 2}[side]
    high = len(values) - (size - low)
    shuffled = rng.permutation(len(values))
    cuts = [cut for cut in (low, high) if cut < len(values)]
    order = shuffled[np.argpartition(values[shuffled], cuts)] if cuts else shuffled
    return np.concatenate([order[:low], order[high:]])
