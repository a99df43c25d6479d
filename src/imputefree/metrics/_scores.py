"""How well a prediction did: every figure of the tables, in double precision.

Where a figure is not defined (one class only in the test part) it is None, never a guess.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

BINS = 15  # of the calibration error, as in Guo et al. 2017
SMALLEST = 1e-7  # probabilities below count as that, or one sure error would decide everything

HIGHER_IS_BETTER = frozenset({"accuracy", "auc", "average_precision", "r2"})

Figures = dict[str, float | None]


def of_classes(truth: np.ndarray, probability: np.ndarray) -> Figures:
    """Figures of a classifier.

    truth : (n,) classes 0, 1, … K - 1
    probability : (n, K)

    - accuracy : share of rows whose most probable class is the true one; with two classes, the
      second is predicted above a probability of 0.5
    - auc, average_precision : of the second class; with more classes the mean over classes, each
      against the rest, without those that all rows have or none has
    - log_loss : mean of -log p(true class), p at least 1e-7
    - calibration_error : see `calibration_error`

    >>> of_classes(np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]))["auc"]
    1.0
    """
    probability = np.asarray(probability, dtype=np.float64)
    classes = [1] if probability.shape[1] == 2 else range(probability.shape[1])
    told = [one for one in classes if 0 < (truth == one).sum() < len(truth)]
    sure = np.clip(probability[np.arange(len(truth)), truth], SMALLEST, None)
    return {
        "accuracy": float((probability.argmax(1) == truth).mean()),
        "auc": _mean([roc_auc_score(truth == one, probability[:, one]) for one in told]),
        "average_precision": _mean(
            [average_precision_score(truth == one, probability[:, one]) for one in told]
        ),
        "log_loss": float(-np.log(sure).mean()),
        "calibration_error": calibration_error(truth, probability),
    }


def calibration_error(truth: np.ndarray, probability: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error of the predicted class (Guo et al. 2017).

    Rows fall into bins of equal width by the probability of their predicted class, each bin with
    its upper end: (0, 1/15], (1/15, 2/15], …. The error is the mean over bins, weighted by rows, of
    |share of right predictions - mean probability|.

    truth : (n,) classes 0, 1, …
    probability : (n, K)

    >>> always_sure = np.array([[1.0, 0.0]] * 4)  # and right in three of four
    >>> calibration_error(np.array([0, 0, 0, 1]), always_sure)
    0.25
    """
    claimed = probability.max(1)
    right = probability.argmax(1) == truth
    place = np.clip(np.ceil(claimed * bins).astype(int) - 1, 0, bins - 1)
    gap = np.bincount(place, weights=right - claimed, minlength=bins)
    return float(np.abs(gap).sum() / len(truth))


def of_numbers(truth: np.ndarray, prediction: np.ndarray) -> Figures:
    """Figures of a regressor; truth and prediction (n,).

    - r2 : 1 - squared error / squared distance from the mean of the true numbers
    - rmse : root of the mean squared error, in the target's units

    >>> of_numbers(np.array([1.0, 3.0]), np.array([1.0, 2.0]))["r2"]
    0.5
    """
    truth, prediction = np.asarray(truth, np.float64), np.asarray(prediction, np.float64)
    squared = (prediction - truth) ** 2
    spread = float(((truth - truth.mean()) ** 2).sum())
    return {
        "r2": float(1 - squared.sum() / spread) if spread else None,
        "rmse": float(np.sqrt(squared.mean())),
    }


def of_imputation(
    filled: np.ndarray, truth: np.ndarray, hidden: np.ndarray, spread: np.ndarray
) -> Figures:
    """Figures of an imputer, over the hidden entries whose true value is known.

    filled, truth : (rows, d); NaN in truth where nobody knows
    hidden : (rows, d) True for gaps
    spread : (d,) standard deviation of each column

    - imputation_mse : mean squared error in the units of the data; for columns in the same units
    - imputation_mse_scaled : the same with each column divided by its spread; columns that do not
      vary are left out

    >>> filled, truth = np.array([[1.0, 20.0]]), np.array([[2.0, 40.0]])
    >>> of_imputation(filled, truth, np.array([[True, True]]), np.array([1.0, 20.0]))
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


def _mean(values: list[float] | np.ndarray) -> float | None:
    return float(np.mean(values)) if len(values) else None
