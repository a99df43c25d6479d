"""Numbers on one scale: centred by the median, divided by a robust spread, bent at the ends."""

from __future__ import annotations

import numpy as np

SOFT_LIMIT = 3.0  # in robust standard deviations: where the bend sets in
HARD_LIMIT = 1e6  # keeps the square below finite for any float64


def robust_location(values: np.ndarray) -> tuple[float, float]:
    """Median and spread of the observed entries of one column; (0, 1) where there are none.

    The spread is the interquartile range over 1.349 (the standard deviation of a normal). Where
    half of the column is one value that range is 0, and the standard deviation steps in; for a
    constant column it is 1.

    >>> robust_location(np.array([1.0, 2.0, 3.0, np.nan, 1e9]))[0]
    2.5
    """
    seen = values[~np.isnan(values)]
    if not len(seen):
        return 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        low, median, high = np.percentile(seen, [25, 50, 75])
        spread = (high - low) / 1.349
        if not 0 < spread < np.inf:
            spread = seen.std()
    if not np.isfinite(median):
        median = float(seen[0])
    return float(median), float(spread) if 0 < spread < np.inf else 1.0


def scale(values: np.ndarray, center: float, spread: float) -> np.ndarray:
    """(x - center) / spread, bent smoothly so that no outlier leaves ±3; NaN stays NaN.

    Near the centre the bend does nothing: z / sqrt(1 + (z/3)²) ≈ z.

    >>> scale(np.array([0.0, 0.3, 1e9, np.nan]), 0.0, 1.0).round(3)
    array([0.   , 0.299, 3.   ,   nan])
    """
    with np.errstate(over="ignore"):
        z = np.clip((values - center) / spread, -HARD_LIMIT, HARD_LIMIT)
    return z / np.sqrt(1.0 + (z / SOFT_LIMIT) ** 2)
