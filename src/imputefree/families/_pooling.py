"""The pool: a weighted mean of the families' predictions, with weights from out-of-fold rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp

from ..metrics import SMALLEST
from ._family import softmax

PULL = 20.0  # strength of shrinkage towards equal weights, in rows
LEAST = 0.05  # a family with less weight is dropped
STEEPEST = 4.0  # how far probabilities are sharpened or flattened at most


@dataclass(frozen=True)
class Pool:
    """Weights (F,) on the simplex, and the exponent that calibrates the pooled probabilities.

    `sharpness` is 1 for regression.

    >>> sure, unsure = np.array([[0.9, 0.1], [0.1, 0.9]]), np.full((2, 2), 0.5)
    >>> out_of_fold = [np.repeat(sure, 200, 0), np.repeat(unsure, 200, 0)]
    >>> Pool.learn(out_of_fold, np.repeat([0, 1], 200)).weights.round(1)
    array([1., 0.])
    """

    weights: np.ndarray
    sharpness: float = 1.0

    @classmethod
    def learn(
        cls,
        predictions: Sequence[np.ndarray],
        target: np.ndarray,
        weight: np.ndarray | None = None,
        pull: float = PULL,
    ) -> Pool:
        """Weights of least loss, shrunk towards equal ones, on rows that all families predict.

        predictions : per family (n, classes) probabilities or (n, 1) numbers, NaN where none
        target : (n,) classes 0, 1, … or numbers
        weight : (n,) of the rows
        pull : in rows: the fewer rows there are, the closer the weights are to equal

        Families whose weight stays below 0.05 are left out, and the others reweighted.
        """
        stacked = np.stack(predictions)  # (F, n, C)
        known = ~np.isnan(stacked).any((0, 2))
        stacked, target = stacked[:, known], target[known]
        weight = np.ones(len(target)) if weight is None else weight[known]
        classes = stacked.shape[2] > 1
        # Of a class only its probability where it is true counts.
        stacked = stacked[:, np.arange(len(target)), target if classes else 0]
        kept = np.ones(len(stacked), dtype=bool)
        while True:
            weights = np.zeros(len(stacked))
            weights[kept] = _least_loss(stacked[kept], target, weight, pull, classes)
            if (weights[kept] >= LEAST).all():
                break
            kept[np.where(kept, weights, np.inf).argmin()] = False
        pool = cls(weights)
        if not classes:
            return pool
        pooled = pool.apply([prediction[known] for prediction in predictions])
        return cls(weights, _sharpness(pooled, target, weight, pull))

    def apply(self, predictions: Sequence[np.ndarray | None]) -> np.ndarray:
        """The pooled prediction; families of weight 0 may be None."""
        pooled = sum(
            share * prediction
            for share, prediction in zip(self.weights, predictions, strict=True)
            if share and prediction is not None
        )
        return np.asarray(pooled) if self.sharpness == 1.0 else _sharpened(pooled, self.sharpness)


def _least_loss(
    stacked: np.ndarray, target: np.ndarray, weight: np.ndarray, pull: float, classes: bool
) -> np.ndarray:
    """Weights on the simplex; stacked (F, n): p(true class), or predicted numbers."""
    count = len(stacked)
    equal = np.full(count, 1 / count)
    if count == 1:
        return equal
    strength = pull / len(target)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        pooled = weights @ stacked
        if classes:
            pooled = np.maximum(pooled, SMALLEST)
            value = -(weight * np.log(pooled)).mean()
            slope = -(stacked * (weight / pooled)).mean(1)
        else:
            error = pooled - target
            value = (weight * error**2).mean()
            slope = 2 * (stacked * (weight * error)).mean(1)
        away = weights - equal
        return value + strength * (away @ away), slope + 2 * strength * away

    simplex = {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(count)}
    bounds = [(0.0, 1.0)] * count
    options: dict[str, Any] = {
        "bounds": bounds,
        "constraints": [simplex],
        "options": {"ftol": 1e-12},
    }
    solution = minimize(loss, equal, jac=True, method="SLSQP", **options)
    weights = np.clip(solution.x, 0.0, None)
    return weights / weights.sum()


def _sharpness(pooled: np.ndarray, target: np.ndarray, weight: np.ndarray, pull: float) -> float:
    """The exponent of least log-loss, shrunk towards 1."""
    logs = np.log(np.maximum(pooled, SMALLEST))
    row = np.arange(len(target))

    def loss(log_exponent: float) -> float:
        scaled = np.exp(log_exponent) * logs
        value = (weight * (logsumexp(scaled, axis=1) - scaled[row, target])).mean()
        return float(value + pull / len(target) * log_exponent**2)

    reach = np.log(STEEPEST)
    return float(np.exp(minimize_scalar(loss, bounds=(-reach, reach), method="bounded").x))


def _sharpened(probability: np.ndarray, exponent: float) -> np.ndarray:
    """Probabilities to the power of `exponent`, again adding up to 1; (n, C)."""
    return softmax(exponent * np.log(np.maximum(probability, SMALLEST)))
