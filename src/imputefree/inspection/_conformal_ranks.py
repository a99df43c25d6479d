"""Ranks, intervals and sets of conformal prediction: arithmetic on scores, without any model.

A row is compared with n calibration rows. The answer y belongs to the set unless too many of these
rows conform better to their own answer than the row would conform to y:

    y is in the set  if and only if  #{k : s_k < s(y)} < rank,   rank = ceil(coverage * (n + 1))

s_k is the score of calibration row k, s(y) that of the row with y, both from the model that did not
learn from k (Vovk 2015, cross-conformal prediction; with one model: split conformal prediction).
"""

from __future__ import annotations

import warnings

import numpy as np

ROUNDING = 1e-9  # 0.55 * 100 is 55.00000000000001, whose ceiling would be 56
TIE = 1e-6  # probabilities of equal rows differ by less, by rounding: in a batch, or one alone


def ranks_of(coverage: float, counts: np.ndarray) -> np.ndarray:
    """Which of n sorted scores bounds a set, for each count n; n + 1 means that there is no bound.

    >>> ranks_of(0.9, np.array([99, 9, 8]))
    array([90,  9,  9])
    """
    return np.ceil(coverage * (counts + 1) - ROUNDING).astype(int)


def rows_needed(coverage: float) -> int:
    """The fewest calibration rows that give a bound.

    >>> rows_needed(0.9), rows_needed(0.99)
    (9, 99)
    """
    return int(np.ceil(coverage / (1 - coverage) - ROUNDING))


def interval_ends(predicted: np.ndarray, scores: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Intervals (r, 2) from predictions and absolute residuals, (r, n) each, and ranks (r,).

    The ends are those of CV+ (Barber, Candès, Ramdas and Tibshirani 2021): the rank-th largest of
    predicted - score and the rank-th smallest of predicted + score. Every number that the
    definition above lets in lies between them.

    >>> scores = np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]])
    >>> interval_ends(np.full((2, 3), 10.0), scores, np.array([2, 4]))
    array([[  8.,  12.],
           [-inf,  inf]])
    """
    return np.column_stack(
        [-_ranked(scores - predicted, ranks), _ranked(scores + predicted, ranks)]
    )


def _ranked(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The rank-th smallest of each row, infinite if there are fewer; (r, n), (r,) -> (r,)."""
    last = values.shape[1] - 1
    places = np.minimum(ranks - 1, last)
    ordered = np.partition(values, np.unique(places), axis=1)
    chosen = np.take_along_axis(ordered, places[:, None], axis=1)[:, 0]
    return np.where(ranks - 1 > last, np.inf, chosen)


def set_members(trial_scores: np.ndarray, scores: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Which classes belong to the set; scores with each class (r, n, C), and (r, n) -> (r, C).

    Scores that differ by no more than rounding are equal: rows without any value all have the same
    prediction, and none of them conforms better than another.
    """
    return (scores[:, :, None] < trial_scores - TIE).sum(1) < ranks[:, None]


def missing_groups(n_missing: np.ndarray, least: int) -> np.ndarray:
    """Where groups by how much is missing begin: sorted counts, the first of them 0; (groups,).

    Rows with equally many gaps are in one group. Every group has at least `least` rows, unless
    there is only one.

    n_missing : (n,) gaps of each calibration row

    >>> missing_groups(np.repeat([0, 1, 2, 7], [50, 60, 5, 40]), least=40)
    array([0, 1, 2])
    >>> missing_groups(np.repeat([0, 1, 2], [50, 60, 30]), least=40)
    array([0, 1])
    """
    counts = np.bincount(n_missing)
    starts, size = [0], 0
    for count in np.flatnonzero(counts):
        if size >= least:
            starts.append(int(count))
            size = 0
        size += counts[count]
    if size < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)


def warn_of_too_few(n: int, coverage: float, consequence: str) -> None:
    """Say that there are too few calibration rows for this coverage."""
    warnings.warn(
        f"A coverage of {coverage:g} needs at least {rows_needed(coverage)} calibration rows, and"
        f" there are {n}: {consequence}. Ask for less coverage, or calibrate with more rows.",
        stacklevel=4,
    )
