"""How rows are divided: into folds that are held out in turn, or into parts of a study.

Both are stratified by class and keep groups whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._rules import check_value, whole
from ..errors import InputError
from ._examples import MOST_CLASSES
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


class Split(NamedTuple):
    """Sorted row numbers of three disjoint parts."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Splits:
    """How a study is split; the seed decides which rows, this class how many and which kind.

    test, validation : shares of all rows (of all groups, if there are groups)
    test_rows : rows of a fixed test part, the same for every seed
    balanced_test : the test part has equally many rows of each class; otherwise classes keep their
        shares in every part (numbers: their tenths)

    Rows of one group (for example a patient) are never in two parts.

    >>> y = np.repeat([0, 1], [80, 20])
    >>> split = Splits(test=0.2, validation=0.1, balanced_test=True).of(y, seed=0)
    >>> [len(part) for part in split], int(y[split.test].sum())
    ([70, 10, 20], 10)
    """

    test: float = 0.1
    validation: float = 0.1
    balanced_test: bool = False
    test_rows: np.ndarray | None = None

    def of(self, y: Any, groups: Any = None, seed: int = 0) -> Split:
        """Split rows with these labels (n,) and, if rows belong together, groups (n,)."""
        check_value("seed", seed, whole(0))
        rng = np.random.default_rng(seed)
        unit, strata = _units(np.asarray(y), groups)
        n = len(strata)
        if self.test_rows is not None:
            fixed = np.isin(np.arange(n), unit[self.test_rows])
        else:
            fixed = np.zeros(n, dtype=bool)
            fixed[_draw(strata, np.arange(n), self.test * n, self.balanced_test, rng)] = True
        rest = np.flatnonzero(~fixed)
        chosen = np.zeros(n, dtype=bool)
        chosen[_draw(strata, rest, self.validation * n, False, rng)] = True
        parts = (~fixed & ~chosen, chosen, fixed)
        return Split(*(np.flatnonzero(part[unit]) for part in parts))


def _units(y: np.ndarray, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """What is drawn, groups or rows: the unit of each row (n,), and the stratum of each unit.

    The stratum of a group is that of most of its rows.
    """
    if y.dtype.kind == "f" and len(np.unique(y)) > MOST_CLASSES:
        strata = tenths(y)
    else:
        strata = np.unique(y, return_inverse=True)[1]
    if groups is None:
        return np.arange(len(y)), strata
    unit = pd.factorize(np.asarray(groups))[0]
    return unit, count_strata(unit, strata).argmax(1)


def _draw(
    strata: np.ndarray, among: np.ndarray, size: float, balanced: bool, rng: np.random.Generator
) -> np.ndarray:
    """Units drawn from each stratum: equally many if balanced, else in proportion."""
    shuffled = rng.permutation(among)
    kinds = np.unique(strata)
    drawn = []
    for kind in kinds:
        members = shuffled[strata[shuffled] == kind]
        share = 1 / len(kinds) if balanced else len(members) / max(len(among), 1)
        count = round(share * size)
        if balanced and count >= len(members):
            fact = f"a balanced test part needs {count} rows of each class; one has {len(members)}"
            rule = "Every class must also be left to learn from"
            raise InputError(fact, rule, "Make the test part smaller")
        drawn.append(members[:count])
    return np.concatenate(drawn)
