"""What every family of the blend learns from: the same rows, the same folds, one clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

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
    copies : of each row, with different gaps, one after the other
    uncopied : the inputs without such gaps that columns are learned from, if there are copies
    """

    examples: Examples
    target: np.ndarray
    n_classes: int
    folds: Sequence[Fold]
    seed: int
    deadline: float | None = None
    checkpoint: Any = None
    copies: int = 1
    uncopied: Any = None

    def training_inputs(self) -> Any:
        """What scales and levels are learned from: no held-out rows, and no gaps of others."""
        return self.examples.training_inputs() if self.uncopied is None else self.uncopied

    @cached_property
    def weight(self) -> np.ndarray | None:
        """Weight of each row, 1 on average; None where all are the same."""
        return self.examples.label_weights(np.ones(len(self.target)))

    @property
    def n_outputs(self) -> int:
        """Raw outputs per row."""
        return count_outputs(self.n_classes)

    def objective(self) -> dict[str, Any]:
        """What LightGBM is to learn, as its parameters."""
        name = {0: "regression", 2: "binary"}.get(self.n_classes, "multiclass")
        return {"objective": name, "num_class": self.n_outputs}

    def seconds_left(self) -> float:
        """Time until the deadline; infinite if there is none."""
        return np.inf if self.deadline is None else self.deadline - time.monotonic()

    def is_late(self, needed: float = 0.0) -> bool:
        """Whether any rank has fewer seconds left than needed; for what all ranks do alike."""
        if self.deadline is None:
            return False
        return current_ranks().total(self.seconds_left() <= needed) > 0

    def seeing(self, inputs: Any) -> FamilyTask:
        """The same task with other inputs, one row for each of these."""
        return replace(self, examples=replace(self.examples, inputs=inputs))

    def copied(self, inputs: Any) -> FamilyTask:
        """The same task on several copies of its rows, one after the other."""
        n = len(self.target)
        copies = inputs.n_rows // n

        def tiled(values: np.ndarray | None) -> Any:
            return None if values is None else np.tile(values, copies)

        def spread(rows: np.ndarray) -> np.ndarray:
            return (rows + n * np.arange(copies)[:, None]).ravel()

        old = self.examples
        columns = (old.target, old.weight, old.groups, old.held_out)
        return replace(
            self,
            examples=Examples(inputs, *map(tiled, columns)),
            target=tiled(self.target),
            folds=[(spread(train), spread(held_out)) for train, held_out in self.folds],
            copies=copies,
            uncopied=old.training_inputs(),
        )

    def with_share(self, share: float) -> FamilyTask:
        """The same task with this share of the time that is left."""
        seconds = share * self.seconds_left()
        return self if seconds == np.inf else replace(self, deadline=time.monotonic() + seconds)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities (n, classes) from their logarithms; SciPy's takes longer for a row.

    >>> softmax(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def count_outputs(n_classes: int) -> int:
    """Raw outputs per row: a number, one log-odds for two classes, or one per class."""
    return n_classes if n_classes > 2 else 1


def link(raw: np.ndarray, n_classes: int) -> np.ndarray:
    """Predictions from raw outputs: probabilities (n, classes), or the numbers (n, 1).

    >>> link(np.array([[0.0]]), n_classes=2)
    array([[0.5, 0.5]])
    """
    if n_classes > 2:
        return softmax(raw)
    return np.column_stack([expit(-raw), expit(raw)]) if n_classes else raw
