"""Columns of a problem: those to learn from, why others are left out, and those that options name.

Options name the target, groups, times to split by, and trusted rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError, counted
from ..io import CATEGORY, DROP, NUMBER, ColumnReading, is_steady, read_label_column
from ._request import Request
from ._series_files import as_strings, read_times, refuse_gaps

CONSTANT = "constant within each series: consider --static"
TRUSTED_CELLS = {"1": True, "1.0": True, "true": True} | dict.fromkeys(("0", "0.0", "false"), False)
FEWEST = 10  # rows or series: an estimate from fewer is meaningless


# ---- columns to learn from
@dataclass(frozen=True)
class Column:
    """One column.

    kind : "number", "category" or, if it is left out, ""
    missing : share of rows without a value; for static columns, of series
    note : what a user should know about it
    left_out : why the model does not use it, or ""
    static : whether the user named it as constant within a series
    """

    name: str
    kind: str
    missing: float
    note: str = ""
    left_out: str = ""
    static: bool = False


def columns_of(
    reading: ColumnReading,
    frame: pd.DataFrame,
    series: np.ndarray | None = None,
    static: bool = False,
) -> list[Column]:
    """What a column of the file became: itself, several columns, or one that is left out.

    frame : (rows, columns) values of the rows that have a target
    series : (rows,) the number of each row's series, if there are series
    static : whether the user says that it is constant within them

    >>> reading = ColumnReading("ward", "category", note="2 levels")
    >>> columns_of(reading, pd.DataFrame({"ward": ["b", "a", None, "a"]}))
    [Column(name='ward', kind='category', missing=0.25, note='2 levels', left_out='', static=False)]
    """
    name = reading.name
    if reading.kind == DROP:
        return [Column(name, "", reading.gaps, left_out=reading.note, static=static)]
    if reading.parts:
        note = f"of {name!r}, a {reading.kind}: {reading.note}"
        parts = [Column(part, NUMBER, _gaps(frame[part]), note) for part in reading.parts]
        return [_unless_constant(part, frame[part.name]) for part in parts]
    values, note = frame[name], reading.note
    if static and series is not None:
        values = values.groupby(series).first()  # the first that is known
    elif series is not None and is_steady(values, series):
        note = f"{note}; {CONSTANT}" if note else CONSTANT
    column = Column(name, reading.kind, _gaps(values), note, "", static)
    return [_unless_constant(column, values)]


def _gaps(values: pd.Series) -> float:
    return float(values.isna().mean())


def _unless_constant(column: Column, values: pd.Series) -> Column:
    """The same column, or left out if rows with a target do not differ in it."""
    known = values.dropna()
    if known.empty or (len(known) == len(values) and known.nunique() == 1):
        reason = "empty" if known.empty else f"constant: always {known.iloc[0]!r}"
        return Column(column.name, "", column.missing, left_out=reason, static=column.static)
    return column


def summary(columns: list[Column]) -> str:
    """How many columns of each kind.

    >>> summary([Column("age", "number", 0.0), Column("day", "", 0.0, left_out="dates")])
    '1 number, 1 left out'
    """
    numbers = sum(column.kind == NUMBER for column in columns)
    categories = sum(column.kind == CATEGORY for column in columns)
    left_out = sum(bool(column.left_out) for column in columns)
    parts = [counted(numbers, "number")] if numbers else []
    if categories:
        parts.append("1 category" if categories == 1 else f"{categories} categories")
    return ", ".join(parts + [f"{left_out} left out"] * bool(left_out))


# ---- columns that options name
def read_labels(
    frame: pd.DataFrame, request: Request, path: Path
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray | None, list[str]]:
    """Rows whose unit has a label, the unit of each, the labels, their rows if steps have labels,
    and a note on units without.
    """
    unit, labels = np.arange(len(frame)), frame[request.target]
    if labels.isna().all():
        fact = f"the target {request.target!r} of {path} is empty in all rows"
        raise InputError(fact, "There must be something to predict", "Name another with --target")
    if request.id:
        refuse_gaps(frame[request.id], path)
        unit, _ = pd.factorize(frame[request.id])  # in the order of first appearance
        if request.per_step:
            known = np.bincount(unit, labels.notna()) > 0
        else:
            labels = _one_per_series(labels, unit, "--target", frame[request.id], path)
    if not request.per_step:
        known = labels.notna().to_numpy()
    y = read_label_column(labels[labels.notna()], request.task, path)
    number = np.cumsum(known) - 1  # units are counted without those that have no label
    rows, n_without = known[unit], int((~known).sum())
    notes = [f"{request.units(n_without)} without a target left out."] * bool(n_without)
    steps = np.flatnonzero(labels[rows].notna()) if request.per_step else None
    if steps is not None and len(steps) < rows.sum():
        unlabelled = int(rows.sum()) - len(steps)
        notes.append(f"{request.labels(unlabelled)} without a target: read, but not learned.")
    return frame[rows].reset_index(drop=True), number[unit[rows]], y, steps, notes


def _one_per_series(
    values: pd.Series, unit: np.ndarray, option: str, ids: pd.Series, path: Path
) -> pd.Series:
    """The only value of each series, or a gap, in the column that an option names; (series,)."""
    groups = values.groupby(unit)
    different = groups.nunique()
    if different.max() > 1:
        row = int(np.flatnonzero(unit == different.idxmax())[0])
        raise InputError(
            f"column {values.name!r} ({option}) of {path} changes within a series"
            f" (first: {ids.name} {ids.iloc[row]})",
            f"A series has one {'label' if option == '--target' else 'group'}",
            f"Name a column with one value per series with {option}"
            + (", or pass --per-step to predict it at every step" * (option == "--target")),
        )
    return groups.first()


def read_groups(
    frame: pd.DataFrame, unit: np.ndarray, request: Request, path: Path
) -> np.ndarray | None:
    """The group of each unit as a string; None without --group."""
    if request.group is None:
        return None
    values = frame[request.group]
    if request.id:
        values = _one_per_series(values, unit, "--group", frame[request.id], path)
    if values.isna().any():
        raise InputError(
            f"the group {request.group!r} of {path} is missing in"
            f" {counted(int(values.isna().sum()), 'place')}",
            "Every row belongs to a group",
            "Fill the column, for example with the row's number",
        )
    return as_strings(values)


def read_spans(
    frame: pd.DataFrame, unit: np.ndarray, request: Request, path: Path
) -> np.ndarray | None:
    """When each unit begins and ends by the column of --by-time, (units, 2); None without it."""
    name = request.by_time
    if name is None:
        return None
    times, _ = read_times(frame[name], path, "--by-time")
    numbers = times.astype("datetime64[ns]").astype(np.int64) if times.dtype.kind == "M" else times
    spans = pd.Series(numbers).groupby(unit).agg(["min", "max"]).to_numpy()
    if spans[:, 0].min() == spans[:, 0].max():
        fact = f"column {name!r} (--by-time) of {path} begins at the same time everywhere"
        remedy = "Name a column of dates, such as that of admission"
        raise InputError(fact, "The latest are held out", remedy)
    return spans


def read_trusted(
    frame: pd.DataFrame, y: np.ndarray, request: Request, path: Path
) -> np.ndarray | None:
    """Which rows are trusted, by the column of --trusted; (rows,) bool. None without it."""
    name = request.trusted
    if name is None:
        return None
    cells = as_strings(frame[name].astype(object).where(frame[name].notna(), ""))
    marks = pd.Series(cells).str.strip().str.lower().map(TRUSTED_CELLS)
    if marks.isna().any():
        row = int(marks.isna().to_numpy().argmax())
        cell = repr(str(cells[row])) if cells[row] else "empty"
        raise InputError(
            f"column {name!r} (--trusted) of {path} is {cell} in row {row + 1}",
            "It must be 1 in trusted rows and 0 in all others",
            "Correct the column, or name another",
        )
    trusted = marks.to_numpy(bool)
    count = int(trusted.sum())
    if not FEWEST <= count < len(y):
        raise InputError(
            f"column {name!r} (--trusted) of {path} marks {count:,} of {request.units(len(y))}",
            f"At least {FEWEST} must be trusted, and not all: they judge what the others teach",
            "Mark some rows that are surely like those to predict, or leave --trusted out",
        )
    if len(np.unique(y[trusted])) < 2:
        fact = f"all rows that {name!r} (--trusted) of {path} marks have the same target"
        rule = "They must show what makes the target differ"
        raise InputError(fact, rule, "Mark rows with other targets too")
    return trusted
