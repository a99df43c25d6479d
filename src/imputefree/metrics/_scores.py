"""Scores of a prediction, once or for many weightings of its rows, in double precision.

A score that is not defined (only one class among the scored rows) is None, or NaN in an array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

BINS = 15  # of the calibration error, as in Guo et al. 2017
SMALLEST = 1e-7  # lower bound of probabilities, or one confident error would dominate the loss

HIGHER_IS_BETTER = frozenset({"accuracy", "auc", "average_precision", "r2"})

Figures = dict[str, float | None]  # by metric
Many = dict[str, np.ndarray]  # by metric (B,), one value per weighting


def scores(task: str, truth: np.ndarray, prediction: np.ndarray) -> Figures:
    """The scores that `fit` and `evaluate` report.

    task : "classification": truth (n,) classes 0, 1, …, prediction (n, K) probabilities;
        "regression": truth and prediction (n,)

    >>> scores("regression", np.array([1.0, 3.0]), np.array([1.0, 2.0]))["mae"]
    0.5
    """
    if task == "classification":
        values = classification_scores(truth, prediction)
        order = ("auc", "accuracy", "log_loss", "average_precision", "calibration_error")
        return {name: values[name] for name in order}
    values = regression_scores(truth, prediction)
    mae = float(np.abs(np.asarray(prediction, np.float64) - truth).mean())
    return {"r2": values["r2"], "mae": mae, "rmse": values["rmse"]}


def loss(task: str, truth: np.ndarray, prediction: np.ndarray) -> float:
    """Of these scores, what training lowers: log-loss, or the root of the mean squared error.

    >>> round(loss("regression", np.array([1.0, 3.0]), np.array([1.0, 2.0])), 4)
    0.7071
    """
    if task == "classification":
        return float(_log_losses(truth, np.asarray(prediction, np.float64)).mean())
    return float(np.sqrt(np.square(np.asarray(prediction, np.float64) - truth).mean()))


def classification_scores(truth: np.ndarray, probability: np.ndarray) -> Figures:
    """Scores of a classifier.

    truth : (n,) classes 0, 1, … K - 1
    probability : (n, K)

    - accuracy : share of rows whose most probable class is the true one
    - auc, average_precision : for the second of two classes; with more classes the mean over
      classes, each against the rest, without those that all rows have or none has
    - log_loss : mean of -log p(true class), p at least 1e-7
    - calibration_error : see `calibration_error`

    >>> classification_scores(np.array([0, 1]), np.array([[0.8, 0.2], [0.6, 0.4]]))["auc"]
    1.0
    """
    probability = np.asarray(probability, dtype=np.float64)
    known = [k for k in _scored_classes(probability) if 0 < (truth == k).sum() < len(truth)]
    precision = [average_precision_score(truth == k, probability[:, k]) for k in known]
    return {
        "accuracy": float((probability.argmax(1) == truth).mean()),
        "auc": _mean([roc_auc_score(truth == k, probability[:, k]) for k in known]),
        "average_precision": _mean(precision),
        "log_loss": float(_log_losses(truth, probability).mean()),
        "calibration_error": calibration_error(truth, probability),
    }


def calibration_error(truth: np.ndarray, probability: np.ndarray) -> float:
    """Expected calibration error of the predicted class (Guo et al. 2017).

    Rows fall into bins of equal width by the probability of their predicted class, each bin with
    its upper end: (0, 1/15], (1/15, 2/15], …. The error is the mean over bins, weighted by rows, of
    |share of correct predictions - mean probability|.

    >>> always_sure = np.array([[1.0, 0.0]] * 4)  # and correct in three of four rows
    >>> calibration_error(np.array([0, 0, 0, 1]), always_sure)
    0.25
    """
    excess, place = _calibration(truth, probability)
    gaps = np.bincount(place, weights=excess, minlength=BINS)
    return float(np.abs(gaps).sum() / len(truth))


def regression_scores(truth: np.ndarray, prediction: np.ndarray) -> Figures:
    """Scores of a regressor; truth and prediction (n,).

    - r2 : 1 - squared error / squared distance from the mean of the true numbers
    - rmse : root of the mean squared error, in the target's units

    >>> regression_scores(np.array([1.0, 3.0]), np.array([1.0, 2.0]))["r2"]
    0.5
    """
    truth, prediction = np.asarray(truth, np.float64), np.asarray(prediction, np.float64)
    squared = (prediction - truth) ** 2
    spread = float(((truth - truth.mean()) ** 2).sum())
    return {
        "r2": float(1 - squared.sum() / spread) if spread else None,
        "rmse": float(np.sqrt(squared.mean())),
    }


def imputation_scores(
    filled: np.ndarray, truth: np.ndarray, hidden: np.ndarray, spread: np.ndarray
) -> Figures:
    """Scores of an imputer, over the hidden entries whose true value is known.

    filled, truth : (rows, d); NaN in truth where it is unknown
    hidden : (rows, d) True for gaps
    spread : (d,) standard deviation of each column

    - imputation_mse : mean squared error in the units of the data; for columns in the same units
    - imputation_mse_scaled : the same with each column divided by its spread, without constant
      columns

    >>> filled, truth = np.array([[1.0, 20.0]]), np.array([[2.0, 40.0]])
    >>> imputation_scores(filled, truth, np.array([[True, True]]), np.array([1.0, 20.0]))
    {'imputation_mse': 200.5, 'imputation_mse_scaled': 1.0}
    """
    known = hidden & np.isfinite(truth)
    squared = (np.asarray(filled, np.float64) - truth) ** 2
    varies = spread > 0
    scaled = squared[:, varies] / np.asarray(spread, np.float64)[varies] ** 2
    return {
        "imputation_mse": _mean(squared[known]),
        "imputation_mse_scaled": _mean(scaled[known[:, varies]]),
    }


def weighted_scores(
    task: str, truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray
) -> Many:
    """`scores` for each weighting, without a loop over them; weights (B, n): counts of each row."""
    prediction = np.asarray(prediction, dtype=np.float64)
    total = weights.sum(1)
    if task == "classification":
        classes = _scored_classes(prediction)
        ranked = [_ranked(truth == k, prediction[:, k], weights) for k in classes]
        excess, place = _calibration(truth, prediction)
        gaps = np.zeros((len(truth), BINS))
        gaps[np.arange(len(truth)), place] = excess
        return {
            "auc": _mean_over_classes([auc for auc, _ in ranked]),
            "accuracy": weights @ (prediction.argmax(1) == truth) / total,
            "log_loss": weights @ _log_losses(truth, prediction) / total,
            "average_precision": _mean_over_classes([precision for _, precision in ranked]),
            "calibration_error": np.abs(weights @ gaps).sum(1) / total,
        }
    truth = np.asarray(truth, np.float64)
    centred = truth - truth.mean()  # so that the difference of squares below is exact enough
    error = prediction - truth
    squared = weights @ error**2
    spread = weights @ centred**2 - (weights @ centred) ** 2 / total
    with np.errstate(invalid="ignore", divide="ignore"):
        r2 = np.where(spread > 0, 1 - squared / spread, np.nan)
    return {"r2": r2, "mae": weights @ np.abs(error) / total, "rmse": np.sqrt(squared / total)}


def _ranked(
    positive: np.ndarray, score: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """AUC and average precision; (B,) each, NaN where a class is not there."""
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


def _scored_classes(probability: np.ndarray) -> Sequence[int]:
    """Classes whose ranking is scored: the second of two, or all."""
    return [1] if probability.shape[1] == 2 else range(probability.shape[1])


def _log_losses(truth: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """-log p(true class) of each row; (n,)."""
    return -np.log(np.clip(probability[np.arange(len(truth)), truth], SMALLEST, None))


def _calibration(truth: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correct (1 or 0) minus claimed probability, and the bin, of each row; (n,) each."""
    claimed = probability.max(1)
    place = np.clip(np.ceil(claimed * BINS).astype(int) - 1, 0, BINS - 1)
    return (probability.argmax(1) == truth) - claimed, place


def _mean(values: list[float] | np.ndarray) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _mean_over_classes(parts: list[np.ndarray]) -> np.ndarray:
    """The mean over classes that are there; (B,)."""
    stacked = np.stack(parts)
    defined = ~np.isnan(stacked)
    count = defined.sum(0)
    total = np.where(defined, stacked, 0.0).sum(0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
