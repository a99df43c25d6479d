"""Traps in data before a model falls into them: answers among the inputs, copies, groups, targets.

A trap is suspicious, not necessarily wrong: the reasons are outside the table. Each trap says what
was seen and what to do about it. `_leaking_columns` finds columns that reveal the target; rows that
are not independent are found here.

Tables with a few yes/no columns always have equal rows. They then have even more rows that differ
in only one column; copied rows do not. So copies are reported if they outnumber such neighbours.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import MOST_CLASSES, Columns, Panel, as_array, read_columns, read_target, summarise
from ..errors import counted, shorten
from ._leaking_columns import (
    LoneColumn,
    LoneLevel,
    TrapLimits,
    TrapTarget,
    bin_columns,
    lone_columns,
    lone_levels,
    one_sided_columns,
)

ANSWER, AFTERWARDS, COPIES, GROUPS, TARGET = "answer", "afterwards", "copies", "groups", "target"
MOST_ROWS = 20_000  # of more, a sample is searched for columns that reveal the target
CHANCE = {"AUC": 0.5, "R²": 0.0}
FILLED = "If it is filled in only once the outcome is known, leave it out (--drop)."
FOLLOWS = "If it follows from the outcome or is written after it, leave it out (--drop)."
FEWEST_COPIES = 3  # that are worth reporting
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
RARE = 5  # rows besides the most frequent class, or number: nothing is learned from fewer


@dataclass(frozen=True)
class Trap:
    """Something in the data that makes scores too good, or learning impossible.

    kind : "answer" (a column that reveals the target), "afterwards" (its gaps do), "copies" (of
        rows), "groups" (rows that belong together) or "target" (hardly anything to learn)
    columns : the columns concerned
    rows : the number of rows concerned
    fact, remedy : a sentence each
    """

    kind: str
    columns: tuple[str, ...]
    rows: int
    fact: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.fact} {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self) | {"columns": list(self.columns)}


def find_traps(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    test: Any = None,
    task: str | None = None,
    limits: TrapLimits | None = None,
) -> list[Trap]:
    """Find what looks like a trap in a table, or in series, and its target.

    Parameters
    ----------
    X : a table with gaps in any form that `ImputeFreeClassifier.fit` takes, or a `Panel`
    y : (n,) classes or numbers
    groups : (n,) which rows belong together; if given, group columns are not searched for
    test : another table with the same columns, which must not share rows with X
    task : "classification", "regression", or None: numbers with up to 20 different whole values are
        classes
    limits : how predictive a column must be to be reported

    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    >>> y = (X["a"] + rng.normal(size=200) > 0).astype(int)
    >>> find_traps(X, y)
    []
    >>> print(find_traps(X.assign(outcome=np.where(y == 1, "dead", "alive")), y)[0].fact)
    Column 'outcome' predicts the target almost alone (AUC 1.00; all other columns together 0.76).
    """
    series = isinstance(X, Panel)
    columns = summarise(X) if series else read_columns(X)
    labels = read_target(as_array(y, "y"), columns.n_rows, "find_traps")
    if labels.dtype.kind not in "fiub":
        labels = labels.astype(str)
    elif task != "classification" and len(np.unique(labels)) > MOST_CLASSES:
        labels = labels.astype(np.float64)
    elif task != "regression" and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)
    traps = target_traps(labels)
    if not any(trap.rows == 0 for trap in traps):
        traps += telling_traps(columns, labels, limits)
    if not series:
        traps += _copied(columns, None if test is None else read_columns(test))
        if groups is None:
            traps += group_traps(columns)
    return traps


def target_traps(y: np.ndarray) -> list[Trap]:
    """A target that is constant, or nearly so; (n,)."""
    values, counts = np.unique(y, return_counts=True)
    most, others = int(counts.argmax()), int(len(y) - counts.max())
    if others >= RARE:
        return []
    fact = f"The target is {values[most]} in {counts[most]:,} of {len(y):,} rows."
    if not others:
        fact = f"The target is {values[most]} in all {len(y):,} rows."
    remedy = "Choose another target, or collect more data."
    return [Trap(TARGET, (), others, fact, remedy)]


def telling_traps(
    columns: Columns, labels: np.ndarray, limits: TrapLimits | None = None
) -> list[Trap]:
    """Columns that reveal the target alone or by one level, or are known for one class only."""
    rows = np.arange(columns.n_rows)
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False)
    sample, y = columns.rows(rows), labels[rows]
    target, codes, traps = TrapTarget.of(y), bin_columns(sample), []
    metric, seen = target.metric, set[int]()
    limits = limits or TrapLimits.of(metric)
    for lone in lone_columns(codes, target, limits):
        perfect = lone.alone >= limits.perfect
        traps.append(_alone(columns.names[lone.column], lone, metric, columns.n_rows, perfect))
        seen.add(lone.column)
    sides = target.codes
    names = [f"the target {y[sides == code][0]}" for code in range(int(sides.max()) + 1)]
    if target.numbers is not None:
        low, high = np.quantile(y, [1 / 3, 2 / 3])
        sides = (y > low).astype(int) + (y > high)
        thirds = (f"up to {low:g}", f"from {low:g} to {high:g}", f"above {high:g}")
        names = [f"a target {third}" for third in thirds]
    for side, word in ((codes > 0, "a value"), (codes == 0, "a gap")):
        for j, only, count in one_sided_columns(side, sides):
            if j in seen:
                continue
            seen.add(j)
            fact = f"All {count:,} rows with {word} in column {columns.names[j]!r} have"
            fact += f" {names[only]}; of all rows, {(sides == only).mean():.0%} do."
            traps.append(Trap(AFTERWARDS, (columns.names[j],), count, fact, FILLED))
    for level in lone_levels(sample, codes, target, limits, seen):
        share = float((sides == level.only).mean())
        traps.append(_level(columns.names[level.column], names[level.only], level, share))
    return traps


def _level(name: str, target: str, level: LoneLevel, share: float) -> Trap:
    """A level that reveals a class, in words; target, share : that class and its share of rows."""
    value = f"{level.value:g}" if isinstance(level.value, float) else repr(level.value)
    value = "a gap" if level.value is None else value
    fact = (
        f"{level.hits:,} of {level.rows:,} rows with {value} in column {name!r} have"
        f" {target}; of all rows, {share:.0%} do, and by all other columns"
        f" {level.others:.0%} of these would."
    )
    kind, remedy = (AFTERWARDS, FILLED) if level.value is None else (ANSWER, FOLLOWS)
    return Trap(kind, (name,), level.rows, fact, remedy)


def _alone(name: str, lone: LoneColumn, metric: str, n_rows: int, perfect: bool) -> Trap:
    """A column that reveals the target, in words."""
    others, figures = lone.others, f"{metric} {lone.alone:.2f}"
    if others is not None:
        figures += f"; all other columns together {others:.2f}"
    by_gaps = lone.by_gaps(CHANCE[metric])
    subject = f"Where column {name!r} has gaps" if by_gaps else f"Column {name!r}"
    how = "almost alone"
    if not perfect and others is not None and lone.alone > others:
        how = "better than all other columns together"
    fact = f"{subject} predicts the target {how} ({figures})."
    return Trap(
        AFTERWARDS if by_gaps else ANSWER, (name,), n_rows, fact, FILLED if by_gaps else FOLLOWS
    )


def _copied(columns: Columns, test: Columns | None) -> list[Trap]:
    """Rows that repeat others, in the same table or in the test data."""
    words = "repeat an earlier one in all columns"
    remedy = "A copy in another fold is scored as if it were new: remove copies first."
    kinds = [(twins_within(columns), words, remedy)]
    if test is not None:
        words = "of the test data are also in the training data"
        remedy = "Remove them from one of the two: they were learned, not predicted."
        kinds.append((twins_between(columns, test), words, remedy))
    traps = []
    for twins, words, remedy in kinds:
        if twins.by_design:
            fact = f"{counted(twins.copies, 'row')} {words} (first: row {twins.rows[0] + 1})."
            traps.append(Trap(COPIES, (), twins.copies, fact, remedy))
    return traps


def group_traps(X: Any, among: Sequence[str] | None = None) -> list[Trap]:
    """Columns by which rows seem to belong together; among : the only ones to look at."""
    traps = []
    for group in group_columns(read_columns(X), among):
        fact = f"Column {group.name!r} has {group.groups:,} values that occur in several rows"
        if group.constant:
            fact += f", in which {shorten(group.constant, 3)} hardly change"
        option = f"--group {shlex.quote(group.name)}"
        remedy = f"If these rows belong together, keep them in one fold: {option}."
        traps.append(Trap(GROUPS, (group.name,), group.rows, f"{fact}.", remedy))
    return traps


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
        return self.copies >= FEWEST_COPIES and self.copies > self.neighbours


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
