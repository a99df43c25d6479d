"""A study: incomplete data with a target, how it is split, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from ...data import Panel, Split, Splits


@dataclass(frozen=True, eq=False)
class Study:
    """Everything an estimator needs to be tried, and a reader to know what was tried.

    name : what `datasets.load` calls it
    X : a table, (n, d) frame or array; or series, (n, T, d) array or list of n frames (T_i, d)
    y : the target, (n,)
    citation, licence : whose data it is, and on what terms; for simulated data, what it imitates
    simulated : True where no value was ever measured
    static : one row a series, (n, s), or None
    lengths : steps of each series (n,) where X is a padded array, or None: all of them
    times : when each step was, (n, T) or a list of (T_i,), or None
    groups : rows of one patient share a value (n,), or None
    splits : how it is split
    notes : what a reader of a table of results has to know, a sentence each
    columns : names of the d columns where X is an array, or None
    truth : X without gaps and in the same form, or None; NaN where nobody knows

    >>> study = Study("toy", np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([0, 1]),
    ...               citation="made up here", licence="none needed", simulated=True)
    >>> study.kind, study.task, study.missing_rate
    ('table', 'classification', 0.25)
    """

    name: str
    X: Any
    y: np.ndarray
    citation: str
    licence: str
    simulated: bool
    static: pd.DataFrame | None = None
    lengths: np.ndarray | None = None
    times: Any = None
    groups: np.ndarray | None = None
    splits: Splits = field(default_factory=Splits)
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    truth: Any = None

    @property
    def kind(self) -> str:
        """ "table" or "series"."""
        return "series" if isinstance(self.X, list) or np.ndim(self.X) == 3 else "table"

    @property
    def task(self) -> str:
        """ "regression" where the target is a number with a fraction, else "classification"."""
        kind = np.asarray(self.y).dtype.kind
        return "regression" if kind == "f" else "classification"

    @property
    def inputs(self) -> Any:
        """What estimators take as X: the table, or a `Panel` with lengths, times and statics."""
        if self.kind == "table":
            return self.X
        if isinstance(self.X, list):
            return Panel.from_list(self.X, self.times, self.static)
        return Panel.from_array(self.X, self.lengths, self.times, static=self.static)

    @cached_property
    def observed(self) -> np.ndarray:
        """Which entries are there, (rows, d): rows of a table, or all valid steps of all series."""
        return np.asarray(pd.notna(self.steps(self.X)))

    def steps(self, values: Any) -> np.ndarray:
        """X, or anything in its form, as one array (rows, d): rows of a table, or all valid steps
        of all series, one series after the other."""
        if isinstance(values, list):
            return np.concatenate([np.asarray(one) for one in values])
        flat = np.asarray(values)
        if self.kind == "table":
            return flat
        if self.lengths is None:
            return flat.reshape(-1, flat.shape[2])
        return flat[np.arange(flat.shape[1]) < np.asarray(self.lengths)[:, None]]

    @property
    def missing_rate(self) -> float:
        """Share of entries that are missing (statics not counted)."""
        return float((~self.observed).mean())

    def complete(self) -> Any:
        """X without gaps where it is known, in the form of X; else None. Never to learn from."""
        return self.truth

    def split(self, seed: int = 0) -> Split:
        """Row numbers to learn from, to choose by and to score once."""
        return self.splits.of(self.y, self.groups, seed)

    def take(self, rows: Any) -> Self:
        """The same study with these rows (numbers or a mask) only, in this order."""
        given = np.asarray(rows)
        rows = np.arange(len(self.y))[given if given.size else given.astype(int)]
        static = None if self.static is None else self.static.iloc[rows]
        splits = self.splits
        if splits.test_rows is not None:  # row numbers: those of the rows that are left
            splits = replace(splits, test_rows=np.flatnonzero(np.isin(rows, splits.test_rows)))
        return replace(
            self,
            splits=splits,
            X=_rows(self.X, rows),
            y=self.y[rows],
            static=static,
            lengths=_rows(self.lengths, rows),
            times=_rows(self.times, rows),
            groups=_rows(self.groups, rows),
            truth=_rows(self.truth, rows),
        )


def _rows(part: Any, rows: np.ndarray) -> Any:
    if part is None:
        return None
    if isinstance(part, list):
        return [part[row] for row in rows]
    return part.iloc[rows] if isinstance(part, pd.DataFrame | pd.Series) else part[rows]
