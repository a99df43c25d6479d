"""Which rows to learn from, which to choose by, and which to score once."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._rules import check_rules, whole
from ..errors import InputError

MOST_CLASSES = 20  # a number with more distinct values is no class


class Split(NamedTuple):
    """Row numbers, sorted, in no two parts at once."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Splits:
    """How a study is split; the seed decides which rows, this class how many and which kind.

    test, validation : shares of all rows (of all groups, where there are any)
    test_rows : rows that are the test part whatever the seed, where a study brings its own
    balanced_test : the test part holds as many rows of each class; otherwise classes keep their
        shares in every part (numbers: their tenths)

    Rows of one group (a patient's) are never in two parts.

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
        """Split rows with these labels (n,) and, where rows belong together, groups (n,)."""
        check_rules(SimpleNamespace(seed=seed), {"seed": whole(0)})
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
    """What is drawn: groups, or rows; the unit of each row (n,), and the stratum of each unit."""
    if y.dtype.kind == "f" and len(np.unique(y)) > MOST_CLASSES:
        strata = np.asarray(pd.qcut(y, 10, labels=False, duplicates="drop"))
    else:
        strata = np.unique(y, return_inverse=True)[1]
    if groups is None:
        return np.arange(len(y)), strata
    unit = pd.factorize(np.asarray(groups))[0]
    # A group is drawn as what most of its rows are.
    counts = np.zeros((unit.max() + 1, strata.max() + 1))
    np.add.at(counts, (unit, strata), 1)
    return unit, counts.argmax(1)


def _draw(
    strata: np.ndarray, among: np.ndarray, size: float, balanced: bool, rng: np.random.Generator
) -> np.ndarray:
    """Units drawn from each stratum: as many of each if balanced, else in proportion."""
    shuffled = rng.permutation(among)
    kinds = np.unique(strata)
    drawn = []
    for kind in kinds:
        own = shuffled[strata[shuffled] == kind]
        share = 1 / len(kinds) if balanced else len(own) / max(len(among), 1)
        count = round(share * size)
        if balanced and count >= len(own):
            raise InputError(
                f"a balanced test part needs {count} rows of each class, and one has {len(own)}",
                "Every class must be left to learn from",
                "Take a smaller test part",
            )
        drawn.append(own[:count])
    return np.concatenate(drawn)
