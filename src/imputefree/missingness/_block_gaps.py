"""Gaps in whole blocks: groups of columns, and the rows of pixels of images.

MNIST's MAR of Section 4.4: "part of the image is always observable and the positions of missing
pixels are determined by a distribution conditioned on features extracted from the observable
portion following MIWAE", and "entire rows of pixels could be missing". The paper leaves open which
part, which features, which distribution and the rate (its table prints "-"). Two readings:

"rows" (the default), whose rate can be set. The upper half is seen. Features are the mean
intensities of the four quarters of the seen part, in standard deviations. Each row of pixels of the
other part goes missing as a whole, with a chance that is logistic in a random direction of them.

"quarters", what the code around MIWAE (Mattei and Frellsen, 2019) does. The LOWER half is seen, and
h = 0.3 + its mean intensity in [0, 1]. A draw from Binomial(2, h) decides: 0, the quarter next to
the seen half is missing; 1, the other half is; 2, the far quarter is. It fixes the rate: about 0.37
on MNIST. This is the one that reproduces the paper's table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._rules import check_value, choice, whole
from ..errors import InputError, ParameterError
from ._entry_gaps import (
    DEFAULT_RATE,
    SHARE,
    STRENGTH,
    Draw,
    Gaps,
    check_reachable,
    driver_columns,
    no_drivers,
    random_weights,
    scaled_columns,
)
from ._grid import Grid

OFFSET = 0.3  # of MIWAE's h


def blocks(
    draw: Draw,
    *,
    groups: Any = None,
    at_most: int | None = None,
    driver: Any = None,
    strength: float = 2.0,
    groups_as_one: bool = False,
) -> Gaps:
    """Of each row, whole groups of columns go missing; columns in no group never do.

    All groups go missing equally often on average. The rate is met to the nearest block.

    groups : list of lists of columns, by name or position, or a dict of such lists
    at_most : how many groups may be missing per row; None means all, and then rows that are
        entirely missing can occur. A group that is missing already counts.
    driver : None for MCAR; or complete columns in no group, which make it MAR: the score of a group
        is then a random direction of theirs, with standard deviation `strength`
    groups_as_one : a group counts as one entry in the rate, as the paper counts an image

    >>> from imputefree.missingness import make_missing
    >>> eyes = make_missing("blocks", np.ones((4, 5)), 0.4, groups=[[0, 1], [2, 3]], at_most=1)
    >>> eyes.observed.astype(int)
    array([[0, 0, 1, 1, 1],
           [0, 0, 1, 1, 1],
           [1, 1, 0, 0, 1],
           [1, 1, 0, 0, 1]])
    """
    grid, _, rng = draw
    check_value("strength", strength, STRENGTH)
    members = _check_groups(groups, grid)
    limit = len(members) if at_most is None else at_most
    is_whole, _ = whole(1)
    rule = f"a whole number from 1 to {len(members)}, the number of groups"
    check_value("at_most", limit, (lambda value: is_whole(value) and value <= len(members), rule))
    present = np.column_stack([grid.present[:, columns].sum(axis=1) for columns in members])
    matrix = no_drivers(grid)
    eta: Any = 0.0
    if driver is not None:
        drivers = driver_columns(draw, "driver", driver)
        inside = [j for columns in members for j in columns if j in drivers]
        if inside:
            fact = f"driver holds {grid.label(inside[0])}, which is in a group"
            rule = "A column that drives gaps is always seen"
            raise ParameterError(fact, rule, "Take it out of its group")
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
    chosen = _draw_blocks(draw, eta, weight, size, before, budget)
    lost = np.zeros(grid.present.shape, bool)
    for at, columns in enumerate(members):
        lost[:, columns] = chosen[:, [at]]
    reached = (before + int(weight[chosen].sum())) / size
    mechanism = "MCAR" if driver is None else "MAR"
    return Gaps(lost, mechanism, matrix, reached)


def _draw_blocks(
    draw: Draw, eta: Any, weight: np.ndarray, size: int, before: int, budget: np.ndarray
) -> np.ndarray:
    """Blocks to lose so that the rate is met to the nearest block: (rows, groups) bool.

    Those with the highest eta + logistic noise go, in each row at most its budget.

    eta : (rows, groups) or 0; weight : (rows, groups), entries that a block still has; size :
    entries in all; before : entries that are missing already; budget : (rows,)
    """
    rate = DEFAULT_RATE if draw.rate is None else float(draw.rate)
    target = rate * size - before
    check_reachable(rate, target < -0.5, before / size, "", low=True)
    score = eta + draw.rng.logistic(size=weight.shape)
    score[weight == 0] = -np.inf
    rank = (-score).argsort(axis=1).argsort(axis=1)
    score[rank >= budget[:, None]] = -np.inf
    free = np.flatnonzero(np.isfinite(score))
    order = free[np.argsort(-score.ravel()[free], kind="stable")]
    total = np.concatenate([[0], np.cumsum(weight.ravel()[order])])
    reason = "there are not enough blocks that may go missing"
    beyond = target > total[-1] + 0.5 * weight.max()
    check_reachable(rate, beyond, (before + total[-1]) / size, reason)
    chosen = np.zeros(weight.shape, bool)
    chosen.ravel()[order[: int(np.abs(total - target).argmin())]] = True
    return chosen


def _check_groups(groups: Any, grid: Grid) -> list[list[int]]:
    groups = list(groups.values()) if isinstance(groups, Mapping) else groups
    listed = isinstance(groups, list | tuple) and len(groups) > 0
    rule = "a list of lists of columns, or a dict of such lists"
    check_value("groups", groups, (lambda _: listed, rule))
    members = [grid.find("groups", group) for group in groups]
    flat = [j for columns in members for j in columns]
    twice = next((j for j in flat if flat.count(j) > 1), None)
    if twice is not None:
        rule = "Groups go missing independently, so they share no column"
        raise ParameterError(f"{grid.label(twice)} is in two groups", rule, "Take it out of one")
    return members


def mnist_mar(
    draw: Draw,
    *,
    pattern: str = "rows",
    seen: str | None = None,
    seen_share: float = 0.5,
    strength: float = 2.0,
    shape: tuple[int, int] | None = None,
) -> Gaps:
    """Rows of pixels go missing by features of the part always seen; see the module's docstring.

    X is (n, height, width), or (n, height * width) read row by row.

    pattern : "rows" or "quarters"
    seen : "upper" or "lower"; None means "upper" for rows, "lower" for quarters
    seen_share : share of the rows of pixels that are always seen
    strength : standard deviation of the logits, for rows
    shape : height and width of flat images; None means square ones

    >>> from imputefree.missingness import make_missing
    >>> images = np.random.default_rng(0).random((3, 4, 4))
    >>> make_missing("mnist_mar", images, rate=0.25).observed[:, :, 0].astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 1],
           [1, 1, 1, 1]])
    """
    grid = draw.grid
    check_value("pattern", pattern, choice("rows", "quarters"))
    if seen is None:
        seen = "upper" if pattern == "rows" else "lower"
    check_value("seen", seen, choice("upper", "lower"))
    check_value("seen_share", seen_share, SHARE)
    check_value("strength", strength, STRENGTH)
    height, width = _check_shape(shape, grid)
    n_seen = math.floor(seen_share * height + 0.5)
    least = 1 if pattern == "rows" else 2
    if not 1 <= n_seen <= height - least:
        fact = f"seen_share is {seen_share:g} for images of {height} rows of pixels"
        rule = f"At least one row is always seen, and at least {least} may go missing"
        raise ParameterError(fact, rule, "Pass another seen_share")
    # Bands that go missing, numbered from the seen part outwards.
    shown, bands = np.arange(n_seen), np.arange(n_seen, height)
    if seen == "lower":
        shown, bands = height - 1 - shown[::-1], height - 1 - bands
    part = _seen_part(grid, shown, height, width)
    if pattern == "rows":
        chosen, slopes = _rows(draw, part, bands, strength)
    else:
        chosen, slopes = _quarters(draw, part, len(bands))
    pixels = np.arange(height * width).reshape(height, width)
    lost = np.zeros((len(part), height, width), bool)
    lost[:, bands] = chosen[:, :, None]
    drivers = no_drivers(grid)
    for band, slope in zip(bands, slopes, strict=True):
        drivers[np.ix_(pixels[band], pixels[shown].ravel())] = slope.ravel()
    return Gaps(lost.reshape(len(part), -1), "MAR", drivers)


def _check_shape(shape: Any, grid: Grid) -> tuple[int, int]:
    n_pixels = len(grid.names)
    if shape is None:
        restored = np.shape(grid.restore(grid.present))[1:]
        shape = restored if len(restored) == 2 else (math.isqrt(n_pixels),) * 2
    is_whole, _ = whole(1)
    pair = isinstance(shape, tuple | list) and len(shape) == 2 and all(map(is_whole, shape))
    fits = pair and shape[0] * shape[1] == n_pixels
    rule = f"(height, width), whole numbers whose product is the number of pixels, {n_pixels}"
    check_value("shape", shape, (lambda _: fits, rule))
    return int(shape[0]), int(shape[1])


def _seen_part(grid: Grid, shown: np.ndarray, height: int, width: int) -> np.ndarray:
    """(n, rows seen, width), complete and not constant."""
    columns = slice(shown[0] * width, (shown[-1] + 1) * width)
    fact = "the part of the images that is always seen"
    remedy = "Choose another part with seen= or seen_share="
    if not grid.present[:, columns].all():
        rule = "Gaps at random depend on values that are always seen"
        raise InputError(f"{fact} has gaps", rule, remedy)
    for j in range(columns.start, columns.stop):
        grid.check_numbers(j)
    flat = np.column_stack(grid.columns[columns])
    if flat.min() == flat.max():
        rule = "Gaps at random depend on values that differ between images"
        raise InputError(f"{fact} is the same everywhere", rule, remedy)
    return flat.reshape(len(flat), len(shown), width)


def _rows(
    draw: Draw, part: np.ndarray, bands: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rows lost (n, bands), and logits per standard deviation of each seen pixel (bands, h, w)."""
    height, width = part.shape[1:]
    cells = [
        np.ix_(rows, columns)
        for rows in np.array_split(np.arange(height), 2)
        for columns in np.array_split(np.arange(width), 2)
        if len(rows) and len(columns)
    ]
    features = np.column_stack(
        [part[:, r[0, 0] : r[-1, 0] + 1, c[0, 0] : c[0, -1] + 1].mean((1, 2)) for r, c in cells]
    ).astype(np.float64)
    spread = features.std(axis=0)
    spread[spread == 0] = 1.0
    z = (features - features.mean(axis=0)) / spread
    weights = random_weights(z, len(bands), strength, draw.rng)
    present = draw.grid.present
    weight = present.reshape(len(part), -1, width)[:, bands].sum(axis=2)
    before = int((~present).sum())
    budget = np.full(len(part), len(bands))
    chosen = _draw_blocks(draw, z @ weights, weight, present.size, before, budget)
    slopes = np.zeros((len(bands), height, width))
    for (r, c), slope, deviation in zip(cells, weights, spread, strict=True):
        slopes[:, r, c] = (slope / (deviation * r.size * c.size))[:, None, None]
    return chosen, slopes * part.std(axis=0)


def _quarters(draw: Draw, part: np.ndarray, n_bands: int) -> tuple[np.ndarray, np.ndarray]:
    """Like `_rows`; the slopes are those at the mean h."""
    if draw.rate is not None:
        rule, remedy = "That pattern fixes the rate", "Leave rate out, or pass pattern='rows'"
        raise ParameterError(f"rate is {draw.rate:g} for the pattern 'quarters'", rule, remedy)
    low, high = float(part.min()), float(part.max())
    h = np.clip((part.mean(axis=(1, 2), dtype=np.float64) - low) / (high - low) + OFFSET, 0, 1)
    count = draw.rng.binomial(2, h)[:, None]
    near = np.arange(n_bands) < n_bands // 2
    chosen = np.where(near, count <= 1, count >= 1)
    mean = float(np.clip(h.mean(), 0.01, 0.99))
    chance = np.where(near, 1 - mean**2, 1 - (1 - mean) ** 2)
    by_h = np.where(near, -2 * mean, 2 * (1 - mean)) / (chance * (1 - chance))
    by_pixel = part.std(axis=0) / ((high - low) * part[0].size)
    return chosen, by_h[:, None, None] * by_pixel
