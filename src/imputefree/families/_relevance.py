"""How relevant each column is to the target, estimated by a few boosted trees.

A network learns from all columns at the same rate; with 200 columns of which 30 matter, it takes
very long. Trees find the relevant columns quickly, and can pass that on to a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data import TableEncoder
from ._binned_rows import BinnedRows, TreeInputs, booster
from ._family import FamilyTask
from ._tree_ensemble import split_gains

N_TREES, FEWEST_TREES = 25, 5  # the second per class, if there are many
MOST_ROWS = 20_000
BY_CHANCE = 10.0  # what the best of many useless splits gains, about
EQUAL = 100.0  # gain, spread over all columns, that is added to what the trees found
QUICK = {
    "learning_rate": 0.2,
    "num_leaves": 16,
    "min_data_in_leaf": 10,
    "feature_fraction_bynode": 0.5,
    "bagging_fraction": 0.7,
}


def column_relevance(
    task: FamilyTask, training_rows: Sequence[np.ndarray], categorical_features: Any = "auto"
) -> np.ndarray:
    """Share of each column in what trees gain by their splits; (sets of rows, columns).

    Only rows that a network trains on may influence its columns, so there is one result per set of
    rows. Where trees gain little, because there are few rows or little signal, shares are nearly
    equal. A split gains twice the increase in log-likelihood, so chance alone gains a few units.

    task : its folds are not used; after its deadline no more trees grow
    training_rows : numbers of rows, per set; of many rows, a sample is drawn
    """
    rng, n_rows = np.random.default_rng(task.seed), len(task.target)
    sample = np.arange(n_rows)
    if n_rows > MOST_ROWS:
        sample = np.sort(rng.choice(n_rows, MOST_ROWS, replace=False))
    encoder = TableEncoder(categorical_features, False, "plain", owner="trees")
    columns = task.examples.judged_inputs().rows(sample)
    weight = None if task.weight is None else task.weight[sample]
    inputs = TreeInputs(encoder.fit(columns), columns)
    binned = BinnedRows(inputs, task.target[sample], weight, task.seed)
    column_of = encoder.input_columns[: encoder.n_entries]
    gains = np.zeros((len(training_rows), encoder.n_columns))
    for number, rows in enumerate(training_rows):
        kept = np.flatnonzero(np.isin(sample, rows, assume_unique=True))
        if len(kept) < 2 * QUICK["min_data_in_leaf"]:
            continue  # nothing can be split
        trees = booster(QUICK | task.objective(), binned.some(kept), task.seed + number)
        for _ in range(max(N_TREES // task.n_outputs, FEWEST_TREES)):
            if trees.update() or task.seconds_left() <= 0:  # True: nothing left to split
                break
        split_inputs, gain = split_gains(trees)
        excess = np.maximum(gain - BY_CHANCE, 0) * QUICK["learning_rate"]
        gains[number] = np.bincount(column_of[split_inputs], excess, encoder.n_columns)
    gains += EQUAL / encoder.n_columns
    return gains / gains.sum(1, keepdims=True)
