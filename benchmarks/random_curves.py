"""A candidate that is not in the blend: ridge or logistic regression on random curves.

p = Φ(x) β with Φ = (ℓ x, cos(x W + b)): the cosines are random Fourier features of a Gaussian
kernel whose width is the size of an average row, so the model is a smooth function near a linear
one. Without curves it is a linear model. Figures in docs/decisions.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from imputefree.data import Columns, TableEncoder
from imputefree.families import FamilyTask
from imputefree.metrics import loss

PENALTIES = 10.0 ** np.arange(1, -3.1, -0.5)  # from strong to weak
N_FOLDS, STEPS = 5, 20


@dataclass
class RandomCurves:
    """As a family of the blend: the shared folds choose the penalty, and all folds are averaged.

    n_curves : how many cosines
    linear : size of the inputs themselves beside the curves
    """

    n_curves: int = 300
    linear: float = 0.33

    def fit(self, task: FamilyTask) -> np.ndarray:
        """Returns out-of-fold predictions, NaN for rows that were never held out."""
        self.encoder = TableEncoder("auto", True, "rich", owner="curves")
        self.encoder.fit(task.training_inputs())
        inputs, y, self.n_classes = self._inputs(task.examples.inputs), task.target, task.n_classes
        folds = task.folds[:N_FOLDS]
        rng = np.random.default_rng(task.seed)
        self.directions = rng.normal(size=(inputs.shape[1], self.n_curves))
        self.phases = rng.uniform(0, 2 * np.pi, self.n_curves)
        self.sizes = [np.sqrt(inputs[train].var(0).sum()) for train, _ in folds]
        raw = np.full((len(PENALTIES), len(y), task.n_outputs), np.nan)
        models = []
        for size, (train, held_out) in zip(self.sizes, folds, strict=True):
            curves = self._curves(inputs, size)
            mean = curves[train].mean(0)
            curves -= mean
            path = coefficients(curves[train], y[train], task.n_classes, task.n_outputs)
            for number, (slope, level) in enumerate(path):
                raw[number, held_out] = curves[held_out] @ slope + level
            models.append([(slope, level - mean @ slope) for slope, level in path])
        known = ~np.isnan(raw[0, :, 0])
        losses = [self._loss(y[known], part[known]) for part in raw]
        best = int(np.argmin(losses))
        self.models = [path[best] for path in models]
        return probabilities(raw[best], self.n_classes)

    def predict(self, columns: Columns) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        inputs = self._inputs(columns)
        folds = zip(self.sizes, self.models, strict=True)
        raw = [self._curves(inputs, size) @ slope + level for size, (slope, level) in folds]
        return probabilities(np.mean(raw, 0), self.n_classes)

    def _inputs(self, columns: Columns) -> np.ndarray:
        return self.encoder.transform(columns).values.astype(np.float64)

    def _curves(self, inputs: np.ndarray, size: float) -> np.ndarray:
        scaled = inputs / size
        parts = [self.linear * scaled]
        if self.n_curves:
            cosines = np.cos(scaled @ self.directions + self.phases)
            parts.append(np.sqrt(2 / self.n_curves) * cosines)
        return np.concatenate(parts, 1)

    def _loss(self, y: np.ndarray, raw: np.ndarray) -> float:
        if self.n_classes:
            return loss("classification", y, probabilities(raw, self.n_classes))
        return loss("regression", y, raw[:, 0])


def probabilities(raw: np.ndarray, n_classes: int) -> np.ndarray:
    """(n, outputs) log-odds or logits -> (n, classes); numbers stay as they are."""
    if not n_classes:
        return raw
    logits = np.concatenate([np.zeros_like(raw), raw], 1) if n_classes == 2 else raw
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def coefficients(
    inputs: np.ndarray, y: np.ndarray, n_classes: int, n_outputs: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Slopes (d, outputs) and levels (outputs,) for each penalty; inputs (n, d) are centred.

    In the basis of the inputs' principal directions a bound of the Hessian of the log-loss is
    diagonal for every penalty, so that an accelerated step costs two products.
    """
    n, d = inputs.shape
    if d > n:
        size, left = eigh(inputs @ inputs.T)
        kept = size > 1e-7 * size[-1]
        size, scores = size[kept], left[:, kept] * np.sqrt(size[kept])
        basis = inputs.T @ (left[:, kept] / np.sqrt(size))
    else:
        size, basis = eigh(inputs.T @ inputs)
        kept = size > 1e-7 * size[-1]
        size, basis = size[kept], basis[:, kept]
        scores = inputs @ basis
    if not n_classes:
        level = np.array([y.mean()])
        gradient = scores.T @ (y - level)
        return [(basis @ (gradient / (size + penalty))[:, None], level) for penalty in PENALTIES]
    truth = (y[:, None] == (np.arange(n_outputs) if n_classes > 2 else 1)).astype(float)
    share = np.clip(truth.mean(0), 1e-3, 1 - 1e-3)
    level = np.log(share / (1 - share)) if n_classes == 2 else np.log(share)
    slope = np.zeros((len(size), n_outputs))
    bound = 0.25 if n_classes == 2 else 0.5  # of the second derivative of the log-loss
    path = []
    for penalty in PENALTIES:
        ahead, level_ahead, pace = slope, level, 1.0
        for _ in range(STEPS):
            error = probabilities(scores @ ahead + level_ahead, n_classes)[:, -n_outputs:] - truth
            down = (scores.T @ error + penalty * ahead) / (bound * size + penalty)[:, None]
            new_slope, new_level = ahead - down, level_ahead - error.sum(0) / (bound * n)
            new_pace = (1 + np.sqrt(1 + 4 * pace**2)) / 2
            momentum = (pace - 1) / new_pace
            ahead = new_slope + momentum * (new_slope - slope)
            level_ahead = new_level + momentum * (new_level - level)
            slope, level, pace = new_slope, new_level, new_pace
        path.append((basis @ slope, level))
    return path
