"""Columns whose repeated values look like one patient, customer or household with several rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..data import Columns

WORDS = "id|ids|patient|subject|person|participant|customer|client|user|member|household|student"
WORDS += "|hospital|case|account|device|sample|ticket|stay|visit|animal|donor|owner|record"
NAMED = re.compile(rf"(^|[\W_])({WORDS})(s?)([\W_]|\d*$)", re.IGNORECASE)
CAMEL = re.compile(r"[a-z](Id|ID|No|Nr)\d*$")
FEWEST_LEVELS = 20
LARGEST = 0.05  # share of rows that a group may have: larger ones are categories
REPEATED, REPEATED_ID = 0.2, 0.05  # share of rows that have others of their group; if named so
CONSTANT, BY_CHANCE = 0.95, 0.5  # pairs of a group that agree in another column, and any two rows
FEWEST_CONSTANT = 2  # such columns


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
