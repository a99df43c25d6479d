"""`Splits`: how the rows of a study are divided into training, validation and test parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._rules import check_value, whole
from ..errors import InputError
from ._folds import count_strata, tenths
from ._target import MOST_CLASSES


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
