"""Rows that are not independent: copies of others, and rows of one patient, customer or household.

Tables with a few yes/no columns always have equal rows. They then have even more rows that differ
in only one column; copied rows do not. So copies are reported if they outnumber such neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..data import Columns

FEWEST = 3  # copies that are worth reporting
LEFT_OUT = 40  # columns that are left out in turn to find neighbours; of more, a sample
WORDS = "id|ids|patient|subject|person|participant|customer|client|user|member|household|student"
WORDS += "|hospital|case|account|device|sample|ticket|stay|visit|animal|donor|owner|record"
NAMED = re.compile(rf"(^|[\W_])({WORDS})(s?)([\W_]|\d*$)", re.IGNORECASE)
CAMEL = re.compile(r"[a-z](Id|ID|No|Nr)\d*$")
FEWEST_LEVELS = 20
LARGEST = 0.05  # share of rows that a group may have: larger ones are categories
REPEATED, REPEATED_ID = 0.2, 0.05  # share of rows that have others of their group; if named so
CONSTANT, BY_CHANCE = 0.95, 0.5  # pairs of a group that agree in another column, and any two rows
FEWEST_CONSTANT = 2  # such columns


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


class GroupColumn(NamedTuple):
    """A column that looks like a group; constant : columns that hardly change within one."""

    name: str
    groups: int
    rows: int
    constant: tuple[str, ...]


def group_columns(columns: Columns, among: Sequence[str] | None = None) -> list[GroupColumn]:
    """Columns with many repeated values, that are named like ids or fix other columns.

    among : the columns to look at; by default all

    >>> who = np.repeat(np.arange(100.0), 3)
    >>> rng = np.random.default_rng(0)
    >>> table = Columns(["who", "x"], True, [who, rng.normal(size=300)], [False] * 2, 300)
    >>> group_columns(table)
    []
    >>> table = Columns(["patient", "x"], True, table.arrays, [False] * 2, 300)
    >>> group_columns(table)[0][:3]
    ('patient', 100, 300)
    """
    codes = [pd.factorize(array)[0] for array in columns.arrays]
    groups = []
    for j, name in enumerate(columns.names):
        if among is not None and name not in among:
            continue
        code = codes[j]
        sizes = np.bincount(code[code >= 0]) if (code >= 0).any() else np.zeros(1)
        repeated = sizes[sizes > 1].sum() / len(code)
        if len(sizes) < FEWEST_LEVELS or sizes.max() > max(LARGEST * len(code), 2):
            continue
        named = bool(NAMED.search(name) or CAMEL.search(name))
        if repeated < (REPEATED_ID if named else REPEATED) or _has_fractions(columns.arrays[j]):
            continue
        first, second = _pairs(code)
        constant = tuple(
            columns.names[k]
            for k in range(len(codes))
            if k != j
            and not _of_one_date(name, columns.names[k])
            and _is_fixed(codes[k], first, second)
        )
        if named or len(constant) >= max(FEWEST_CONSTANT, 0.1 * len(codes)):
            groups.append(GroupColumn(name, int((sizes > 1).sum()), len(code), constant))
    return groups


def _of_one_date(name: str, other: str) -> bool:
    """Whether two columns are parts of one date, such as 'day: days' and 'day: month'."""
    source = name.rpartition(": ")[0]
    return bool(source) and source == other.rpartition(": ")[0]


def _has_fractions(array: np.ndarray) -> bool:
    if array.dtype == object:
        return False
    seen = array[~np.isnan(array)]
    return bool((seen != np.round(seen)).any())


def _pairs(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the same group, each with another one of it; (p,) each."""
    shuffled = np.random.default_rng(0).permutation(len(code))  # neighbours in a file are alike
    order = shuffled[np.argsort(code[shuffled], kind="stable")]
    order = order[code[order] >= 0]
    same = code[order[1:]] == code[order[:-1]]
    return order[:-1][same], order[1:][same]


def _is_fixed(code: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
    """Whether a column agrees within pairs, but not in rows at random; gaps count as a value."""
    shares = np.bincount(code + 1) / len(code)
    agreeing = float((code[first] == code[second]).mean()) if len(first) else 0.0
    return agreeing >= CONSTANT and float((shares**2).sum()) <= BY_CHANCE
