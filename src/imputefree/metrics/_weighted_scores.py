"""Figures of a prediction under many weightings of its rows at once.

What `bench.metrics` computes once is computed here for B weightings (a bootstrap's counts) without
a loop over them. With weights of one both agree; tests hold that.
"""

from __future__ import annotations

import numpy as np

from . import _scores as metrics
from ._scores import BINS, SMALLEST, Figures

Many = dict[str, np.ndarray]  # figure -> (B,), NaN where it is not defined


def figures(task: str, truth: np.ndarray, prediction: np.ndarray) -> Figures:
    """The figures of a prediction.

    task : "classification": truth (n,) classes 0, 1, …, prediction (n, K) probabilities;
        "regression": truth and prediction (n,)

    >>> figures("regression", np.array([1.0, 3.0]), np.array([1.0, 2.0]))["mae"]
    0.5
    """
    if task == "classification":
        found = metrics.of_classes(truth, prediction)
        order = ("auc", "accuracy", "log_loss", "average_precision", "calibration_error")
        return {name: found[name] for name in order}
    found = metrics.of_numbers(truth, prediction)
    mae = float(np.abs(np.asarray(prediction, np.float64) - truth).mean())
    return {"r2": found["r2"], "mae": mae, "rmse": found["rmse"]}


def weighted(task: str, truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray) -> Many:
    """The same figures once for each weighting; weights (B, n), how often each row counts."""
    prediction = np.asarray(prediction, dtype=np.float64)
    if task == "classification":
        return _of_classes(truth, prediction, weights)
    return _of_numbers(np.asarray(truth, np.float64), prediction, weights)


def _of_classes(truth: np.ndarray, probability: np.ndarray, weights: np.ndarray) -> Many:
    total = weights.sum(1)
    right = probability.argmax(1) == truth
    sure = np.clip(probability[np.arange(len(truth)), truth], SMALLEST, None)
    classes = [1] if probability.shape[1] == 2 else range(probability.shape[1])
    ranked = [_ranked(truth == one, probability[:, one], weights) for one in classes]
    return {
        "auc": _mean([auc for auc, _ in ranked]),
        "accuracy": weights @ right / total,
        "log_loss": weights @ -np.log(sure) / total,
        "average_precision": _mean([precision for _, precision in ranked]),
        "calibration_error": _calibration(right, probability.max(1), weights),
    }


def _ranked(
    positive: np.ndarray, score: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Area under the curve and average precision; (B,) each, NaN where a class is not there."""
    order = np.argsort(-score, kind="stable")
    begins = np.flatnonzero(np.diff(score[order], prepend=np.inf))  # of rows with the same score
    sorted_weights, is_positive = weights[:, order], positive[order]
    hits = np.add.reduceat(sorted_weights * is_positive, begins, axis=1)
    misses = np.add.reduceat(sorted_weights * ~is_positive, begins, axis=1)
    above = np.cumsum(hits, axis=1)
    missed = np.cumsum(misses, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(above > 0, above / (above + missed), 0.0)
        average = (hits * precision).sum(1) / above[:, -1]
        below = missed[:, -1:] - missed
        auc = (hits * (below + misses / 2)).sum(1) / (above[:, -1] * missed[:, -1])
    defined = (above[:, -1] > 0) & (missed[:, -1] > 0)
    return np.where(defined, auc, np.nan), np.where(defined, average, np.nan)


def _calibration(right: np.ndarray, claimed: np.ndarray, weights: np.ndarray) -> np.ndarray:
    place = np.clip(np.ceil(claimed * BINS).astype(int) - 1, 0, BINS - 1)
    gaps = np.zeros((len(right), BINS))
    gaps[np.arange(len(right)), place] = right - claimed
    return np.abs(weights @ gaps).sum(1) / weights.sum(1)


def _of_numbers(truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray) -> Many:
    total = weights.sum(1)
    centred = truth - truth.mean()  # so that the difference of squares below is exact enough
    error = prediction - truth
    squared = weights @ error**2
    spread = weights @ centred**2 - (weights @ centred) ** 2 / total
    with np.errstate(invalid="ignore", divide="ignore"):
        r2 = np.where(spread > 0, 1 - squared / spread, np.nan)
    mae = weights @ np.abs(error) / total
    return {"r2": r2, "mae": mae, "rmse": np.sqrt(squared / total)}


def _mean(parts: list[np.ndarray]) -> np.ndarray:
    """The mean over classes that are there; (B,)."""
    stacked = np.stack(parts)
    there = ~np.isnan(stacked)
    count = there.sum(0)
    total = np.where(there, stacked, 0.0).sum(0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
