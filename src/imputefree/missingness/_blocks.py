"""Whole groups of columns missing together, as the two kinds of retinal images in an eye clinic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ParameterError
from ._at_random import scaled_columns, seen_columns
from ._checks import check_columns, check_number, is_whole
from ._draws import DEFAULT_RATE, Gaps, no_drivers, random_weights, unreachable
from ._grid import Grid


def blocks(
    grid: Grid,
    rate: float | None,
    rng: np.random.Generator,
    *,
    groups: Any = None,
    at_most: int | None = None,
    driver: Any = None,
    strength: float = 2.0,
    groups_as_one: bool = False,
) -> Gaps:
    """Of each row, whole groups of columns go missing; columns in no group never do.

    The groups go missing equally often on average. The rate is met to the nearest block.

    groups : list of lists of columns, by name or position, or a dict of such lists
    at_most : how many groups of a row may be missing; None means all, and then rows that are
        entirely missing can occur. A group that is missing already counts.
    driver : None for MCAR; or complete columns in no group, which make it MAR: the score of a group
        is then a random direction of theirs, with standard deviation `strength`
    groups_as_one : count a group as one entry in the rate, as the paper does for images' features

    >>> from imputefree.missingness import make_missing
    >>> eyes = make_missing("blocks", np.ones((4, 5)), 0.4, groups=[[0, 1], [2, 3]], at_most=1)
    >>> eyes.observed.astype(int)
    array([[0, 0, 1, 1, 1],
           [0, 0, 1, 1, 1],
           [1, 1, 0, 0, 1],
           [1, 1, 0, 0, 1]])
    """
    check_number("strength", strength, 0, 100, open_low=True)
    members = _check_groups(groups, grid)
    limit = _check_at_most(at_most, len(members))
    present = np.column_stack([grid.present[:, columns].sum(axis=1) for columns in members])
    matrix = no_drivers(grid)
    eta: Any = 0.0
    if driver is not None:
        drivers = seen_columns(grid, driver, rng, "driver")
        inside = [j for columns in members for j in columns if j in drivers]
        if inside:
            raise ParameterError(
                f"driver holds {grid.label(inside[0])}, which is in a group",
                "A column that drives gaps is always seen",
                "Take it out of its group",
            )
        z = scaled_columns(grid, drivers)
        weights = random_weights(z, len(members), strength, rng)
        eta = z @ weights
        for columns, weight in zip(members, weights.T, strict=True):
            matrix[np.ix_(columns, drivers)] = weight
    grouped = sorted(j for columns in members for j in columns)
    others = np.delete(grid.present, grouped, axis=1)
    weight = (present > 0).astype(int) if groups_as_one else present
    size = others.size + (weight.size if groups_as_one else len(others) * len(grouped))
    before = size - int(weight.sum()) - int(others.sum())
    budget = limit - (present == 0).sum(axis=1)
    chosen = draw_blocks(eta, weight, rate, size, before, rng, budget)
    lost = np.zeros(grid.present.shape, bool)
    for at, columns in enumerate(members):
        lost[:, columns] = chosen[:, [at]]
    reached = (before + int(weight[chosen].sum())) / size
    mechanism = "MCAR" if driver is None else "MAR"
    return Gaps(lost, mechanism, matrix, reached)


def draw_blocks(
    eta: Any,
    weight: np.ndarray,
    rate: float | None,
    size: int,
    before: int,
    rng: np.random.Generator,
    budget: np.ndarray,
) -> np.ndarray:
    """Blocks to lose so that the rate is met as nearly as whole blocks can: (rows, groups) bool.

    Those with the highest eta + logistic noise go, in each row no more than its budget.

    eta : (rows, groups) or 0; weight : (rows, groups) entries a block still has; size : entries in
    all; before : entries that are missing already; budget : (rows,)
    """
    rate = DEFAULT_RATE if rate is None else float(rate)
    target = rate * size - before
    if target < -0.5:
        raise ParameterError(
            f"rate is {rate:g}, but {before / size:.3g} of X is missing already",
            "The rate counts all missing entries, old and new",
            "Raise rate",
        )
    score = eta + rng.logistic(size=weight.shape)
    score[weight == 0] = -np.inf
    rank = (-score).argsort(axis=1).argsort(axis=1)
    score[rank >= budget[:, None]] = -np.inf
    free = np.flatnonzero(np.isfinite(score))
    order = free[np.argsort(-score.ravel()[free], kind="stable")]
    total = np.concatenate([[0], np.cumsum(weight.ravel()[order])])
    if target > total[-1] + 0.5 * weight.max():
        limit = (before + total[-1]) / size
        raise unreachable(rate, limit, "there are not enough blocks that may go missing")
    chosen = np.zeros(weight.shape, bool)
    chosen.ravel()[order[: int(np.abs(total - target).argmin())]] = True
    return chosen


def _check_groups(groups: Any, grid: Grid) -> list[list[int]]:
    if isinstance(groups, Mapping):
        groups = list(groups.values())
    if not isinstance(groups, list | tuple) or not groups:
        raise ParameterError(
            f"groups is {groups!r}",
            "It must be a list of lists of columns, or a dict of such lists",
            "Pass groups=[[…], […]]",
        )
    members = [check_columns("groups", one, grid) for one in groups]
    flat = [j for columns in members for j in columns]
    twice = next((j for j in flat if flat.count(j) > 1), None)
    if twice is not None:
        raise ParameterError(
            f"{grid.label(twice)} is in two groups",
            "Groups go missing independently, so they share no column",
            "Take it out of one of them",
        )
    return members


def _check_at_most(at_most: Any, n_groups: int) -> int:
    if at_most is None:
        return n_groups
    if not is_whole(at_most) or not 1 <= at_most <= n_groups:
        raise ParameterError(
            f"at_most is {at_most!r}",
            f"It must be a whole number from 1 to {n_groups}, the number of groups",
            "Pass at_most= such a number",
        )
    return int(at_most)
