"""How each column of a user's file is read, and why some are left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..data import GAP_WORDS, MAX_LEVELS, read_columns
from ..errors import InputTypeError, counted, shorten

NUMBER, CATEGORY = "number", "category"
NAMES = 0.9  # strings of which a larger share are different are names, not categories
FEWEST = 10  # values needed to conclude that
DAY = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
DATE = re.compile(rf"\s*{DAY}([ T]\d{{1,2}}:\d{{2}}.*)?\s*")
UNNAMED = re.compile(r"(Unnamed: \d+)?")  # pandas' name for such columns
COUNTS = "numbers the rows; to keep it, name it with --category"
DATES = "dates; to keep it, convert it to a number, such as days since some day"
IDS = "whole numbers, all different: if it is an id, leave it out with --drop"
CONSTANT = "constant within each series: consider --static"


@dataclass(frozen=True)
class Column:
    """One column of the file.

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


def infer_column(
    values: pd.Series,
    *,
    forced: bool = False,
    series: np.ndarray | None = None,
    static: bool = False,
    whole: pd.Series | None = None,
) -> Column:
    """How a column is read: its kind, or why it is left out.

    values : (rows,)
    forced : whether the user says that it is a category
    series : (rows,) the number of each row's series, if there are series
    static : whether the user says that it is constant within them
    whole : the column in all rows of the file, if `values` are only some of them

    >>> infer_column(pd.Series(["b", "a", None, "a"], name="ward"))
    Column(name='ward', kind='category', missing=0.25, note='2 levels', left_out='', static=False)
    >>> infer_column(pd.Series(["2024-01-02", "2024-03-04"], name="day")).left_out
    'dates; to keep it, convert it to a number, such as days since some day'
    """
    name = str(values.name)
    if static and series is not None:
        values = values.groupby(series).first()  # the first that is known
    missing = float(values.isna().mean())

    def left_out(reason: str) -> Column:
        return Column(name, "", missing, left_out=reason, static=static)

    known = values.dropna()
    if known.empty:
        return left_out("empty")
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return left_out(DATES)
    try:
        array = read_columns(known.to_frame()).arrays[0]
    except InputTypeError as error:  # infinity is another error: it is never passed over
        return left_out(error.fact.partition(" holds ")[2] or error.fact)
    n_distinct = len(pd.unique(array))
    if n_distinct == 1 and not missing:
        only = repr(array[0]) if isinstance(array[0], str) else f"{array[0]:g}"
        return left_out(f"constant: always {only}")
    steady = series is not None and not static and _is_steady(values, series)
    kind = CATEGORY if forced or array.dtype == object else NUMBER
    note = reason = ""
    if n_distinct == 1:
        note = "one value only, or a gap"
    elif kind == CATEGORY:
        rows = values.notna().to_numpy()
        n = len(np.unique(series[rows])) if series is not None and steady else len(array)
        if not forced:
            reason = _not_a_category(array, n_distinct, n)
        note = _about_levels(array, n_distinct)
    elif not static and _counts_rows(values if whole is None else whole):
        reason = COUNTS if series is None else f"{COUNTS} or --static"
    elif _looks_like_ids(array, n_distinct):
        note = IDS
    if steady:
        note = f"{note}; {CONSTANT}" if note else CONSTANT
    return left_out(reason) if reason else Column(name, kind, missing, note, "", static)


def _not_a_category(array: np.ndarray, n_distinct: int, n: int) -> str:
    """Why strings are not categories: they are dates, or the names of their n rows; or ""."""
    if all(DATE.fullmatch(str(string)) for string in array[:1000]):
        return DATES
    if n >= FEWEST and n_distinct > NAMES * n:
        return f"strings, {'almost ' * (n_distinct != n)}all different, like names"
    return ""


def _about_levels(array: np.ndarray, n_distinct: int) -> str:
    note = f"{n_distinct:,} levels"
    if n_distinct > MAX_LEVELS:
        note += f"; the {MAX_LEVELS} most frequent are kept, the others merged"
    words = sorted({str(string) for string in pd.unique(array)} & GAP_WORDS)
    if words:
        note += f"; {shorten(words)} is one of them: if it means a gap, leave such cells empty"
    return note


def _counts_rows(whole: pd.Series) -> bool:
    """Whether a column of numbers only numbers the rows of the file: 1, 2, 3, …

    Years in order do not, unless the column has no name.
    """
    if len(whole) < FEWEST or whole.isna().any():
        return False
    array = whole.to_numpy(dtype=float)
    begins = array[0] in (0, 1) or UNNAMED.fullmatch(str(whole.name)) is not None
    return begins and bool((np.diff(array) == 1).all())


def _looks_like_ids(array: np.ndarray, n_distinct: int) -> bool:
    """Whether numbers look like ids; small ones would not."""
    return (
        n_distinct == len(array)
        and len(array) >= FEWEST
        and bool((array == np.round(array)).all() and np.abs(array).max() >= len(array))
    )


def _is_steady(values: pd.Series, series: np.ndarray) -> bool:
    """Whether a column has one value, or none, in all rows of a series; and some have several."""
    groups = values.groupby(series)
    if len(values) == groups.ngroups or groups.nunique().max() > 1:
        return False
    known = groups.count()
    return bool(((known == 0) | (known == groups.size())).all())


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
