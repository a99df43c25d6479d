"""Boosted trees, grown by LightGBM on gaps as they are: a missing value goes its own way.

Why LightGBM: on twelve tables with natural gaps its trees were better than those of scikit-learn's
HistGradientBoosting (it also draws rows, columns and thresholds at random), at a third of the CPU
time. Why one input per level of a category: at least as good there, on adult and on flights as
LightGBM's own splits of categories, and every split is a threshold (see docs/architecture.md).
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import lightgbm
import numpy as np

from .._ranks import current_ranks
from ..data import Columns, TableEncoder
from ._family import FamilyTask, link
from ._tree_ensemble import TreeEnsemble

PATIENCE = 30  # trees without a lower loss on the held-out rows
MAX_TREES = 2000
BINNED_ROWS = 50_000  # that decide where the bins of an input begin
MANY_ROWS = 10_000  # of fewer, one thread grows trees faster than several


@dataclass(frozen=True)
class Growth:
    """How trees grow; the fields are LightGBM's parameters of these names."""

    learning_rate: float = 0.05
    num_leaves: int = 16
    min_data_in_leaf: int = 10
    lambda_l2: float = 1.0
    feature_fraction: float = 1.0
    feature_fraction_bynode: float = 0.5
    bagging_fraction: float = 0.8
    extra_trees: bool = False  # one random threshold per input, instead of the best


GROWTHS = (Growth(), Growth(extra_trees=True))


class TreeFamily:
    """Trees of every growth on every fold; their raw outputs are averaged.

    categorical_features : as for `TableEncoder`
    growths : kinds of trees
    n_folds : on how many of the folds trees are grown

    Fitted: encoder, trees (a `TreeEnsemble`), n_classes.
    """

    encoder: TableEncoder
    trees: TreeEnsemble
    n_classes: int

    def __init__(
        self,
        categorical_features: Any = "auto",
        growths: tuple[Growth, ...] = GROWTHS,
        n_folds: int = 5,
    ) -> None:
        self.categorical_features = categorical_features
        self.growths = growths
        self.n_folds = n_folds

    def fit(self, task: FamilyTask) -> np.ndarray:
        """Grow trees; returns out-of-fold predictions, NaN for rows that were never held out."""
        self.encoder = TableEncoder(self.categorical_features, False, "plain", owner="trees")
        self.encoder.fit(task.examples.training_inputs())
        self.n_classes = task.n_classes
        inputs = self.encoder.numbers(task.examples.inputs)
        jobs = [(fold, growth) for fold in task.folds[: self.n_folds] for growth in self.growths]
        binned, longest = _binned(task, inputs), 0.0

        def grow(number: int) -> tuple[np.ndarray, np.ndarray, TreeEnsemble] | None:
            nonlocal longest
            begun = time.monotonic()
            if longest and task.deadline is not None and task.deadline - begun < longest:
                return None  # few trees that are done are better than many that are not
            (train, validation), growth = jobs[number]
            trees = _grow(task, binned, train, validation, growth, task.seed + number)
            predicted = trees.predict(inputs[validation])
            longest = max(longest, time.monotonic() - begun)
            return validation, predicted, trees

        grown = [done for done in current_ranks().share(grow, range(len(jobs))) if done]
        total, counts = np.zeros((len(inputs), task.n_outputs)), np.zeros(len(inputs))
        for validation, predicted, _ in grown:
            total[validation] += predicted
            counts[validation] += 1
        self.trees = TreeEnsemble.sum_of([trees.scaled(1 / len(grown)) for *_, trees in grown])
        with np.errstate(invalid="ignore"):
            return link(total / counts[:, None], task.n_classes)

    def predict(self, columns: Columns) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        return link(self.trees.predict(self.encoder.numbers(columns)), self.n_classes)

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
        outputs = self.n_classes if self.n_classes > 2 else 1
        if (self.trees.n_inputs, self.trees.n_outputs) != (self.encoder.n_entries, outputs):
            raise ValueError("columns, trees and classes do not fit together")


def _binned(task: FamilyTask, inputs: np.ndarray) -> lightgbm.Dataset:
    """All rows as LightGBM reads them; done once, as it takes longer than growing some trees."""
    options = {
        "bin_construct_sample_cnt": BINNED_ROWS,
        "feature_pre_filter": False,  # it would depend on how trees grow
        "num_threads": _n_threads(inputs),
        "verbosity": -1,
    }
    binned = lightgbm.Dataset(inputs, task.target, weight=task.weight, params=options)
    return binned.construct()


def _n_threads(inputs: np.ndarray) -> int:
    return 1 if len(inputs) < MANY_ROWS else 0  # 0: all cores


def _grow(
    task: FamilyTask,
    binned: lightgbm.Dataset,
    train: np.ndarray,
    validation: np.ndarray,
    growth: Growth,
    seed: int,
) -> TreeEnsemble:
    """Trees on some rows, until the loss on others stops falling or time is up."""
    objective = {0: "regression", 2: "binary"}.get(task.n_classes, "multiclass")
    options = asdict(growth) | {
        "objective": objective,
        "min_data_in_leaf": min(growth.min_data_in_leaf, max(len(train) // 10, 1)),
        "num_class": task.n_outputs,
        "bagging_freq": 1,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": _n_threads(task.target),
        "verbosity": -1,
    }
    callbacks: list[Any] = [lightgbm.early_stopping(PATIENCE, verbose=False)]
    if task.deadline is not None:
        callbacks.append(_stop_at(task.deadline))
    booster = lightgbm.train(
        options,
        binned.subset(np.sort(train).tolist()),
        MAX_TREES,
        valid_sets=[binned.subset(np.sort(validation).tolist())],
        callbacks=callbacks,
    )
    return TreeEnsemble.of_booster(booster)


def _stop_at(deadline: float) -> Any:
    """A callback of LightGBM that ends growing at this time of the monotonic clock."""

    def stop(env: Any) -> None:
        if time.monotonic() > deadline:
            raise lightgbm.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    return stop
