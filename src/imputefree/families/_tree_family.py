"""Boosted trees, grown by LightGBM on gaps as they are: a missing value goes its own way.

Why LightGBM: on twelve tables with natural gaps its trees were better than those of scikit-learn's
HistGradientBoosting (it also draws rows, columns and thresholds at random), at a third of the CPU
time. Why one input per level of a category: at least as good there, on adult and on flights as
LightGBM's own splits of categories, and every split is a threshold (see docs/architecture.md).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import lightgbm
import numpy as np

from .._ranks import current_ranks
from ..data import Columns, Fold, TableEncoder
from ._family import FamilyTask, link
from ._tree_ensemble import TreeEnsemble

MAX_TREES = 2000
BINNED_ROWS = 50_000  # that decide where the bins of an input begin
MANY_ROWS = 10_000  # of fewer, one thread grows trees faster than several


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


def usual_growths(n_rows: int) -> tuple[Growth, Growth]:
    """Best thresholds and random ones. Few rows are learned as well in larger steps."""
    steps = Growth() if n_rows >= MANY_ROWS else Growth(0.1, early_stopping_round=15)
    return steps, replace(steps, extra_trees=True)


class TreeFamily:
    """Trees of every growth on every fold; their raw outputs are averaged.

    The folds of a small table grow together, until the mean of their losses stops falling. If each
    fold stopped at its own best, by a handful of rows, out-of-fold predictions would look better
    than they are. Those of a large table grow one after the other, so that some are done when time
    is up.

    categorical_features : as for `TableEncoder`
    growths : kinds of trees; None for `usual_growths`
    n_folds : on how many of the folds trees are grown

    Fitted: encoder, trees (a `TreeEnsemble`), n_classes.
    """

    encoder: TableEncoder
    trees: TreeEnsemble
    n_classes: int

    def __init__(
        self,
        categorical_features: Any = "auto",
        growths: Sequence[Growth] | None = None,
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
        jobs, binned, longest = self._jobs(task), binned_rows(inputs, task.target, task.weight), 0.0

        def grow(number: int) -> list[tuple[np.ndarray, np.ndarray, TreeEnsemble]]:
            nonlocal longest
            begun = time.monotonic()
            if longest and task.seconds_left() < longest:
                return []  # few trees that are done are better than many that are not
            folds, growth = jobs[number]
            grown = self._grow(task, binned, folds, growth, task.seed + number * len(task.folds))
            held_out = [validation for _, validation in folds]
            predicted = [t.predict(inputs[v]) for t, v in zip(grown, held_out, strict=True)]
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

    def _jobs(self, task: FamilyTask) -> list[tuple[list[Fold], Any]]:
        """What is grown, in turn: folds that grow together, and how."""
        folds, rows = task.folds[: self.n_folds], len(task.target)
        together = [folds] if rows < MANY_ROWS else [[fold] for fold in folds]
        growths = self.growths or usual_growths(rows)
        return [(some, growth) for some in together for growth in growths]

    def _grow(
        self,
        task: FamilyTask,
        binned: lightgbm.Dataset,
        folds: list[Fold],
        growth: Any,
        seed: int,
    ) -> list[TreeEnsemble]:
        """Trees per fold, until the mean loss on held-out rows stops falling or time is up."""
        options = asdict(growth) | task.objective()
        patience = options.pop("early_stopping_round")
        boosters = []
        for number, (train, validation) in enumerate(folds):
            options["min_data_in_leaf"] = min(growth.min_data_in_leaf, max(len(train) // 10, 1))
            boosters.append(booster(options, rows_of(binned, train), seed + number))
            boosters[-1].add_valid(rows_of(binned, validation), "held out")
        least, best = np.inf, 0
        for count in range(1, MAX_TREES + 1):
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
        outputs = self.n_classes if self.n_classes > 2 else 1
        if (self.trees.n_inputs, self.trees.n_outputs) != (self.encoder.n_entries, outputs):
            raise ValueError("columns, trees and classes do not fit together")


def binned_rows(
    inputs: np.ndarray, target: np.ndarray, weight: np.ndarray | None
) -> lightgbm.Dataset:
    """All rows as LightGBM reads them; done once, as it takes longer than growing some trees."""
    options = {
        "bin_construct_sample_cnt": BINNED_ROWS,
        "feature_pre_filter": False,  # it would depend on how trees grow
        "num_threads": _n_threads(len(inputs)),
        "verbosity": -1,
    }
    binned = lightgbm.Dataset(inputs, target, weight=weight, params=options)
    return binned.construct()


def _n_threads(n_rows: int) -> int:
    return 1 if n_rows < MANY_ROWS else 0  # 0: all cores


def rows_of(binned: lightgbm.Dataset, rows: np.ndarray) -> lightgbm.Dataset:
    """Some of the rows, in their order."""
    return binned.subset(np.sort(rows).tolist()).construct()


def booster(options: dict[str, Any], train: lightgbm.Dataset, seed: int) -> lightgbm.Booster:
    """A booster without trees; equal seeds give equal trees."""
    options = options | {
        "bagging_freq": 1,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": _n_threads(train.num_data()),
        "verbosity": -1,
    }
    return lightgbm.Booster(options, train)
