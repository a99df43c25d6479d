"""Grow trees with LightGBM, on gaps as they are, until the loss on held-out rows stops falling.

Why LightGBM: on twelve tables with natural gaps its trees were better than those of scikit-learn's
HistGradientBoosting (extremely randomised thresholds, rows and columns drawn at random) at a third
of the CPU time; see docs/architecture.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from ..data import Fold
from ._tree_ensemble import TreeEnsemble

PATIENCE = 30  # trees without a lower loss on the held-out rows


@dataclass(frozen=True)
class Growth:
    """How trees grow.

    rate : learning rate
    leaves : maximum number of leaves of a tree
    smallest : minimum number of rows in a leaf
    l2 : L2 regularisation of the leaves
    columns : share of the inputs that each split chooses from
    rows : share of the rows that each tree sees
    random : draw one threshold per input at random, instead of searching for the best
    """

    rate: float
    leaves: int
    smallest: int
    l2: float
    columns: float
    rows: float
    random: bool = False


@dataclass(frozen=True)
class TreeData:
    """What trees grow from: inputs (n, d) with NaN, target (n,), weight (n,) or None.

    n_classes : 0 for regression; then the target is a number, else a class 0, 1, …
    """

    inputs: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None
    n_classes: int

    @property
    def n_outputs(self) -> int:
        """One number, one logit for two classes, or one per class."""
        return self.n_classes if self.n_classes > 2 else 1

    def dataset(self, rows: np.ndarray, like: lightgbm.Dataset | None = None) -> lightgbm.Dataset:
        """These rows for LightGBM; validation rows are binned like the training rows."""
        weight = None if self.weight is None else self.weight[rows]
        options = {"params": {"verbosity": -1}, "free_raw_data": True}
        return lightgbm.Dataset(
            self.inputs[rows], self.target[rows], weight=weight, reference=like, **options
        )


def grow(
    data: TreeData,
    folds: list[Fold],
    growths: list[Growth],
    *,
    max_trees: int,
    seed: int,
    threads: int = 0,
    deadline: float | None = None,
) -> tuple[TreeEnsemble, np.ndarray]:
    """Trees of every growth on every fold, their outputs averaged, and out-of-fold outputs.

    The second result is (n, outputs), NaN for rows that no fold holds out. After `deadline`
    (`time.monotonic`) no new tree is grown, except that there is at least one per output.
    """
    kept, total = [], np.zeros((len(data.target), data.n_outputs))
    counts = np.zeros(len(data.target))
    jobs = [(fold, growth) for fold in folds for growth in growths]
    for number, ((train, validation), growth) in enumerate(jobs):
        if number and deadline is not None and time.monotonic() > deadline:
            break
        until = _share(deadline, len(jobs) - number)
        trees = _grow(data, train, validation, growth, max_trees, seed + number, threads, until)
        total[validation] += trees.predict(data.inputs[validation])
        counts[validation] += 1
        kept.append(trees)
    scaled = [trees.scaled(1 / len(kept)) for trees in kept]
    with np.errstate(invalid="ignore"):
        return TreeEnsemble.sum_of(scaled), total / counts[:, None]


def _grow(
    data: TreeData,
    train: np.ndarray,
    validation: np.ndarray,
    growth: Growth,
    max_trees: int,
    seed: int,
    threads: int,
    until: float | None,
) -> TreeEnsemble:
    objective = {0: "regression", 2: "binary"}.get(data.n_classes, "multiclass")
    options = {
        "objective": objective,
        "learning_rate": growth.rate,
        "num_leaves": growth.leaves,
        "min_data_in_leaf": growth.smallest,
        "lambda_l2": growth.l2,
        "feature_fraction_bynode": growth.columns,
        "bagging_fraction": growth.rows,
        "bagging_freq": 1,
        "extra_trees": growth.random,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": threads,
        "verbosity": -1,
        **({"num_class": data.n_classes} if objective == "multiclass" else {}),
    }
    dataset = data.dataset(train)
    callbacks: list[Any] = [lightgbm.early_stopping(PATIENCE, verbose=False)]
    if until is not None:
        callbacks.append(_stop_at(until))
    booster = lightgbm.train(
        options,
        dataset,
        max_trees,
        valid_sets=[data.dataset(validation, like=dataset)],
        callbacks=callbacks,
    )
    return TreeEnsemble.of_booster(booster)


def _stop_at(until: float) -> Any:
    """A callback of LightGBM that ends growing at this time of the monotonic clock."""

    def stop(env: Any) -> None:
        if time.monotonic() > until:
            raise lightgbm.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    stop.order = 40  # type: ignore[attr-defined]  # after early stopping has looked
    return stop


def _share(deadline: float | None, jobs: int) -> float | None:
    """When the next of this many jobs has to end, if all get the same time."""
    if deadline is None:
        return None
    now = time.monotonic()
    return now + max(deadline - now, 0.0) / jobs


def growth_options(n_rows: int) -> Iterator[Growth]:
    """Which trees to grow for a table of this size."""
    yield Growth(rate=0.05, leaves=16, smallest=10, l2=1.0, columns=0.5, rows=0.8, random=True)
    yield Growth(rate=0.05, leaves=16, smallest=10, l2=1.0, columns=0.5, rows=0.8)
