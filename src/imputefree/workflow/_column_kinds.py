"""The columns that a model learns from, and why others of the file are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import counted
from ..io import CATEGORY, DROP, NUMBER, ColumnReading, is_steady

CONSTANT = "constant within each series: consider --static"


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
