"""What each column of a user's file is taken for, and why some are left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import GAP_WORDS, MAX_LEVELS, read_columns
from ..errors import InputTypeError, counted, shorten

NUMBER, CATEGORY = "number", "category"
NAMES = 0.9  # texts of which more than that share are different are names, not categories
FEWEST = 10  # values, to say that of
DAY = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
DATE = re.compile(rf"\s*{DAY}([ T]\d{{1,2}}:\d{{2}}.*)?\s*")
UNNAMED = re.compile(r"(Unnamed: \d+)?")  # as pandas calls such columns
COUNTS = "numbers the rows; to keep it, name it with --category"
DATES = "dates; to keep it, turn it into a number, such as days since some day"


@dataclass(frozen=True)
class Column:
    """One column of the file.

    kind : "number", "category" or, where it is left out, ""
    missing : share of rows without a value; of static columns, of series
    note : what a user should know of it
    left_out : why the model does not use it, or ""
    static : whether it was named as one that does not change within a series
    """

    name: str
    kind: str
    missing: float
    note: str = ""
    left_out: str = ""
    static: bool = False


def take_for(
    values: pd.Series,
    *,
    forced: bool = False,
    series: np.ndarray | None = None,
    static: bool = False,
    whole: pd.Series | None = None,
) -> Column:
    """What a column is taken for.

    values : (rows,)
    forced : whether the user says that it is a category
    series : (rows,) the number of each row's series, if there are series
    static : whether the user says that it does not change within them
    whole : the column in all rows of the file, where values are some of them

    >>> take_for(pd.Series(["b", "a", None, "a"], name="ward"))
    Column(name='ward', kind='category', missing=0.25, note='2 levels', left_out='', static=False)
    >>> take_for(pd.Series(["2024-01-02", "2024-03-04"], name="day")).left_out
    'dates; to keep it, turn it into a number, such as days since some day'
    """
    name = str(values.name)
    if static and series is not None:
        values = values.groupby(series).first()  # the first that is known
    missing = float(values.isna().mean())

    def out(why: str) -> Column:
        return Column(name, "", missing, left_out=why, static=static)

    known = values.dropna()
    if known.empty:
        return out("empty")
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return out(DATES)
    try:
        array = read_columns(known.to_frame()).arrays[0]
    except InputTypeError as error:  # infinity is another error: it is never passed over
        return out(error.fact.partition(" holds ")[2] or error.fact)
    different = len(pd.unique(array))
    if different == 1 and not missing:
        return out(f"constant: always {_shown(array[0])}")
    steady = series is not None and not static and _steady(values, series)
    kind = CATEGORY if forced or array.dtype == object else NUMBER
    column = Column(name, kind, missing, "one value only, or a gap" * (different == 1), "", static)
    if different > 1 and kind == CATEGORY:
        of = len(np.unique(series[values.notna()])) if steady and series is not None else len(array)
        column = _text(column, array, different, of, forced)
    elif different > 1 and not static and _counts(values if whole is None else whole):
        return out(COUNTS if series is None else f"{COUNTS} or --static")
    elif _ids(array, different):
        column = replace(
            column, note="whole numbers, all different: if it is an id, leave it out with --drop"
        )
    if steady and column.kind:
        note = "does not change within a series: consider --static"
        column = replace(column, note="; ".join(filter(None, (column.note, note))))
    return column


def _text(column: Column, array: np.ndarray, different: int, of: int, forced: bool) -> Column:
    """A column of texts: a category, unless it holds dates, or names of rows (`of` of them)."""
    if not forced and all(DATE.fullmatch(str(text)) for text in array[:1000]):
        return replace(column, kind="", left_out=DATES)
    if not forced and of >= FEWEST and different > NAMES * of:
        almost = "" if different == of else "almost "
        why = f"texts that are {almost}all different, as names are"
        return replace(column, kind="", left_out=why)
    note = f"{different:,} levels"
    if different > MAX_LEVELS:
        note += f"; the {MAX_LEVELS} commonest count, the others as one"
    words = sorted({str(text) for text in pd.unique(array)} & GAP_WORDS)
    if words:
        note += f"; {shorten(words)} is one of them: if it means a gap, leave such cells empty"
    return replace(column, note=note)


def _counts(whole: pd.Series) -> bool:
    """Whether a column of numbers only numbers the rows of the file: 1, 2, 3, …

    Years in order do not, unless nobody gave the column a name.
    """
    if len(whole) < FEWEST or whole.isna().any():
        return False
    array = whole.to_numpy(dtype=float)
    begins = array[0] in (0, 1) or UNNAMED.fullmatch(str(whole.name)) is not None
    return begins and bool((np.diff(array) == 1).all())


def _ids(array: np.ndarray, different: int) -> bool:
    """Whether numbers look like ids; small ones would not."""
    return (
        different == len(array)
        and len(array) >= FEWEST
        and bool((array == np.round(array)).all() and np.abs(array).max() >= len(array))
    )


def _steady(values: pd.Series, series: np.ndarray) -> bool:
    """Whether a column has one value, or none, in all rows of a series; and some have several."""
    groups = values.groupby(series)
    if len(values) == groups.ngroups or groups.nunique().max() > 1:
        return False
    known = groups.count()
    return bool(((known == 0) | (known == groups.size())).all())


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"{value:g}"


def summary(columns: list[Column]) -> str:
    """How many columns of which kind.

    >>> summary([Column("age", "number", 0.0), Column("day", "", 0.0, left_out="dates")])
    '1 number, 1 left out'
    """
    counts = {
        "number": sum(one.kind == NUMBER for one in columns),
        "category": sum(one.kind == CATEGORY for one in columns),
    }
    words = [counted(count, what) for what, count in counts.items() if count]
    words = [word.replace("categorys", "categories") for word in words]
    left_out = sum(bool(one.left_out) for one in columns)
    return ", ".join(words + [f"{left_out} left out"] * bool(left_out))
