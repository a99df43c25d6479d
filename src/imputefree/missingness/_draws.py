"""Drawing gaps: a logistic model whose intercept is set so that the count is met exactly.

A logistic model loses an entry where eta + noise > c, with noise from the standard logistic
distribution: the chance is then 1 / (1 + exp(c - eta)). Instead of solving for the intercept c on
average and tossing coins, `highest` puts c between the k-th and the next entry of the draw itself.
So exactly k entries go, in small tables too, and the mask knows no more about values than eta says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..errors import ParameterError
from ._grid import Grid

DEFAULT_RATE = 0.3
CHUNK = 64  # columns whose eta is held in memory at once


class Gaps(NamedTuple):
    """What a mechanism returns.

    lost : (rows, d) bool, entries that go missing
    mechanism : "MCAR", "MAR" or "MNAR"
    drivers : (d, d), see `Missing`
    rate : share missing in the end, where it is not simply a share of entries
    """

    lost: np.ndarray
    mechanism: str
    drivers: np.ndarray
    rate: float | None = None


def to_lose(grid: Grid, rate: float | None, may: int, why: str) -> int:
    """How many entries have to go so that the rate is met; `may` of them are free to go."""
    rate = DEFAULT_RATE if rate is None else float(rate)
    size = grid.present.size
    count = round(rate * size) - int((~grid.present).sum())
    if count < 0:
        raise ParameterError(
            f"rate is {rate:g}, but {(~grid.present).mean():.3g} of X is missing already",
            "The rate counts all missing entries, old and new",
            "Raise rate",
        )
    if count > may:
        raise unreachable(rate, (size - int(grid.present.sum()) + may) / size, why)
    return count


def unreachable(rate: float, limit: float, why: str) -> ParameterError:
    """The error for a rate that is too high."""
    return ParameterError(
        f"rate {rate:g} cannot be reached: {why}",
        f"At most {limit:.3g} of all entries can be missing here",
        "Lower rate, or let more entries go missing",
    )


def allot(sizes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Share `count` out in proportion to `sizes`, in whole numbers; who gets the rest is random.

    >>> allot(np.array([10, 10, 20]), 8, np.random.default_rng(0))
    array([2, 2, 4])
    """
    order = rng.permutation(len(sizes))
    reached = np.cumsum(sizes[order]) * (count / max(int(sizes.sum()), 1))
    given = np.empty(len(sizes), int)
    given[order] = np.diff(np.floor(reached + 0.5), prepend=0)
    return given


def highest(score: np.ndarray, count: int) -> np.ndarray:
    """True at exactly the `count` highest scores.

    >>> highest(np.array([0.2, 3.0, -1.0, 0.9]), 2)
    array([False,  True, False,  True])
    """
    if count == 0:
        return np.zeros(len(score), bool)
    cut = np.partition(score, -count)[-count]
    chosen = score > cut
    chosen[np.flatnonzero(score == cut)[: count - int(chosen.sum())]] = True
    return chosen


def lose_by_column(
    grid: Grid,
    columns: list[int],
    rate: float | None,
    rng: np.random.Generator,
    etas: Iterable[np.ndarray | float],
    why: str,
    keep_one: bool = False,
) -> np.ndarray:
    """Each of the columns loses the same share of its entries, those where eta + noise is highest.

    `etas`, one (rows,) a column, are in logits. -> (rows, d) bool.
    """
    lost = np.zeros(grid.present.shape, bool, order="F")
    may = np.asfortranarray(grid.present[:, columns])
    if keep_one:
        may &= ~_kept(grid, rng)[:, columns]
        why += " and keep_one keeps an entry a row"
    sizes = may.sum(axis=0)
    counts = allot(sizes, to_lose(grid, rate, int(sizes.sum()), why), rng)
    for at, (column, eta) in enumerate(zip(columns, etas, strict=True)):
        score = eta + rng.logistic(size=len(may))
        lost[may[:, at], column] = highest(score[may[:, at]], counts[at])
    return lost


def _kept(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """One entry of each row that has any, picked whatever its value is: (rows, d) bool."""
    pick = np.where(grid.present, rng.random(grid.present.shape, np.float32), -1.0).argmax(axis=1)
    kept = np.zeros(grid.present.shape, bool)
    kept[np.arange(len(kept)), pick] = True
    return kept & grid.present


def random_weights(
    z: np.ndarray, n_models: int, strength: float, rng: np.random.Generator
) -> np.ndarray:
    """Weights (drivers, n_models) whose models z @ weights have that standard deviation.

    Drivers that are 0 everywhere, which is what a constant column becomes, get no weight.
    """
    drives = np.asarray(z.any(axis=0))
    weights = rng.normal(size=(z.shape[1], n_models)) * drives[:, None]
    spread = np.sqrt(np.einsum("dm,de,em->m", weights, np.atleast_2d(np.cov(z.T, ddof=0)), weights))
    return weights * (strength / np.maximum(spread, 1e-12))


def linear(z: np.ndarray, weights: np.ndarray) -> Iterator[np.ndarray]:
    """The columns of z @ weights one by one, without holding them all."""
    for start in range(0, weights.shape[1], CHUNK):
        yield from (z @ weights[:, start : start + CHUNK].astype(z.dtype)).T


def no_drivers(grid: Grid) -> np.ndarray:
    """(d, d) zeros."""
    return np.zeros((len(grid.names), len(grid.names)), np.float32)
