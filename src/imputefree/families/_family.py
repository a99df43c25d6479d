"""What every family of the blend learns from: the same rows, the same folds, one clock."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from .._ranks import current_ranks
from ..data import Examples, Fold


@dataclass(frozen=True)
class FamilyTask:
    """Examples and folds that all families share.

    examples : the rows; their target is in units of the user
    target : (n,) classes 0, 1, … (int64), or numbers with mean 0 and standard deviation 1
    n_classes : 0 for regression
    folds : rows to learn from and rows to validate on, in turn
    seed : for anything random
    deadline : `time.monotonic` after which a family should end, or None
    checkpoint : file that keeps the state of a long training, or None
    """

    examples: Examples
    target: np.ndarray
    n_classes: int
    folds: list[Fold]
    seed: int
    deadline: float | None = None
    checkpoint: Any = None

    @cached_property
    def weight(self) -> np.ndarray | None:
        """Weight of each row, 1 on average; None where all are the same."""
        return self.examples.label_weights(np.ones(len(self.target)))

    @property
    def n_outputs(self) -> int:
        """Raw outputs per row: a number, one log-odds for two classes, or one per class."""
        return self.n_classes if self.n_classes > 2 else 1

    def objective(self) -> dict[str, Any]:
        """What LightGBM is to learn, as its parameters."""
        name = {0: "regression", 2: "binary"}.get(self.n_classes, "multiclass")
        return {"objective": name, "num_class": self.n_outputs}

    def seconds_left(self) -> float:
        """Time until the deadline; infinite if there is none."""
        return np.inf if self.deadline is None else self.deadline - time.monotonic()

    def is_late(self) -> bool:
        """Whether time is up on any rank; for what all ranks do alike."""
        return self.deadline is not None and current_ranks().total(self.seconds_left() <= 0) > 0

    def seeing(self, inputs: Any) -> FamilyTask:
        """The same task with other inputs, one row for each of these."""
        return replace(self, examples=replace(self.examples, inputs=inputs))

    def with_share(self, share: float) -> FamilyTask:
        """The same task with this share of the time that is left."""
        seconds = share * self.seconds_left()
        return self if seconds == np.inf else replace(self, deadline=time.monotonic() + seconds)


def link(raw: np.ndarray, n_classes: int) -> np.ndarray:
    """Predictions from raw outputs: probabilities (n, classes), or the numbers (n, 1).

    >>> link(np.array([[0.0]]), n_classes=2)
    array([[0.5, 0.5]])
    """
    if n_classes > 2:
        return softmax(raw, axis=1)
    return np.column_stack([expit(-raw), expit(raw)]) if n_classes else raw
