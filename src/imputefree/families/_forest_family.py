"""Random forests, grown by LightGBM on gaps as they are: large, independent trees.

On small tables their errors differ from those of boosted trees (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Fold
from ._binned_rows import BinnedRows, booster
from ._family import FamilyTask
from ._tree_ensemble import TreeEnsemble
from ._tree_family import TreeFamily

FOREST = {
    "boosting": "rf",
    "objective": "regression",  # squared error, of classes too: a leaf holds a share of its rows
    "num_leaves": 32,
    "min_data_in_leaf": 3,
    "min_sum_hessian_in_leaf": 0.0,
    "feature_fraction_bynode": 0.3,
    "bagging_fraction": 0.8,
}
NO_SHARE = 1e-9  # added to every class, so that probabilities are positive


class ForestFamily(TreeFamily):
    """A forest on every fold; a tree predicts the mean of a leaf, the forest that of its trees.

    For two classes, the mean is the share of the second. For more, each class has its own trees,
    one against the rest, and the shares are normalised.

    categorical_features : as for `TreeFamily`
    """

    n_trees, n_trees_per_class = 40, 13  # per fold; the second if there are more than two classes

    def __init__(self, categorical_features: Any = "auto") -> None:
        super().__init__(categorical_features, ())

    def _jobs(self, task: FamilyTask) -> list[tuple[Sequence[Fold], Any]]:
        folds = task.folds[: self.n_folds]
        return [(folds[number : number + 1], FOREST) for number in range(len(folds))]

    def _grow(
        self,
        task: FamilyTask,
        binned: BinnedRows,
        folds: Sequence[Fold],
        growth: Any,
        seed: int,
    ) -> list[TreeEnsemble]:
        """The forest of a fold; fewer trees if time is up."""
        ((rows, _),) = folds
        rows = np.sort(rows)
        train, target = binned.some(rows), task.target[rows]
        weight = None if task.weight is None else task.weight[rows]
        growth = growth | {"min_data_in_leaf": growth["min_data_in_leaf"] * task.copies}
        boosters, means = [], []
        for output in range(task.n_outputs):
            label = target == output if task.n_classes > 2 else target
            train.set_label(label)
            boosters.append(booster(growth, train, seed))
            means.append(np.average(label, weights=weight))
        for _ in range(self.n_trees if len(boosters) == 1 else self.n_trees_per_class):
            for forest in boosters:
                forest.update()
            if task.seconds_left() <= 0:
                break
        forests = [
            _with_mean(TreeEnsemble.of_booster(forest), mean)
            for forest, mean in zip(boosters, means, strict=True)
        ]
        return [TreeEnsemble.side_by_side(forests)]

    def _link(self, raw: np.ndarray) -> np.ndarray:
        """Shares of the classes, which add up to 1; numbers as they are."""
        if not self.n_classes:
            return raw
        raw = raw.clip(0.0, 1.0)  # rounding may leave a leaf slightly below 0
        shares = NO_SHARE + (np.column_stack([1 - raw, raw]) if self.n_classes == 2 else raw)
        return shares / shares.sum(1, keepdims=True)


def _with_mean(forest: TreeEnsemble, mean: float) -> TreeEnsemble:
    """Let trees that found no split predict the mean of all rows; LightGBM's predict 0."""
    value, roots = forest.value.copy(), np.cumsum(forest.leaves) - forest.leaves
    value[roots[forest.splits == 0]] = mean / len(forest.splits)
    return replace(forest, value=value)
