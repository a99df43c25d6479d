"""Rows that occur twice although their columns have too many values for that to be chance.

Tables with a few yes/no columns always have equal rows. They then have even more rows that differ
in only one column; copied rows do not. So copies are reported if they outnumber such neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..data import Columns

FEWEST = 3  # copies that are worth reporting
LEFT_OUT = 40  # columns that are left out in turn to find neighbours; of more, a sample


class Twins(NamedTuple):
    """How many rows are copies, how many have a neighbour that differs in one column, and which
    are copies.
    """

    copies: int
    neighbours: int
    rows: np.ndarray

    @property
    def by_design(self) -> bool:
        """Whether there are more copies than the columns' few values explain."""
        return self.copies >= FEWEST and self.copies > self.neighbours


def twins_within(columns: Columns) -> Twins:
    """Rows of a table that repeat an earlier one."""
    hashes = _hashes(columns)
    whole = hashes.sum(1)
    copy = pd.Series(whole).duplicated().to_numpy()
    distinct, near = hashes[~copy], np.zeros((~copy).sum(), dtype=bool)
    for j in _some(hashes.shape[1]):
        near |= pd.Series(distinct.sum(1) - distinct[:, j]).duplicated(keep=False).to_numpy()
    neighbours = near[pd.factorize(whole)[0]].sum()
    return Twins(int(copy.sum()), int(neighbours), np.flatnonzero(copy))


def twins_between(columns: Columns, others: Columns) -> Twins:
    """Rows of another table that are also in this one; columns by name."""
    names = [name for name in columns.names if name in others.names]
    learned, tested = _hashes(columns.pick(names)), _hashes(others.pick(names))
    copy = np.isin(tested.sum(1), learned.sum(1))
    near = np.zeros(len(tested), dtype=bool)
    for j in _some(len(names)):
        left = learned.sum(1) - learned[:, j]
        near |= np.isin(tested.sum(1) - tested[:, j], left)
    return Twins(int(copy.sum()), int((near & ~copy).sum()), np.flatnonzero(copy))


def _some(count: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(count)[:LEFT_OUT]


def _hashes(columns: Columns) -> np.ndarray:
    """A number per cell, such that the sum over a row identifies it; (n, C) uint64."""
    keys = np.random.default_rng(0).integers(1, 2**63, len(columns.arrays), dtype=np.uint64)
    parts = []
    for array, key in zip(columns.arrays, keys, strict=True):
        if array.dtype == object:
            values = pd.util.hash_array(np.where(pd.isna(array), "", array).astype(object))
        else:
            values = pd.util.hash_array(np.where(np.isnan(array), np.inf, array + 0.0))
        parts.append(pd.util.hash_array(values ^ key))  # so that equal columns do not cancel
    return np.column_stack(parts)
