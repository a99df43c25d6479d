"""Numbers on one scale: centred, divided by a spread, bent at the ends; and their normal scores.

All statistics come from the observed entries of training rows, and no outlier moves them far.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

SOFT_LIMIT = 3.0  # in standard deviations: where the bend sets in
HARD_LIMIT = 1e6  # keeps squares finite for any float64
OUTLIER = 5.0  # robust standard deviations from the median beyond which a value is pulled in
TINY = 1e-290  # knots closer than this would make a slope overflow
KNOTS = 129  # points that describe a column's distribution


def location(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the observed entries, with outliers pulled in first.

    (0, 1) where nothing is observed; the spread of a constant column is 1.

    >>> center, spread = location(np.array([1.0, 2.0, 3.0, np.nan, 2.0, 1.0, 3.0, 1e9]))
    >>> center < 5, spread < 5
    (True, True)
    """
    seen = values[~np.isnan(values)]
    if not len(seen):
        return 0.0, 1.0
    seen = seen / 16  # an exact division, after which differences and the reach cannot overflow
    low, median, high = np.percentile(seen, [25, 50, 75])
    reach = OUTLIER * (high - low) / 1.349  # 1.349: interquartile range of a standard normal
    if reach > 0:
        pulled = np.clip(seen, median - reach, median + reach)
    else:  # half of the column is one value: quartiles say nothing, the outer percent does
        pulled = np.clip(seen, *np.percentile(seen, [1, 99]))
    center, spread = _moments(pulled)
    return 16 * center, 16 * (spread or _moments(seen)[1]) or 1.0


def _moments(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation; squares of huge and tiny values neither overflow nor vanish."""
    unit = float(np.abs(values).max()) or 1.0
    return float((values / unit).mean()) * unit, float((values / unit).std()) * unit


def scale(values: np.ndarray, center: float, spread: float) -> np.ndarray:
    """(x - center) / spread, bent smoothly so that no outlier leaves ±3; NaN stays NaN.

    Near the centre the bend does nothing: z / sqrt(1 + (z/3)²) ≈ z.

    >>> scale(np.array([0.0, 0.3, 1e9, np.nan]), 0.0, 1.0).round(3)
    array([0.   , 0.299, 3.   ,   nan])
    """
    with np.errstate(over="ignore"):
        z = np.clip((values - center) / spread, -HARD_LIMIT, HARD_LIMIT)
    return z / np.sqrt(1.0 + (z / SOFT_LIMIT) ** 2)


def normal_score_knots(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knots (x, score) of the map that makes a column normal; `np.interp` applies it.

    The score of x is the normal quantile of the share of training entries below it (ties count
    half), so only the order of values matters, not their distances.

    >>> x, score = normal_score_knots(np.array([1.0, 10.0, 100.0, np.nan]))
    >>> x, score.round(2)
    (array([  1.,  10., 100.]), array([-0.97,  0.  ,  0.97]))
    """
    seen = np.sort(values[~np.isnan(values)])
    seen[np.abs(seen) < TINY] = 0.0
    n = len(seen)
    at = np.unique(np.linspace(0, n - 1, min(n, KNOTS)).round().astype(int))
    x = np.unique(seen[at])
    below = np.searchsorted(seen, x, "left") + np.searchsorted(seen, x, "right")
    share = np.clip(below / (2 * n), 0.5 / n, 1 - 0.5 / n)
    return x, ndtri(share)
