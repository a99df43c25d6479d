"""Rows that are not data: titles above the names, a second row of names, totals and notes below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import is_gap_word, looks_like_a_date, read_quantity
from ..errors import InputError, counted, shorten
from ._totals import FEWEST, Totals, total_error

MOST_ABOVE = 20  # rows that may stand above the column names
LOOKED_AT = 50  # cells of a column, to know whether it holds numbers
ONE_TABLE = "A table is one row of column names, then the rows"


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


def check_rows(raw: pd.DataFrame, marks: dict[str, str], path: Path, known: bool = False) -> None:
    """Refuse a second row of names, a row of totals or a note below the table.

    raw : cells as they are in the file
    marks : the mark before decimals, by column
    known : whether the columns are known, so that a word among numbers will be refused anyway
    """
    if len(raw) <= FEWEST or len(raw.columns) < 2:
        return
    if known:
        _check_totals(raw, marks, path)
    else:
        _check_first(raw, marks, path)
        _check_last(raw, marks, path)


def _check_first(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    """Words in the first row of all columns that hold numbers or dates: units, or names again."""
    words, others = [], []
    for name in map(str, raw):
        cell = raw[name].iloc[0]
        if not isinstance(cell, str) or is_gap_word(cell.strip()):
            if cell is None or pd.isna(cell) or isinstance(cell, str):
                continue
            return
        if _is_value(cell, marks[name]):
            return
        rest = raw[name].iloc[1 : LOOKED_AT + 1].dropna()
        values = [_is_value(other, marks[name]) for other in rest]
        if len(values) >= FEWEST and np.mean(values) >= 0.9:
            words.append(cell)
        else:
            others.append(bool((raw[name].iloc[1:] == cell).any()))
    if len(words) > 1 or (words and others and not any(others)):
        fact = f"the first row of {path} below the column names holds {shorten(words, 3)}"
        rule = f"{ONE_TABLE}, and these columns hold numbers or dates"
        raise InputError(fact, rule, "Remove the second row of names or units")


def _check_last(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    _check_totals(raw, marks, path)
    last = raw.iloc[-1]
    known = [name for name in map(str, raw) if not pd.isna(last[name])]
    strings = [name for name in known if isinstance(last[name], str)]
    first = str(raw.columns[0])
    if known == [first] and len(raw.columns) > 2 and first in strings:
        note, above = last[first].strip(), raw[first].iloc[-LOOKED_AT:-1].dropna()
        numbers = len(above) > 0 and np.mean([_is_value(c, marks[first]) for c in above]) >= 0.9
        if (numbers and not _is_value(note, marks[first])) or ": " in note:
            fact = f"the last row of {path} holds {note[:60]!r} and nothing else"
            raise InputError(fact, ONE_TABLE, "Remove the note below the table")


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
