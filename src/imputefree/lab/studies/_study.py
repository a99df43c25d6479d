"""A study: incomplete data with a target, its splits and its source."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from ...data import Panel, Split, Splits

FIXED = 8  # steps; the paper: "most of the sequences have length ≤ 8"
FORMS = ("variable", "fixed")
TARGET, ID, TIME, GROUP = "outcome", "id", "time", "group"


@dataclass(frozen=True, eq=False)
class Study:
    """Incomplete data with a target, and what a reader of its results has to know.

    name : the name that `load` takes
    X : a table, (n, d) frame or array; or series, (n, T, d) array or list of n frames (T_i, d)
    y : the target, (n,)
    citation, licence : source and terms; for simulated data, what it imitates
    simulated : True if no value was ever measured
    static : one row per series, (n, s), or None
    lengths : number of steps per series (n,) if X is a padded array; None if nothing is padded
    times : time of each step, (n, T) or a list of (T_i,), or None
    groups : (n,), equal for rows of the same patient, or None
    splits : how the study is split
    notes : sentences that are shown next to results
    columns : names of the d columns if X is an array, or None
    truth : X without gaps, in the same form, or None; NaN where the value is unknown
    redrawn_rate : share of entries to hide in every step of training; 0 if gaps stay as they are

    >>> study = Study("toy", np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([0, 1]),
    ...               citation="made up here", licence="none needed", simulated=True)
    >>> study.kind, study.task, study.missing_rate
    ('table', 'classification', 0.25)
    """

    by_row: ClassVar[tuple[str, ...]] = ("X", "y", "static", "lengths", "times", "groups", "truth")

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
    redrawn_rate: float = 0.0

    @property
    def kind(self) -> str:
        """ "table" or "series"."""
        return "series" if isinstance(self.X, list) or np.ndim(self.X) == 3 else "table"

    @property
    def task(self) -> str:
        """ "regression" if the target is a float, else "classification"."""
        return "regression" if np.asarray(self.y).dtype.kind == "f" else "classification"

    @property
    def inputs(self) -> Any:
        """What estimators take as X: the table, or a `Panel` with lengths, times and statics."""
        if self.kind == "table":
            return self.X
        if isinstance(self.X, list):
            return Panel.from_list(self.X, self.times, self.static)
        return Panel.from_array(self.X, self.lengths, self.times, static=self.static)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of X; their positions if they have none."""
        first = self.X[0] if isinstance(self.X, list) else self.X
        if isinstance(first, pd.DataFrame):
            return [str(name) for name in first.columns]
        return list(self.columns or map(str, range(first.shape[-1])))

    @property
    def n_steps(self) -> np.ndarray:
        """Number of steps per series, (n,); 1 for each row of a table."""
        if self.kind == "table":
            return np.ones(len(self.y), dtype=int)
        if isinstance(self.X, list):
            return np.array([len(series) for series in self.X])
        return np.full(len(self.X), self.X.shape[1]) if self.lengths is None else self.lengths

    @cached_property
    def observed(self) -> np.ndarray:
        """True where an entry is seen, (rows, d): rows of a table, or valid steps of all series."""
        return np.asarray(pd.notna(self.steps(self.X)))

    def steps(self, values: Any) -> np.ndarray:
        """X, or values in its form, as one array (rows, d) without padding, series after series."""
        if isinstance(values, list):
            return np.concatenate([np.asarray(series) for series in values])
        array = np.asarray(values)
        if self.kind == "table":
            return array
        return array[np.arange(array.shape[1]) < np.asarray(self.n_steps)[:, None]]

    @property
    def missing_rate(self) -> float:
        """Share of missing entries; statics do not count."""
        return float((~self.observed).mean())

    def complete(self) -> Any:
        """X without gaps, in the same form, or None if unknown; for scores, never for training."""
        return self.truth

    def for_training(self, rows: Any) -> Self:
        """The study as it is when these rows are trained on."""
        return self

    def split(self, seed: int = 0) -> Split:
        """Row numbers for training, validation and the final test."""
        return self.splits.of(self.y, self.groups, seed)

    def take(self, rows: Any) -> Self:
        """The same study with these rows only (numbers or a mask), in this order."""
        rows = np.asarray(rows)
        rows = np.arange(len(self.y))[rows if rows.size else rows.astype(int)]
        splits = self.splits
        if splits.test_rows is not None:  # renumbered
            splits = replace(splits, test_rows=np.flatnonzero(np.isin(rows, splits.test_rows)))
        parts = {name: _rows(getattr(self, name), rows) for name in self.by_row}
        return replace(self, splits=splits, **parts)


def _rows(part: Any, rows: np.ndarray) -> Any:
    if part is None:
        return None
    if isinstance(part, list):
        return [part[row] for row in rows]
    return part.iloc[rows] if isinstance(part, pd.DataFrame | pd.Series) else part[rows]


def by_series(part: Any, begins: np.ndarray) -> list[Any]:
    """A frame or an array of the steps of all series, cut into one per series.

    begins : (n,) the first step of each

    >>> by_series(np.arange(5), np.array([0, 2]))
    [array([0, 1]), array([2, 3, 4])]
    """
    spans = pairwise([*begins, len(part)])
    if isinstance(part, pd.DataFrame):
        return [part.iloc[begin:end].reset_index(drop=True) for begin, end in spans]
    return [part[begin:end] for begin, end in spans]


def in_form(form: str, frames: list[pd.DataFrame], times: list[np.ndarray]) -> dict[str, Any]:
    """X, times and columns of a study in one of FORMS.

    "fixed" gives an array (n, 8, D), as in the paper: the first steps of each series; a short one
    repeats its last, so there are no times.

    >>> in_form("fixed", [pd.DataFrame({"a": [1.0, 2.0]})], [np.arange(2)])["X"][0, :, 0]
    array([1., 2., 2., 2., 2., 2., 2., 2.])
    """
    if form == "variable":
        return {"X": frames, "times": times}
    X = np.stack([frame.to_numpy()[np.minimum(range(FIXED), len(frame) - 1)] for frame in frames])
    return {"X": X, "columns": tuple(frames[0].columns)}


def long_form(study: Study) -> tuple[pd.DataFrame, list[str]]:
    """A study as one frame with a row per step, and options of `imputefree fit` that describe it.

    Padding is left out. A static column with the name of another column gets the suffix "_static";
    the added columns get a "_" if their name is taken.

    >>> from imputefree.lab.studies import load
    >>> frame, options = long_form(load("icu", n_series=40))
    >>> options[:6]
    ['--target', 'outcome', '--id', 'id', '--time', 'time']
    >>> frame["id"].nunique(), list(frame)[-2:]
    (40, ['age', 'outcome'])
    """
    series = np.repeat(np.arange(len(study.y)), study.n_steps)  # the series of each row
    values = _values(study)
    static = pd.DataFrame(index=range(len(study.y))) if study.static is None else study.static
    static = static.rename(columns=lambda name: f"{name}{'_static' * (str(name) in values)}")
    taken = {*values.columns, *static.columns}
    target, id, time, group = (_free(name, taken) for name in (TARGET, ID, TIME, GROUP))
    options = ["--target", target]
    parts: list[Any] = [values]
    if study.kind == "series":
        parts.insert(0, pd.DataFrame({id: series, time: _times(study)}))
        options += ["--id", id, "--time", time]
    parts.append(static.iloc[series].reset_index(drop=True))
    options += ["--static", ",".join(static.columns)] if len(static.columns) else []
    if study.groups is not None:
        parts.append(pd.Series(np.asarray(study.groups)[series], name=group))
        options += ["--group", group]
    parts.append(pd.Series(np.asarray(study.y)[series], name=target))
    if study.kind == "table" and study.task == "regression":
        options += ["--task", "regression"]
    return pd.concat(parts, axis=1), [*options, "-o", "model.imputefree"]


def _values(study: Study) -> pd.DataFrame:
    """The columns of X, (rows, d); unnamed ones become x0, x1, …"""
    if isinstance(study.X, pd.DataFrame):
        frame = study.X.reset_index(drop=True)
    elif isinstance(study.X, list) and isinstance(study.X[0], pd.DataFrame):
        frame = pd.concat(study.X, ignore_index=True)
    else:
        frame = pd.DataFrame(study.steps(study.X))
        return frame.set_axis(list(study.columns or [f"x{j}" for j in frame]), axis=1)
    return frame.set_axis(frame.columns.astype(str), axis=1)


def _times(study: Study) -> np.ndarray:
    """The time of each step, or its number within the series."""
    lengths = study.n_steps
    times = [np.arange(length) for length in lengths] if study.times is None else study.times
    steps = zip(times, lengths, strict=True)
    return np.concatenate([np.asarray(time)[:length] for time, length in steps]).astype(float)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
