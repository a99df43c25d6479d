"""Linear models of values, normal scores and indicators: many weak effects, added up.

Trees add up weak effects badly. On summaries of few series a linear model is nearly as good as
boosted trees, and it makes different errors (docs/decisions.md).
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..data import SOFT_LIMIT, Columns, Number, TableEncoder, columns_by_kind
from ..metrics import SMALLEST
from ._family import FamilyTask, count_outputs, link

SPREADS = (1.0, 3.0, 10.0, 30.0)  # to try, from strong to weak shrinkage
END = 3.0  # size of the score of a column's lowest and highest value
FARTHEST = 5.0  # standard deviations from the mean, at which values are clipped
BENT = FARTHEST / math.sqrt(1.0 + (FARTHEST / SOFT_LIMIT) ** 2)  # what `scale` makes of it
MAX_ITER, TOLERANCE = 200, 1e-4  # of L-BFGS
Line = tuple[np.ndarray, np.ndarray]  # slopes (outputs, D) and levels (outputs,)


class LinearFamily:
    """Logistic or ridge regression per fold; the mean of their raw outputs is linear again.

    Inputs are those of the rich encoding, where a gap is 0 and its indicator 1, with two changes:
    values are not bent but clipped at five standard deviations, and the lowest and highest value of
    a column have the scores -3 and 3 however many rows have them: such a value is often special.
    Slopes shrink as if they had the prior N(0, v / D), with D the number of inputs (and, for
    numbers, noise of variance 1). The variance v is the largest whose loss on out-of-fold rows is
    within a standard error of the least: in a blend, models that shrink less are better.

    categorical_features : as for `TableEncoder`
    n_folds : on how many of the folds models are fitted

    Fitted: encoder, n_values (how many of the inputs are values, which come first), n_classes,
    spread (v), slopes (outputs, D), levels (outputs,).
    """

    encoder: TableEncoder
    n_values: int
    n_classes: int
    spread: float
    slopes: np.ndarray
    levels: np.ndarray

    def __init__(self, categorical_features: Any = "auto", n_folds: int = 5) -> None:
        self.categorical_features = categorical_features
        self.n_folds = n_folds

    def fit(self, task: FamilyTask) -> np.ndarray:
        """Fit the folds; returns out-of-fold predictions, NaN for rows that were never held out."""
        encoder = TableEncoder(self.categorical_features, True, "rich", owner="linear")
        encoder.fit(task.training_inputs())
        encoder.plans = [_with_ends(plan) for plan in encoder.plans]
        self._set_encoder(encoder)
        self.n_classes = task.n_classes
        inputs = self._inputs(task.examples.inputs)
        strengths = [task.copies * inputs.shape[1] / spread for spread in SPREADS]
        raw = np.full((len(SPREADS), len(inputs), task.n_outputs), np.nan)
        paths: list[list[Line]] = []  # per fold, a line per strength
        seconds = 0.0
        for train, held_out in task.folds[: self.n_folds]:
            if paths and task.is_late(seconds):
                break
            begun = time.monotonic()
            paths.append([])
            for line in self._lines(task, inputs, train, strengths):
                paths[-1].append(line)
                seconds = time.monotonic() - begun
                if len(paths) == 1 and task.is_late(2 * seconds):
                    break
            strengths = strengths[: len(paths[0])]
            for number, (slopes, levels) in enumerate(paths[-1]):
                raw[number, held_out] = inputs[held_out] @ slopes.T + levels
        best = self._chosen(raw[: len(strengths)], task)
        self.spread = SPREADS[best]
        self.slopes = np.mean([path[best][0] for path in paths], axis=0)
        self.levels = np.mean([path[best][1] for path in paths], axis=0)
        return link(raw[best], self.n_classes)

    def _lines(
        self, task: FamilyTask, inputs: np.ndarray, train: np.ndarray, strengths: Sequence[float]
    ) -> Iterator[Line]:
        """The lines of a fold, from strong to weak shrinkage."""
        weight = None if task.weight is None else task.weight[train]
        rows = inputs[train], task.target[train], weight
        if task.n_classes:
            return logistic_lines(*rows, strengths, task.n_classes)
        return ridge_lines(*rows, strengths)

    def _chosen(self, raw: np.ndarray, task: FamilyTask) -> int:
        """The number of the chosen spread; raw (spreads, n, outputs). Copies are not judged."""
        judged = np.flatnonzero(~np.isnan(raw[0, : raw.shape[1] // task.copies, 0]))
        if not len(judged):
            return 0
        target = task.target[judged]
        if self.n_classes:
            shares = np.array([link(part[judged], self.n_classes) for part in raw])
            losses = -np.log(np.maximum(shares[:, np.arange(len(target)), target], SMALLEST))
        else:
            losses = (raw[:, judged, 0] - target) ** 2
        if task.weight is not None:
            losses *= task.weight[judged]
        excess = losses - losses[losses.mean(1).argmin()]  # (spreads, rows)
        error = excess.std(1) / np.sqrt(len(target))
        return int(np.flatnonzero(excess.mean(1) <= error).max())

    def predict(self, columns: Columns) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        return link(self._inputs(columns) @ self.slopes.T + self.levels, self.n_classes)

    def _set_encoder(self, encoder: TableEncoder) -> None:
        self.encoder = encoder
        self.n_values = len(columns_by_kind(encoder.plans)["value"])

    def _inputs(self, columns: Columns) -> np.ndarray:
        """What slopes multiply; (n, columns) -> (n, D) float32."""
        inputs = self.encoder.transform(columns).values
        values = inputs[:, : self.n_values]
        np.clip(values, -BENT, BENT, out=values)
        values /= np.sqrt(1.0 - (values / SOFT_LIMIT) ** 2)
        return inputs

    # ---- files
    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        arrays |= {"slopes": self.slopes, "levels": self.levels}
        known = {"n_classes": self.n_classes, "spread": self.spread}
        return known | {"encoder": self.encoder.state()}

    def restore(self, parts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `parts`; a ValueError if they do not fit together."""
        self._set_encoder(TableEncoder.from_state(parts["encoder"]))
        self.n_classes, self.spread = int(parts["n_classes"]), float(parts["spread"])
        self.slopes, self.levels = (
            arrays[name].astype(np.float64, copy=False) for name in ("slopes", "levels")
        )
        shape = count_outputs(self.n_classes), len(self.encoder.input_names)
        if self.slopes.shape != shape or self.levels.shape != shape[:1]:
            raise ValueError("columns, slopes and classes do not fit together")


def _with_ends(plan: Any) -> Any:
    """The plan of a column, with far scores for its lowest and highest value."""
    if not isinstance(plan, Number) or len(plan.scores) < 3:
        return plan
    return replace(plan, scores=[-END, *plan.scores[1:-1], END])


def logistic_lines(
    inputs: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    strengths: Sequence[float],
    n_classes: int,
) -> Iterator[Line]:
    """Lines of least log-loss + strength/2 · |slopes|², one per strength.

    A class without a row has no slope, and the level of half a row.
    """
    present, n, width = np.unique(target), len(target), inputs.shape[1]
    model = LogisticRegression(max_iter=MAX_ITER, tol=TOLERANCE, warm_start=True)
    for strength in strengths:
        slopes, levels = np.zeros((n_classes, width)), np.full(n_classes, -np.log(2 * n))
        levels[present] = 0.0
        if len(present) > 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.set_params(C=1 / strength).fit(inputs, target, weight)
            signs = np.array([[-0.5], [0.5]]) if len(present) == 2 else np.eye(len(present))
            slopes[present], levels[present] = signs @ model.coef_, signs @ model.intercept_
        if n_classes == 2:
            slopes, levels = slopes[1:] - slopes[:1], levels[1:] - levels[:1]
        yield slopes, levels


def ridge_lines(
    inputs: np.ndarray, target: np.ndarray, weight: np.ndarray | None, strengths: Sequence[float]
) -> Iterator[Line]:
    """Lines of least squared error + strength · |slopes|², one per strength."""
    x, y = inputs.astype(np.float64), target.astype(np.float64)
    center, level = np.average(x, 0, weight), np.average(y, weights=weight)
    x, y = x - center, y - level
    if weight is not None:
        root = np.sqrt(weight)
        x, y = root[:, None] * x, root * y
    # slopes = (xᵀx + strength)⁻¹ xᵀy = xᵀ (xxᵀ + strength)⁻¹ y: one factorisation of the smaller
    # matrix serves all strengths
    if x.shape[0] < x.shape[1]:
        eigenvalues, vectors = np.linalg.eigh(x @ x.T)
        turned, back = vectors.T @ y, x.T @ vectors
    else:
        eigenvalues, vectors = np.linalg.eigh(x.T @ x)
        turned, back = vectors.T @ (x.T @ y), vectors
    for strength in strengths:
        slopes = back @ (turned / (eigenvalues + strength))
        yield slopes[None], np.array([level - center @ slopes])
