"""Boosted trees, grown by LightGBM on gaps as they are: splits learn where missing values go.

Why LightGBM: on twelve tables with natural gaps its trees were better than those of scikit-learn's
HistGradientBoosting (it also draws rows, columns and thresholds at random), at a third of the CPU
time. Why one input per level of a category: it is at least as good there, on adult and on flights
as LightGBM's own category splits, and every split is a threshold (see docs/decisions.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .._ranks import current_ranks
from ..data import Columns, Fold, TableEncoder
from ._binned_rows import HUGE_ROWS, MANY_ROWS, BinnedRows, TreeInputs, booster
from ._family import FamilyTask, count_outputs, link
from ._tree_ensemble import TreeEnsemble

MAX_TREES = 2000
LARGER_TREES = {50_000: 32, 150_000: 64}  # leaves of a tree, from this many rows on


@dataclass(frozen=True)
class Growth:
    """How trees grow; the fields are LightGBM's parameters of these names."""

    learning_rate: float = 0.05
    early_stopping_round: int = 30  # trees without a lower loss on the held-out rows
    num_leaves: int = 16
    min_data_in_leaf: int = 10
    lambda_l2: float = 1.0
    feature_fraction: float = 1.0
    feature_fraction_bynode: float = 0.5
    bagging_fraction: float = 0.8
    extra_trees: bool = False  # one random threshold per input, instead of the best
    max_trees: int = MAX_TREES


FEW_ROWS_GROWTH = Growth(0.1, early_stopping_round=15)  # below MANY_ROWS: larger steps are as good


def usual_growths(n_rows: int) -> tuple[Growth, Growth]:
    """Best and random thresholds.

    With many rows, trees can have more leaves, and fewer of them are as good or better.
    """
    steps = FEW_ROWS_GROWTH if n_rows < MANY_ROWS else Growth()
    for fewest, leaves in LARGER_TREES.items():
        if n_rows >= fewest:
            steps = replace(steps, num_leaves=leaves, min_data_in_leaf=20)
    return steps, replace(steps, extra_trees=True)


def fast_growths(n_rows: int) -> tuple[Growth]:
    """One kind of trees; for a huge table, a few large ones that see half of its rows each.

    On 1,000,000 x 30 simulated rows, 100 such trees are better than 100 with LightGBM's defaults,
    while the settings for smaller tables would need thousands.
    """
    bag = 0.51  # of a half or less, LightGBM would make a copy per tree
    huge = Growth(0.2, num_leaves=64, min_data_in_leaf=20, bagging_fraction=bag, max_trees=100)
    if n_rows < MANY_ROWS:
        return (FEW_ROWS_GROWTH,)
    return (Growth() if n_rows < HUGE_ROWS else huge,)


class TreeFamily:
    """Trees of every growth on every fold; their raw outputs are averaged.

    The folds of a small table grow together, until the mean of their losses stops falling. If each
    fold stopped at its own best, by a handful of rows, out-of-fold predictions would look better
    than they are. Those of a large table grow one after the other, so that some are done when time
    is up.

    categorical_features : as for `TableEncoder`
    growths : kinds of trees, or a function of the number of rows that returns them
    n_folds : on how many of the folds trees are grown

    Fitted: encoder, trees (a `TreeEnsemble`), n_classes.
    """

    encoder: TableEncoder
    trees: TreeEnsemble
    n_classes: int

    def __init__(
        self,
        categorical_features: Any = "auto",
        growths: Sequence[Growth] | Callable[[int], Sequence[Growth]] = usual_growths,
        n_folds: int = 5,
    ) -> None:
        self.categorical_features = categorical_features
        self.growths = growths
        self.n_folds = n_folds

    def fit(self, task: FamilyTask) -> np.ndarray:
        """Grow trees; returns out-of-fold predictions, NaN for rows that were never held out."""
        self.encoder = TableEncoder(self.categorical_features, False, "plain", owner="trees")
        self.encoder.fit(task.training_inputs())
        self.n_classes = task.n_classes
        inputs = TreeInputs(self.encoder, task.examples.inputs)
        binned = BinnedRows(inputs, task.target, task.weight, task.seed)
        jobs, longest = self._jobs(task), 0.0

        def grow(number: int) -> list[tuple[np.ndarray, np.ndarray, TreeEnsemble]]:
            nonlocal longest
            begun = time.monotonic()
            if longest and task.seconds_left() < longest:
                return []  # few trees that are done are better than many that are not
            folds, growth = jobs[number]
            grown = self._grow(task, binned, folds, growth, task.seed + number * len(task.folds))
            held_out = [validation for _, validation in folds]
            pairs = zip(grown, held_out, strict=True)
            predicted = [np.concatenate([*map(t.predict_once, inputs.blocks(v))]) for t, v in pairs]
            longest = max(longest, time.monotonic() - begun)
            return list(zip(held_out, predicted, grown, strict=True))

        done = [part for parts in current_ranks().share(grow, range(len(jobs))) for part in parts]
        total, counts = np.zeros((len(inputs), task.n_outputs)), np.zeros(len(inputs))
        for validation, predicted, _ in done:
            total[validation] += predicted
            counts[validation] += 1
        self.trees = TreeEnsemble.sum_of([trees.scaled(1 / len(done)) for *_, trees in done])
        with np.errstate(invalid="ignore"):
            return self._link(total / counts[:, None])

    def predict(self, columns: Columns) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        return self._link(self.trees.predict(self.encoder.numbers(columns)))

    def _jobs(self, task: FamilyTask) -> list[tuple[Sequence[Fold], Any]]:
        """What to grow, in turn: folds that grow together, and their `Growth`."""
        folds, rows = task.folds[: self.n_folds], len(task.target) // task.copies
        together = [folds]
        if rows >= MANY_ROWS:
            together = [folds[number : number + 1] for number in range(len(folds))]
        growths = self.growths(rows) if callable(self.growths) else self.growths
        return [(some, growth) for some in together for growth in growths]

    def _grow(
        self,
        task: FamilyTask,
        binned: BinnedRows,
        folds: Sequence[Fold],
        growth: Any,
        seed: int,
    ) -> list[TreeEnsemble]:
        """Trees per fold, until the mean loss on held-out rows stops falling or time is up."""
        options = asdict(growth) | task.objective()
        patience, max_trees = (options.pop(k) for k in ("early_stopping_round", "max_trees"))
        options["lambda_l2"] *= task.copies
        boosters = []
        for number, (train, validation) in enumerate(folds):
            fewest = growth.min_data_in_leaf * task.copies
            options["min_data_in_leaf"] = min(fewest, max(len(train) // 10, 1))
            boosters.append(booster(options, binned.some(train), seed + number))
            boosters[-1].add_valid(binned.some(validation), "held out")
        least, best = np.inf, 0
        for count in range(1, max_trees + 1):
            done = [tree.update() for tree in boosters]
            loss = float(np.mean([tree.eval_valid()[0][2] for tree in boosters]))
            if loss < least:
                least, best = loss, count
            if count - best >= patience or all(done) or task.seconds_left() <= 0:
                break
        return [TreeEnsemble.of_booster(tree, best) for tree in boosters]

    def _link(self, raw: np.ndarray) -> np.ndarray:
        """Predictions from sums of leaves."""
        return link(raw, self.n_classes)

    # ---- files
    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        arrays |= self.trees.arrays()
        trees = {"n_inputs": self.trees.n_inputs, "n_outputs": self.trees.n_outputs}
        return {"encoder": self.encoder.state(), "n_classes": self.n_classes, "trees": trees}

    def restore(self, parts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `parts`; a ValueError if they do not fit together."""
        self.encoder = TableEncoder.from_state(parts["encoder"])
        self.n_classes = int(parts["n_classes"])
        sizes = {name: int(parts["trees"][name]) for name in ("n_inputs", "n_outputs")}
        self.trees = TreeEnsemble.of_arrays(arrays, **sizes)
        outputs = count_outputs(self.n_classes)
        if (self.trees.n_inputs, self.trees.n_outputs) != (self.encoder.n_entries, outputs):
            raise ValueError("columns, trees and classes do not fit together")
