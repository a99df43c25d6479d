"""Which rows a member of the ensemble holds out for its own early stopping."""

from __future__ import annotations

import numpy as np


def assign_folds(
    n_folds: int,
    rng: np.random.Generator,
    strata: np.ndarray,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Give each row a fold number in [0, n_folds), or -1 for "always train on it".

    Rows of one class are dealt out like cards, so each fold holds its share of every class. The
    only row of a class is never held out: somebody has to learn that class. Groups stay whole and
    go, largest first, to the fold that has the fewest rows of the group's commonest class.

    Shapes: strata (n,), groups (n,) -> (n,).

    >>> assign_folds(2, np.random.default_rng(0), np.array([0, 0, 0, 0, 1, 1, 2]))
    array([ 1,  0,  0,  1,  1,  0, -1])
    """
    if groups is not None:
        return _assign_groups(n_folds, rng, strata, groups)
    folds = np.full(len(strata), -1)
    dealt = 0  # goes on from class to class, so that no fold collects all the remainders
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        if len(rows) > 1:
            folds[rows] = (dealt + np.arange(len(rows))) % n_folds
            dealt += len(rows)
    return folds


def _assign_groups(
    n_folds: int, rng: np.random.Generator, strata: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    _, stratum_of_row = np.unique(strata, return_inverse=True)
    names, group_of_row = np.unique(groups, return_inverse=True)
    counts = np.zeros((len(names), stratum_of_row.max() + 1), dtype=int)
    np.add.at(counts, (group_of_row, stratum_of_row), 1)
    filled = np.zeros((n_folds, counts.shape[1]), dtype=int)
    fold_of_group = np.zeros(len(names), dtype=int)
    order = rng.permutation(len(names))
    for group in order[np.argsort(-counts[order].sum(1), kind="stable")]:
        main = counts[group].argmax()
        fold = np.lexsort((filled.sum(1), filled[:, main]))[0]
        fold_of_group[group] = fold
        filled[fold] += counts[group]
    return fold_of_group[group_of_row]
