"""Rows that are not data: titles above the names, names that are values, totals and notes below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import coerced, is_gap_word
from ..errors import InputError, counted, shorten
from ._cell_values import numbered, plain_numbers, stripped
from ._quantities import read_quantity
from ._written_times import looks_like_a_date

MOST_ABOVE = 20  # rows that may stand above the column names
LOOKED_AT = 50  # cells of a column, to know whether it holds numbers
FIRST_CELLS = 2000  # of a single column, to know whether all hold a separator
ONE_TABLE = "A table is one row of column names, then the rows"
FEWEST = 5  # numbers above a total
TOTALS = {"total", "totals", "grand total", "sum", "subtotal", "average", "mean", "summe", "gesamt"}
TOTALS |= {"gesamtsumme", "insgesamt", "mittelwert", "durchschnitt", "somme", "totale", "moyenne"}
TOTALS |= {"sums", "means", "zwischensumme", "suma", "media", "promedio", "soma", "média", "totaal"}
TOTALS |= {"gemiddelde", "totalt", "summa", "medelvärde", "gesamtergebnis", "total général"}
SPELLED = [
    form + end
    for word in TOTALS
    for form in (word, word.capitalize(), word.title(), word.upper())
    for end in ("", ":")
]
HOLDS_TOTALS = "holds totals or means of the rows above"


def are_title(cells: Sequence[Any], width: int) -> bool:
    """Whether a row of a table with so many columns is above its names: it has too few cells.

    >>> are_title(["Export of 2024", ""], 5), are_title(["", "value"], 2)
    (True, False)
    """
    filled = sum(cell is not None and str(cell).strip() != "" for cell in cells)
    return 2 * filled < width and width > 1


def said_above(count: int, word: str = "line") -> str:
    """That rows above the names are not read; "" if there are none."""
    return f"{counted(count, word)} above the column names not read" if count else ""


def check_header(frame: pd.DataFrame, path: Path) -> None:
    """Refuse a file whose first row holds values, not names, or whose columns were not told apart.

    A single column is refused if its name and all of its cells hold the same mark or spaces.
    """
    names, inside = [], []
    if len(frame.columns) == 1:
        only, marks = frame.iloc[:, 0], " :^~#/;,\t|"
        for cells in (only.iloc[:FIRST_CELLS], only):  # all of them only if the first have a mark
            strings = [str(only.name), *cells.dropna().astype(str)] if marks else []
            marks = "".join(m for m in marks if all(m in string.strip() for string in strings))
        mark = next(iter(marks), None)
        if mark is not None:
            fact = f"{path} has one column, {str(only.name)!r}, and {mark!r} in every cell"
            rule = "Columns are found by the mark between them: a comma, semicolon, tab or bar"
            raise InputError(fact, rule, "Name the mark with --sep, or save the table as CSV")
    for name, cells in frame.items():
        numbers = pd.Series(coerced(stripped(cells)))
        if numbers.notna().mean() < 0.5:
            continue
        value = pd.to_numeric(pd.Series([str(name)]), errors="coerce").iloc[0]
        if np.isnan(value):
            return
        names.append(value)
        inside.append(numbers.min() <= value <= numbers.max())
    if len(names) > 0 and all(inside) and not (len(names) > 1 and (np.diff(names) > 0).all()):
        fact = f"{path} seems to have no column names: its first row is {shorten(list(frame), 4)}"
        rule = "The first row of a table names the columns"
        raise InputError(fact, rule, "Add a first row with their names")


def check_rows(raw: pd.DataFrame, marks: dict[str, str], path: Path, known: bool = False) -> None:
    """Refuse other rows than data: names again, totals, a note below, or another table.

    raw : cells as they are in the file
    marks : the mark before decimals, by column
    known : whether the columns are known, so that a word among numbers will be refused anyway
    """
    if len(raw) <= FEWEST or len(raw.columns) < 2:
        return
    if not known:
        _check_first(raw, marks, path)
        _check_inside(raw, marks, path)
    _check_totals(raw, marks, path)
    if not known:
        _check_note(raw, marks, path)
        _check_beside(raw, path)


def _check_first(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    """Words in the first row of all columns that hold numbers or dates: units, or names again."""
    words, others = [], []
    for name in map(str, raw):
        cell = raw[name].iloc[0]
        if pd.isna(cell) or (isinstance(cell, str) and is_gap_word(cell.strip())):
            continue
        if _is_value(cell, marks[name]):
            return
        rest = raw[name].iloc[1 : LOOKED_AT + 1].dropna()
        if len(rest) >= FEWEST and _are_values(rest, marks[name]):
            words.append(cell)
        else:
            others.append(bool((raw[name].iloc[1:] == cell).any()))
    if len(words) > 1 or (words and others and not any(others)):
        fact = f"the first row of {path} below the column names holds {shorten(words, 3)}"
        rule = f"{ONE_TABLE}, and these columns hold numbers or dates"
        raise InputError(fact, rule, "Remove the second row of names or units")


def _check_note(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    """Refuse a last row that holds nothing but a note."""
    last = raw.iloc[-1].dropna()
    if len(last) == 1 and isinstance(last.iloc[0], str) and len(raw.columns) > 2:
        name, note = str(last.index[0]), last.iloc[0].strip()
        above = raw[name].iloc[-LOOKED_AT:-1].dropna()
        if (_are_values(above, marks[name]) and not _is_value(note, marks[name])) or ": " in note:
            fact = f"the last row of {path} holds {note[:60]!r} and nothing else"
            raise InputError(fact, ONE_TABLE, "Remove the note below the table")


def _check_inside(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    """Refuse a row of other names: words that occur once, in all columns that hold numbers."""
    looked_at = {name: raw[name].dropna().iloc[:LOOKED_AT] for name in map(str, raw)}
    numbers = [
        name
        for name, cells in looked_at.items()
        if len(cells) >= FEWEST and _are_values(cells, marks[name])
    ]
    if len(numbers) < 2:
        return
    rows = np.ones(len(raw), dtype=bool)
    for name in numbers:
        places, distinct = numbered(raw[name])
        words = np.bincount(places[places >= 0], minlength=len(distinct)) == 1
        words &= np.isnan(plain_numbers(np.asarray(distinct, dtype=object), marks[name]))
        for j in np.flatnonzero(words).tolist():
            cell = distinct[j]
            words[j] = not is_gap_word(str(cell)) and not _is_value(cell, marks[name])
        rows &= np.append(words, False)[places]
        if not rows.any():
            return
    for row in np.flatnonzero(rows).tolist():
        cells = [raw[name].iloc[row] for name in numbers]
        if len({*cells}) == len(cells):
            fact = f"row {row + 1} of {path} holds {shorten(cells, 3)} where others hold numbers"
            remedy = "Remove the row, or save the tables as separate files"
            raise InputError(fact, ONE_TABLE, remedy)


def _check_beside(raw: pd.DataFrame, path: Path) -> None:
    """Refuse two tables side by side: an empty column, and others that end elsewhere after it."""
    for j, name in enumerate(map(str, raw)):
        if not name.startswith("Unnamed: ") or raw[name].notna().any():
            continue
        blocks = [
            part.dropna(axis=1, how="all").notna() for part in (raw.iloc[:, :j], raw.iloc[:, j:])
        ]
        if min(block.shape[1] for block in blocks) < 2:
            continue
        ends = [int(np.flatnonzero(block.any(axis=1))[-1]) + 1 for block in blocks]
        filled = [block[:end].to_numpy().mean() for block, end in zip(blocks, ends, strict=True)]
        if abs(ends[0] - ends[1]) > 1 and min(filled) >= 0.9 and min(ends) > 1:
            fact = f"{path} holds two tables side by side, of {ends[0]} and {ends[1]} rows"
            raise InputError(fact, ONE_TABLE, "Save each as a separate file")


def _check_totals(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    last = raw.iloc[-1]
    numbers = {
        name: marks[name]
        for name in map(str, raw)
        if not pd.isna(last[name]) and _is_value(last[name], marks[name])
    }
    totals = Totals(numbers)
    totals.add(raw)
    if totals.last is not None:
        raise total_error(path, totals.last)


def _is_value(cell: Any, decimal: str) -> bool:
    """Whether a cell is a number or a date."""
    if not isinstance(cell, str):
        return True
    return read_quantity(cell, decimal) is not None or looks_like_a_date(cell)


def _are_values(cells: pd.Series, decimal: str) -> bool:
    """Whether nearly all cells, of which there must be one, are numbers or dates."""
    return bool(len(cells)) and float(np.mean([_is_value(c, decimal) for c in cells])) >= 0.9


class Totals:
    """Knows, after all pieces of a table, whether its last row is a row of totals.

    It is if a number of it is the sum of those above, in two columns or beside a word such as
    Total; beside a word a mean is enough. A word that occurs above too is a level.

    numbers : by column that holds numbers, the mark before decimals; all others may hold words

    >>> totals = Totals({"n": "."})
    >>> totals.add(pd.DataFrame({"who": ["a", "b", "c"], "n": ["1", "2", "3"]}))
    >>> totals.add(pd.DataFrame({"who": ["d", "e", "Total"], "n": ["4", "5", "15"]}))
    >>> totals.last
    'Total'
    """

    def __init__(self, numbers: Mapping[str, str]) -> None:
        self.numbers = dict(numbers)
        self._count = dict.fromkeys(numbers, 0)
        self._sum, self._most = (dict.fromkeys(numbers, 0.0) for _ in range(2))
        self._value: dict[str, float] = {}  # of the last row
        self._words: dict[str, Any] = {}
        self._above: dict[str, set[str]] = {}  # words for totals by column

    def add(self, frame: pd.DataFrame) -> None:
        """The next rows, cells as they are in the file."""
        if not len(frame):
            return
        for name, decimal in self.numbers.items():
            values = _numbers(frame[name], decimal)
            numbers = np.append(self._value.get(name, np.nan), values[:-1])
            numbers = numbers[np.isfinite(numbers)]
            self._count[name] += len(numbers)
            with np.errstate(over="ignore"):  # an infinite sum is nobody's total
                self._sum[name] += float(numbers.sum())
            self._most[name] = max(self._most[name], float(np.abs(numbers).max(initial=0.0)))
            self._value[name] = float(values[-1])
        for column, cells in frame.items():
            name = str(column)
            if cells.dtype != object and not isinstance(cells.dtype, pd.StringDtype):
                continue
            words = cells.iloc[:-1]
            try:
                above = {*words[words.isin(SPELLED)], self._words.get(name)}
            except TypeError:  # lists, which are refused where the column is read
                continue
            self._above[name] = self._above.get(name, set()) | above
            self._words[name] = cells.iloc[-1]

    @property
    def last(self) -> str | None:
        """The word beside the totals, or "" if there is none; None if the last row has none."""
        labelled = [
            (name, word)
            for name, word in self._words.items()
            if isinstance(word, str) and word.strip(" :.").casefold() in TOTALS
        ]
        if any(word in self._above[name] for name, word in labelled):
            return None
        sums = sum(self._is_total(name, bool(labelled)) for name in self.numbers)
        if sums > 1 or (sums and labelled):
            return labelled[0][1] if labelled else ""
        return None

    def _is_total(self, name: str, labelled: bool) -> bool:
        """Whether a number is the sum of those above or, if labelled, their mean."""
        value, count, total = self._value.get(name, np.nan), self._count[name], self._sum[name]
        if np.isnan(value) or count < FEWEST or (not labelled and abs(value) <= self._most[name]):
            return False
        is_mean = labelled and np.isclose(total / count, value, rtol=1e-2, atol=0)
        return bool(is_mean or np.isclose(total, value, rtol=1e-3, atol=0))


def total_error(path: Path, word: str) -> InputError:
    """The error for a row of totals, with the word beside them."""
    fact = f"the last row of {path}{f' ({word!r})' * bool(word)} {HOLDS_TOTALS}"
    return InputError(fact, "Every row of a table is one case", "Remove that row")


def _numbers(cells: pd.Series, decimal: str) -> np.ndarray:
    """Numbers, also with units; NaN for other cells; (n,)."""
    if cells.dtype.kind in "iufb":
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    places, distinct = numbered(cells.astype(object))
    values = plain_numbers(np.asarray(distinct, dtype=object), decimal)
    for j in np.flatnonzero(np.isnan(values)).tolist():
        cell = distinct[j]
        quantity = read_quantity(cell, decimal) if isinstance(cell, str) else None
        values[j] = quantity.value if quantity is not None else np.nan
    return np.append(values, np.nan)[places]
