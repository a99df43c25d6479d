"""Cells of a column as values, by what the column was taken for.

Every cell is read by itself, so it does not matter where a large file is cut, and a model reads a
new file as it read the one that it learned from.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import NEVER_LEVELS, TRUTH, coerced, is_gap_word, level_name
from ..errors import InputError
from ._quantities import read_quantity, unit_name
from ._understood import CATEGORY, CLOCK, CLOCKS, DATE, DROP, NUMBER, SPAN, WORDS, ColumnReading
from ._written_times import DATE_CODES, DAY_HOURS, NEVER, ClockTime, read_clock, read_dates_or_iso

PARTS = ("days", "month", "weekday")  # what a date becomes
WORD = re.compile(r"\w+")
TIMES = datetime.date, datetime.time, datetime.timedelta  # kinds of cells, not of columns
EXCEL = "Excel"  # days since the end of 1899
FIRST_DAY = pd.Timestamp("1899-12-30")
EXACT = 2**53  # up to which floats hold all whole numbers
OR = " or "  # between units that are the same, such as the flags H and L
HASHED = 16  # columns of hashed words
HIDDEN: dict[int, str | None] = dict.fromkeys(
    [0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, 0xFEFF]
)
HIDDEN |= dict.fromkeys([0xA0, 0x2007, 0x2009, 0x202F], " ")
LEADING_ZERO = re.compile(r"[-+]?0\d+")


class Values(NamedTuple):
    """A column as values.

    columns : by name, (n,) floats with NaN, or strings with None; several for a date or words
    bad : (n,) which cells are neither a value nor a gap
    """

    columns: dict[str, np.ndarray]
    bad: np.ndarray


def cell_values(cells: pd.Series, reading: ColumnReading, decimal: str = ".") -> Values:
    """The values of a column's cells (n,), which may be strings or typed.

    >>> bp = ColumnReading("bp", "number", missing=(-9, "refused"), unit="mmHg")
    >>> cell_values(pd.Series(["145 mmHg", "-9", "refused", "?", "high"]), bp)
    Values(columns={'bp': array([145.,  nan,  nan,  nan,  nan])}, \
bad=array([False, False, False, False,  True]))
    """
    name, cells = reading.name, stripped(cells)
    fine = np.zeros(len(cells), dtype=bool)
    if reading.kind == DROP:
        return Values({}, fine)
    if reading.kind == NUMBER:
        numbers, bad = _numbers(cells, reading, decimal)
        return Values({name: numbers}, bad)
    if reading.kind == CATEGORY:
        return Values({name: _levels(cells, reading)}, fine)
    if reading.kind == DATE:
        return _dates(cells, reading)
    if reading.kind == WORDS:
        return Values(_words(cells, reading), fine)
    return Values({name: typed(cells).to_numpy()}, fine)


def numbered(cells: pd.Series) -> tuple[np.ndarray, Any]:
    """The number of each cell among the distinct ones, -1 for gaps; and those.

    Cells that cannot be compared, such as lists, are an InputError.
    """
    try:
        return pd.factorize(cells)
    except TypeError:
        fact, rule = f"column {cells.name!r} holds values such as lists", "A cell is one value"
        raise InputError(fact, rule, "Extract the part you need, or drop the column") from None


def visible(text: str) -> str:
    """A string as it is seen: without spaces around it and characters that do not show.

    Spaces that do not break are spaces, and an umlaut of two characters is one.

    >>> [visible(text) for text in (" a", "New\\xa0York", "\\ufeff31", "Ko\\u0308ln")]
    ['a', 'New York', '31', 'Köln']
    """
    if text.isascii():
        return text.strip()
    return unicodedata.normalize("NFC", text.translate(HIDDEN)).strip()


def stripped(cells: pd.Series) -> pd.Series:
    """Strings as they are seen, and gaps where nothing is left; others stay."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(object)
    if not (cells.dtype == object or isinstance(cells.dtype, pd.StringDtype)):
        return cells
    objects = cells.astype(object)
    codes, distinct = numbered(objects)
    clean = [visible(cell) or None if isinstance(cell, str) else cell for cell in distinct]
    lookup = np.empty(len(clean) + 1, dtype=object)
    lookup[:-1] = clean
    return pd.Series(lookup[codes], index=cells.index, name=cells.name, dtype=object)


def typed(cells: pd.Series, decimal: str = ".") -> pd.Series:
    """Strings as numbers if all are, as pandas types them; but 007 stays a string."""
    if cells.dtype != object:
        return cells
    places, distinct = pd.factorize(cells)
    if any(isinstance(c, bool) or LEADING_ZERO.fullmatch(str(c)) for c in distinct):
        return cells
    numbers = plain_numbers(np.asarray(distinct, dtype=object), decimal)
    if not (np.abs(numbers) < EXACT).all():  # NaN included
        return cells
    values = pd.Series(np.append(numbers, np.nan)[places], index=cells.index, name=cells.name)
    whole = len(values) > 0 and bool((values == values.round()).all())
    return values.astype("int64") if whole else values


def gap_tests(missing: Collection[Any]) -> tuple[set[str], set[float]]:
    """Words (case folded) and numbers that stand for a gap."""
    words = {str(code).strip().casefold() for code in missing if isinstance(code, str)}
    numbers = {number for code in missing if (number := _as_number(code)) is not None}
    return words, numbers


def _as_number(code: Any) -> float | None:
    try:
        return float(code)
    except (TypeError, ValueError):
        return None


def are_gap_words(strings: pd.Series) -> pd.Series:
    """Which strings are words for a gap among numbers."""
    words = [text for text in strings.unique() if isinstance(text, str) and is_gap_word(text)]
    return strings.isin(words)


def plain_numbers(distinct: np.ndarray, decimal: str) -> np.ndarray:
    """Numbers without a unit or marks between thousands, NaN for other cells; (n,)."""
    if decimal == ",":
        marked = [
            (cell.replace(",", ".") if "." not in cell else None) if isinstance(cell, str) else cell
            for cell in distinct
        ]
        distinct = np.array([*marked, None], dtype=object)[:-1]  # of any length, also of strings
    return coerced(distinct)


def _numbers(
    cells: pd.Series, reading: ColumnReading, decimal: str
) -> tuple[np.ndarray, np.ndarray]:
    words, codes = gap_tests(reading.missing)
    clock = reading.format in CLOCKS
    if cells.dtype != object:
        if cells.dtype.kind == "m" and clock:
            return cells.dt.total_seconds().to_numpy() / 3600, np.zeros(len(cells), dtype=bool)
        if cells.dtype.kind in "mM":
            fact = f"column {reading.name!r} holds dates or times"
            raise InputError(fact, "Numbers were expected there", "Convert them to numbers")
        numbers = cells.to_numpy(dtype=np.float64, na_value=np.nan)
        numbers = np.where(np.isin(numbers, [*codes]), np.nan, numbers)
        return numbers, ~np.isnan(numbers) if clock else np.isinf(numbers)
    places, levels = pd.factorize(cells)
    distinct = np.asarray(levels, dtype=object)
    values = np.full(len(distinct), np.nan) if clock else plain_numbers(distinct, decimal)
    bad = np.isinf(values)
    for j in np.flatnonzero(np.isnan(values)).tolist():
        cell, text = distinct[j], str(distinct[j])
        if text in TRUTH and not clock:
            values[j] = TRUTH[text]
        elif not is_gap_word(text) and text.casefold() not in words:
            number = _hours(cell, reading) if clock else _quantity(text, reading, decimal)
            values[j] = np.nan if number is None else number
            bad[j] = number is None
    values[np.isin(values, [*codes])] = np.nan
    return np.append(values, np.nan)[places], np.append(bad, False)[places]


def _quantity(text: str, reading: ColumnReading, decimal: str) -> float | None:
    """A number, maybe with the unit of its column; None for anything else."""
    quantity = read_quantity(text, decimal)
    units = {"", *map(unit_name, reading.unit.split(OR))}
    return quantity.value if quantity and unit_name(quantity.unit) in units else None


def clock_time(cell: Any) -> ClockTime | None:
    """A cell as a time of day or a duration, or None."""
    if isinstance(cell, datetime.timedelta):
        return ClockTime(cell / datetime.timedelta(hours=1), 3)
    if isinstance(cell, datetime.time):
        time = read_clock(str(cell))
        return time and time._replace(of_day=True)
    return read_clock(cell) if isinstance(cell, str) else None


def _hours(cell: Any, reading: ColumnReading) -> float | None:
    """A time in hours, or None if it is not written as others: a part more may mean other units."""
    time = clock_time(cell)
    if time is None or (isinstance(cell, str) and time.zone != reading.unit):
        return None
    if reading.format == CLOCK:
        fits = time.hours <= DAY_HOURS
    else:
        fits = time.parts == (2 if reading.format == SPAN else 3) and not time.of_day
    return time.hours if fits else None


def _levels(cells: pd.Series, reading: ColumnReading) -> np.ndarray:
    """Strings, None where missing; numbers that are levels have their shortest form.

    Dates and times among words are levels as they are written in ISO.
    """
    words, codes = gap_tests(reading.missing)
    spelled = {level.casefold(): level for level in reading.spellings}
    places, distinct = pd.factorize(typed(cells))
    levels = np.empty(len(distinct) + 1, dtype=object)
    for j, cell in enumerate(distinct):
        text = str(cell) if isinstance(cell, TIMES) else level_name(cell)
        gap = text.casefold() in NEVER_LEVELS or text.casefold() in words
        text = spelled.get(text.casefold(), text)
        levels[j] = None if gap or (codes and _as_number(text) in codes) else text
    return levels[places]


def _dates(cells: pd.Series, reading: ColumnReading) -> Values:
    dates: Any
    words, _ = gap_tests(reading.missing)
    if reading.format == EXCEL and cells.dtype.kind != "M":
        numbers, bad = _numbers(cells, reading, ".")
        dates = pd.Series(FIRST_DAY + pd.to_timedelta(np.where(bad, np.nan, numbers), unit="D"))
    elif cells.dtype.kind == "M":
        dates, bad = cells, np.zeros(len(cells), dtype=bool)
    else:
        if cells.dtype != object:  # 20240131
            cells = cells.astype("Int64").astype(object)
        strings = cells.astype(str)
        never = strings.str.casefold().isin([*words, *NEVER]) | are_gap_words(strings)
        gaps = cells.isna() | never
        cells = cells.where(~gaps, None)
        dates = read_dates_or_iso(cells, reading.format or None)
        bad = (dates.isna() & ~gaps).to_numpy()
    if isinstance(dates.dtype, pd.DatetimeTZDtype):
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    codes = [pd.Timestamp(word) for word in words & DATE_CODES]
    dates = dates.mask(dates.dt.normalize().isin(codes)) if codes else dates
    days = (dates - pd.Timestamp(reading.since)) / pd.Timedelta(days=1)
    values = dict(zip(PARTS, (days, dates.dt.month, dates.dt.day_of_week), strict=True))
    columns = {}
    for part in reading.parts:
        chosen = values[part.removeprefix(f"{reading.name}: ")]
        columns[part] = chosen.to_numpy(dtype=np.float64, na_value=np.nan)
    return Values(columns, bad)


def _words(cells: pd.Series, reading: ColumnReading) -> dict[str, np.ndarray]:
    """How often words of each hash occur; (n,) per column, NaN where there is no text."""
    places, distinct = pd.factorize(cells)
    counts = np.zeros((len(distinct) + 1, HASHED))
    counts[-1] = np.nan
    for j, cell in enumerate(distinct):
        words = np.array(WORD.findall(str(cell).casefold()), dtype=object)
        if len(words):
            hashes = pd.util.hash_array(words, categorize=False) % HASHED
            counts[j] = np.bincount(hashes.astype(np.int64), minlength=HASHED)
    return dict(zip(reading.parts, counts[places].T, strict=True))
