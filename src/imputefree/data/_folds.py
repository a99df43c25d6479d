"""Which rows are held out in turn: by class, with groups kept whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ._row_store import SAMPLE_ROWS


def assign_folds(
    n_folds: int,
    rng: np.random.Generator,
    strata: np.ndarray,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Give each row a fold number in [0, n_folds), or -1 for "always train on it".

    Rows of one class are dealt out like cards, so each fold holds its share of every class. The
    only row of a class is never held out, so that it is learned. Groups stay whole and go, largest
    first, to the fold that has the fewest rows of the group's most common class.

    Shapes: strata (n,), groups (n,) -> (n,).

    >>> assign_folds(2, np.random.default_rng(0), np.array([0, 0, 0, 0, 1, 1, 2]))
    array([ 1,  0,  0,  1,  1,  0, -1])
    """
    if groups is not None:
        return _assign_groups(n_folds, rng, strata, groups)
    folds = np.full(len(strata), -1)
    dealt = 0  # carried over from class to class, so that no fold collects all the remainders
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        if len(rows) > 1:
            folds[rows] = (dealt + np.arange(len(rows))) % n_folds
            dealt += len(rows)
    return folds


Fold = tuple[np.ndarray, np.ndarray]  # rows to learn from, rows to validate on


class Folds(Sequence[Fold]):
    """Training and validation rows, fold by fold, found when they are asked for.

    The rows of one fold take as much memory as a column of a table.

    fold_of_row : (n,) the fold that holds each row out; of any other number, none does
    numbers : of the folds

    >>> folds = Folds(np.array([1, 0, 1]), [0, 1])
    >>> folds[0], len(folds[1:])
    ((array([0, 2]), array([1])), 1)
    """

    def __init__(self, fold_of_row: np.ndarray, numbers: Sequence[int]) -> None:
        self.fold_of_row, self.numbers = fold_of_row.astype(np.int16), list(numbers)
        self._dtype = np.int32 if len(fold_of_row) > SAMPLE_ROWS else np.int64

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, which: Any) -> Any:
        """A fold, or the folds of a slice."""
        if isinstance(which, slice):
            return Folds(self.fold_of_row, self.numbers[which])
        held_out = self.fold_of_row == self.numbers[which]
        return tuple(np.flatnonzero(rows).astype(self._dtype) for rows in (~held_out, held_out))


def draw_folds(
    n_folds: int,
    rng: np.random.Generator,
    strata: np.ndarray,
    groups: np.ndarray | None = None,
    held_out: np.ndarray | None = None,
) -> Folds:
    """Training and validation rows fold by fold, or the one pair that `held_out` (n,) bool marks.

    Empty if there are too few rows or groups to hold any out.

    >>> list(draw_folds(2, np.random.default_rng(0), np.array([0, 0, 1, 1])))
    [(array([1, 3]), array([0, 2])), (array([0, 2]), array([1, 3]))]
    """
    if held_out is not None:
        return Folds(held_out, [True])
    n_folds = min(n_folds, len(strata) // 2)
    if n_folds < 2:
        return Folds(np.empty(0), [])
    folds = assign_folds(n_folds, rng, strata, groups)
    drawn = np.unique(folds[folds >= 0])
    return Folds(folds, drawn.tolist() if len(drawn) > 1 else [])


def _assign_groups(
    n_folds: int, rng: np.random.Generator, strata: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    _, stratum_of_row = np.unique(strata, return_inverse=True)
    names, group_of_row = np.unique(groups, return_inverse=True)
    counts = count_strata(group_of_row, stratum_of_row)
    filled = np.zeros((n_folds, counts.shape[1]), dtype=int)
    fold_of_group = np.zeros(len(names), dtype=int)
    order = rng.permutation(len(names))
    for group in order[np.argsort(-counts[order].sum(1), kind="stable")]:
        main = counts[group].argmax()
        fold = np.lexsort((filled.sum(1), filled[:, main]))[0]
        fold_of_group[group] = fold
        filled[fold] += counts[group]
    return fold_of_group[group_of_row]


def count_strata(group_of_row: np.ndarray, stratum_of_row: np.ndarray) -> np.ndarray:
    """How many rows of each stratum a group has; (groups, strata)."""
    counts = np.zeros((group_of_row.max() + 1, stratum_of_row.max() + 1), dtype=int)
    np.add.at(counts, (group_of_row, stratum_of_row), 1)
    return counts


def tenths(y: np.ndarray) -> np.ndarray:
    """Which tenth of all numbers each belongs to; (n,)."""
    return np.asarray(pd.qcut(y, 10, labels=False, duplicates="drop"))
