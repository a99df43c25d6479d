"""How sure a figure is: confidence intervals by the bootstrap over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

MOST_ROWS = 10_000  # in a resample; a million rows would take minutes and say the same
Interval = tuple[float, float]


def bootstrap(
    metric: Callable[[np.ndarray, np.ndarray], float | None],
    truth: np.ndarray,
    prediction: np.ndarray,
    n: int = 1000,
    seed: int = 0,
) -> Interval | None:
    """95% interval of one figure; None where it is not defined. See `bootstrap_figures`.

    >>> truth = np.array([0, 1] * 50)
    >>> right = np.where(np.arange(100) % 5 == 0, 1 - truth, truth)  # four of five
    >>> low, high = bootstrap(lambda truth, guess: float((truth == guess).mean()), truth, right)
    >>> 0.7 < low < 0.75 < 0.85 < high < 0.9
    True
    """
    found = bootstrap_figures(lambda *pair: {"": metric(*pair)}, truth, prediction, n, seed)
    return found[""]


def bootstrap_figures(
    figures: Callable[[np.ndarray, np.ndarray], Mapping[str, float | None]],
    truth: np.ndarray,
    prediction: np.ndarray,
    n: int = 1000,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """95% percentile intervals of several figures, all from the same resamples of rows.

    truth : (rows,)
    prediction : (rows, …)
    n : resamples; those in which a figure is not defined do not count for it

    With many rows, resamples are smaller than the data and their spread around the figure is
    shrunk by the square root of the ratio: the m out of n bootstrap.
    """
    value, rows = figures(truth, prediction), len(truth)
    size = min(rows, MOST_ROWS)
    shrink = float(np.sqrt(size / rows))
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {name: [] for name in value}
    for _ in range(n):
        chosen = rng.integers(rows, size=size)
        for name, figure in figures(truth[chosen], prediction[chosen]).items():
            if figure is not None:
                drawn[name].append(figure)
    found: dict[str, Interval | None] = {}
    for name, center in value.items():
        if center is None or not drawn[name]:
            found[name] = None
            continue
        low, high = np.percentile(drawn[name], [2.5, 97.5])
        found[name] = (
            float(center + shrink * (low - center)),
            float(center + shrink * (high - center)),
        )
    return found
