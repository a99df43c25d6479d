"""Traps in data before a model falls into them: answers among the inputs, copies, groups, targets.

What is found is suspicious, not wrong: the reasons are outside the table. Each trap says what was
seen and what to do if it is what it looks like.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..data import Columns, Panel, as_array, read_columns, read_target, summarise
from ..errors import counted, shorten
from ._column_scores import TrapTarget, bin_columns
from ._group_columns import group_columns
from ._lone_columns import lone_columns, one_sided_columns
from ._twin_rows import twins_between, twins_within

ANSWER, AFTERWARDS, COPIES, GROUPS, TARGET = "answer", "afterwards", "copies", "groups", "target"
MOST_ROWS = 20_000  # of more, a sample is looked at for columns that tell the target
CHANCE = {"AUC": 0.5, "R²": 0.0}
RARE = 5  # rows besides the most frequent class, or number: nothing is learned from fewer


@dataclass(frozen=True)
class Trap:
    """Something in the data that makes scores too good, or learning impossible.

    kind : "answer" (a column that tells the target), "afterwards" (its gaps do), "copies" (of
        rows), "groups" (rows that belong together) or "target" (hardly anything to learn)
    columns : that are concerned
    rows : how many are
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


def find_traps(X: Any, y: Any, *, groups: Any = None, test: Any = None) -> list[Trap]:
    """What looks like a trap in a table, or in series, and its target.

    Parameters
    ----------
    X : a table with gaps in any form that `ImputeFreeClassifier.fit` takes, or a `Panel`
    y : (n,) classes or numbers; floats that are not whole are numbers
    groups : (n,) if it is known which rows belong together, nobody looks for groups
    test : another table with the same columns, which must not share rows with X

    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    >>> y = (X["a"] + rng.normal(size=200) > 0).astype(int)
    >>> find_traps(X, y)
    []
    >>> print(find_traps(X.assign(outcome=np.where(y == 1, "dead", "alive")), y)[0].fact)
    Column 'outcome' predicts the target almost alone (AUC 1.000; all other columns together 0.76).
    """
    series = isinstance(X, Panel)
    columns = summarise(X) if series else read_columns(X)
    labels = read_target(as_array(y, "y"), columns.n_rows, "find_traps")
    if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)
    elif labels.dtype.kind not in "fiub":
        labels = labels.astype(str)
    traps = target_traps(labels)
    if not any(trap.rows == 0 for trap in traps):
        traps += _told(columns, labels)
    if not series:
        traps += _copied(columns, None if test is None else read_columns(test))
        if groups is None:
            traps += _grouped(columns)
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


def _told(columns: Columns, labels: np.ndarray) -> list[Trap]:
    """Columns that tell the target almost alone, or are known only for one class."""
    rows = np.arange(columns.n_rows)
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False)
    sample, y = columns.rows(rows), labels[rows]
    target, codes, traps = TrapTarget.of(y), bin_columns(sample), []
    metric, seen = target.metric, set[int]()
    for lone in lone_columns(codes, target):
        name, others = columns.names[lone.column], lone.others
        beside = "" if others is None else f"; all other columns together {others:.2f}"
        figures = f"({metric} {lone.alone:.3f}{beside})"
        if lone.by_gaps(CHANCE[metric]):
            fact = f"Where column {name!r} has gaps predicts the target almost alone {figures}."
            remedy = "If it is filled in only once the outcome is known, leave it out (--drop)."
        else:
            fact = f"Column {name!r} predicts the target almost alone {figures}."
            remedy = "If it follows from the outcome or is written after it, leave it out (--drop)."
        kind = AFTERWARDS if lone.by_gaps(CHANCE[metric]) else ANSWER
        traps.append(Trap(kind, (name,), columns.n_rows, fact, remedy))
        seen.add(lone.column)
    for side, word in ((codes > 0, "a value"), (codes == 0, "a gap")):
        for j, only, count in one_sided_columns(side, target):
            if j in seen:
                continue
            seen.add(j)
            label = y[target.codes == only][0]
            fact = f"All {count:,} rows with {word} in column {columns.names[j]!r} have the target"
            fact += f" {label}; of all rows, {(target.codes == only).mean():.0%} do."
            remedy = "If it is filled in only once the outcome is known, leave it out (--drop)."
            traps.append(Trap(AFTERWARDS, (columns.names[j],), count, fact, remedy))
    return traps


def _copied(columns: Columns, test: Columns | None) -> list[Trap]:
    """Rows that repeat others."""
    traps, twins = [], twins_within(columns)
    if twins.by_design:
        fact = f"{counted(twins.copies, 'row')} repeat an earlier one in all columns"
        fact += f" (first: row {twins.rows[0] + 1})."
        remedy = "A copy in another fold is scored as if it were new: remove copies first."
        traps.append(Trap(COPIES, (), twins.copies, fact, remedy))
    if test is not None:
        shared = twins_between(columns, test)
        if shared.by_design:
            fact = f"{counted(shared.copies, 'row')} of the test data are also in the training data"
            fact += f" (first: row {shared.rows[0] + 1})."
            remedy = "Remove them from one of the two: they were learned, not predicted."
            traps.append(Trap(COPIES, (), shared.copies, fact, remedy))
    return traps


def _grouped(columns: Columns) -> list[Trap]:
    """Columns by which rows belong together."""
    traps = []
    for group in group_columns(columns):
        fact = f"Column {group.name!r} has {group.groups:,} values that occur in several rows"
        if group.constant:
            fact += f", in which {shorten(group.constant, 3)} hardly change"
        remedy = f"If these rows belong together, keep them in one fold: --group {group.name}."
        traps.append(Trap(GROUPS, (group.name,), group.rows, f"{fact}.", remedy))
    return traps
