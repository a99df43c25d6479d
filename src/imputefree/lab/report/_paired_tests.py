"""Tests on paired differences: is a method better than another, or was it luck?

Both work on many comparisons at once, a column each; NaN marks a pair that is not there.

>>> gains = np.array([[0.01, 0.00], [0.02, 0.00], [0.03, 0.00]])  # 3 runs, 2 comparisons
>>> t, p = corrected_t(gains, test_to_train=0.25)
>>> t.round(3), p.round(3)
(array([2.619, 0.   ]), array([0.12, 1.  ]))
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

# Differences of numbers near 1 carry rounding noise of about 1e-16: 0.9 - 0.8 is not 0.8 - 0.7.
# What agrees to this share of the largest difference is the same.
NOISE = 1e-9


def corrected_t(
    differences: np.ndarray, test_to_train: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The corrected resampled t-test of Nadeau & Bengio (2003), two-sided.

    Runs share training rows, so their differences are not independent, and the plain paired t-test
    finds far too much. The variance of the mean, s²/n, is replaced by s² (1/n + n_test/n_train):

        t = mean / √(s² (1/n + n_test/n_train)),   n - 1 degrees of freedom

    Parameters
    ----------
    differences : (runs, k) or (runs,), NaN where a pair is missing
    test_to_train : n_test / n_train, one number or (k,); 0 gives the plain paired t-test

    Returns
    -------
    t, p : (k,) or scalars
        All differences 0: t 0, p 1. The same difference other than 0 in every run: t ±inf and
        p NaN, for without spread the test has no answer. Fewer than two pairs: both NaN.
    """
    d = np.asarray(differences, dtype=np.float64)
    n = np.isfinite(d).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(d, axis=0) / n
        spread = np.sqrt(np.nansum((d - mean) ** 2, axis=0) / (n - 1))
        largest = np.max(np.abs(d), axis=0, initial=0.0, where=np.isfinite(d))
        t = mean / (spread * np.sqrt(1 / n + test_to_train))
        p = 2 * student.sf(np.abs(t), n - 1)
        constant = spread <= NOISE * largest
        t = np.where(constant, np.where(largest == 0, 0.0, np.sign(mean) * np.inf), t)
        p = np.where(constant, np.where(largest == 0, 1.0, np.nan), p)
    enough = n > 1
    return np.where(enough, t, np.nan)[()], np.where(enough, p, np.nan)[()]


def signed_rank(differences: np.ndarray) -> tuple[float, float]:
    """Wilcoxon's signed-rank test, two-sided and exact, ties and all.

    The p-value is the share of the 2ⁿ sign patterns that are at least as one-sided as the one
    seen, counted by adding one rank after another; no normal approximation at any n.

    Parameters
    ----------
    differences : (n,) one a study; NaN is left out, and so is 0 (Wilcoxon's own rule)

    Returns
    -------
    W, p : the sum of the ranks of the positive differences, and the p-value. Nothing but zeros: W
        0, p 1. No differences at all: both NaN.

    >>> signed_rank(np.array([0.02, 0.01, 0.04, 0.03, 0.05]))  # 5 wins of 5: 2 of 32 patterns
    (15.0, 0.0625)
    """
    d = np.asarray(differences, dtype=np.float64)
    d = d[np.isfinite(d)]
    if not len(d):
        return float("nan"), float("nan")
    largest = np.abs(d).max()
    if largest == 0:
        return 0.0, 1.0
    d = np.round(d / largest / NOISE)  # ties by what was measured, not by rounding noise
    d = d[d != 0]
    # Twice a rank is whole, even of ties: the sums can be counted in an array.
    doubled = np.round(2 * rankdata(np.abs(d))).astype(int)
    chance = np.zeros(doubled.sum() + 1)
    chance[0] = 1.0
    for rank in doubled:  # this rank counts, or it does not, by the toss of a coin
        chance[rank:] = (chance[rank:] + chance[: len(chance) - rank]) / 2
        chance[:rank] /= 2
    positive = doubled[d > 0].sum()
    smaller = min(positive, doubled.sum() - positive)
    return float(positive / 2), float(min(1.0, 2 * chance[: smaller + 1].sum()))
