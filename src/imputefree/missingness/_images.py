"""MNIST's MAR of Section 4.4: part of an image is always seen and decides what else is missing.

The paper says: "the MAR version assumes part of the image is always observable and the positions of
missing pixels are determined by a distribution conditioned on features extracted from the
observable portion following MIWAE", and "entire rows of pixels could be missing". It leaves open
which part, which features, which distribution and the rate (its table prints "-").

Two readings are here:

"rows" (the default), whose rate can be set. The upper half is seen. Features are the mean
intensities of the four quarters of the seen part, in standard deviations. Each row of pixels of the
other part goes missing as a whole, with a chance that is logistic in a random direction of them.

"quarters", what the code around MIWAE (Mattei and Frellsen, 2019) does. The LOWER half is seen, and
h = 0.3 + its mean intensity in [0, 1]. A draw from Binomial(2, h) decides: 0, the quarter next to
the seen half is missing; 1, the other half is; 2, the far quarter is. It fixes the rate: about 0.37
on MNIST. To reproduce the paper's table, this is the one to take.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ._blocks import draw_blocks
from ._checks import check_choice, check_number, is_whole
from ._draws import Gaps, no_drivers, random_weights
from ._grid import Grid

OFFSET = 0.3  # of MIWAE's h


def mnist_mar(
    grid: Grid,
    rate: float | None,
    rng: np.random.Generator,
    *,
    pattern: str = "rows",
    seen: str | None = None,
    seen_share: float = 0.5,
    strength: float = 2.0,
    shape: tuple[int, int] | None = None,
) -> Gaps:
    """Rows of pixels go missing by features of the part that is always seen; see the module's text.

    X is (n, height, width), or (n, height * width) read row by row.

    pattern : "rows" or "quarters"
    seen : "upper" or "lower"; None means "upper" for rows, "lower" for quarters
    seen_share : of the rows of pixels that are always seen
    strength : standard deviation of the logits, for rows
    shape : height and width of flat images; None means square ones

    >>> from imputefree.missingness import make_missing
    >>> images = np.random.default_rng(0).random((3, 4, 4))
    >>> make_missing("mnist_mar", images, rate=0.25).observed[:, :, 0].astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 1],
           [1, 1, 1, 1]])
    """
    check_choice("pattern", pattern, "rows", "quarters")
    if seen is None:
        seen = "upper" if pattern == "rows" else "lower"
    check_choice("seen", seen, "upper", "lower")
    check_number("seen_share", seen_share, 0, 1, open_low=True)
    check_number("strength", strength, 0, 100, open_low=True)
    height, width = _check_shape(shape, grid)
    n_seen = math.floor(seen_share * height + 0.5)
    least = 1 if pattern == "rows" else 2
    if not 1 <= n_seen <= height - least:
        raise ParameterError(
            f"seen_share is {seen_share:g} for images of {height} rows of pixels",
            f"At least one row is always seen, and at least {least} may go missing",
            "Pass another seen_share",
        )
    # Bands that go missing, numbered from the seen part outwards.
    shown, bands = np.arange(n_seen), np.arange(n_seen, height)
    if seen == "lower":
        shown, bands = height - 1 - shown[::-1], height - 1 - bands
    part = _seen_part(grid, shown, height, width)
    if pattern == "rows":
        chosen, slopes = _rows(part, grid, bands, rate, rng, strength)
    else:
        chosen, slopes = _quarters(part, len(bands), rate, rng)
    pixels = np.arange(height * width).reshape(height, width)
    lost = np.zeros((len(part), height, width), bool)
    lost[:, bands] = chosen[:, :, None]
    drivers = no_drivers(grid)
    for band, slope in zip(bands, slopes, strict=True):
        drivers[np.ix_(pixels[band], pixels[shown].ravel())] = slope.ravel()
    return Gaps(lost.reshape(len(part), -1), "MAR", drivers)


def _check_shape(shape: Any, grid: Grid) -> tuple[int, int]:
    n_pixels = len(grid.names)
    given = np.shape(grid.restore(grid.present))[1:]
    if shape is None:
        side = math.isqrt(n_pixels)
        shape = given if len(given) == 2 else (side, side)
    good = isinstance(shape, tuple | list) and len(shape) == 2 and all(map(is_whole, shape))
    if not good or shape[0] * shape[1] != n_pixels or min(shape) < 1:
        raise ParameterError(
            f"shape is {shape!r} for images of {n_pixels} pixels",
            "It must be (height, width), whole numbers whose product is the number of pixels",
            "Pass shape= such a pair, or X as (n, height, width)",
        )
    return int(shape[0]), int(shape[1])


def _seen_part(grid: Grid, shown: np.ndarray, height: int, width: int) -> np.ndarray:
    """(n, rows seen, width), complete and with values that differ."""
    columns = slice(shown[0] * width, (shown[-1] + 1) * width)
    if not grid.present[:, columns].all():
        raise InputError(
            "the part of the images that is always seen has gaps",
            "Gaps at random depend on values that are always seen",
            "Choose another part with seen= or seen_share=, or complete it",
        )
    if isinstance(grid.columns, list):
        at = range(columns.start, columns.stop)
        flat = np.column_stack([grid.column(j) for j in at])
    else:
        flat = grid.columns[:, columns]
    if flat.min() == flat.max():
        raise InputError(
            "the part of the images that is always seen is the same everywhere",
            "Gaps at random depend on values that differ between images",
            "Choose another part with seen= or seen_share=",
        )
    return flat.reshape(len(flat), len(shown), width)


def _rows(
    part: np.ndarray,
    grid: Grid,
    bands: np.ndarray,
    rate: float | None,
    rng: np.random.Generator,
    strength: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows lost (n, bands), and logits a standard deviation of each seen pixel (bands, h, w)."""
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
    weights = random_weights(z, len(bands), strength, rng)
    image = grid.present.reshape(len(part), -1, width)
    weight = image[:, bands].sum(axis=2)
    before = int((~grid.present).sum())
    budget = np.full(len(part), len(bands))
    chosen = draw_blocks(z @ weights, weight, rate, grid.present.size, before, rng, budget)
    slopes = np.zeros((len(bands), height, width))
    for (r, c), weight_of, one in zip(cells, weights, spread, strict=True):
        slopes[:, r, c] = (weight_of / (one * r.size * c.size))[:, None, None]
    return chosen, slopes * part.std(axis=0)


def _quarters(
    part: np.ndarray, n_bands: int, rate: float | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """As `_rows`; slopes are those at the mean h."""
    if rate is not None:
        raise ParameterError(
            f"rate is {rate:g} for the pattern 'quarters'",
            "That pattern fixes the rate itself",
            "Leave rate out, or pass pattern='rows'",
        )
    low, high = float(part.min()), float(part.max())
    h = np.clip((part.mean(axis=(1, 2), dtype=np.float64) - low) / (high - low) + OFFSET, 0, 1)
    draw = rng.binomial(2, h)
    near = np.arange(n_bands) < n_bands // 2
    chosen = np.where(near, draw[:, None] <= 1, draw[:, None] >= 1)
    mean = float(np.clip(h.mean(), 0.01, 0.99))
    chance = np.where(near, 1 - mean**2, 1 - (1 - mean) ** 2)
    by_h = np.where(near, -2 * mean, 2 * (1 - mean)) / (chance * (1 - chance))
    by_pixel = part.std(axis=0) / ((high - low) * part[0].size)
    return chosen, by_h[:, None, None] * by_pixel
