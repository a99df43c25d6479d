"""Rows that are not data: titles above the names, a second row of names, totals and notes below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import is_gap_word, looks_like_a_date, read_quantity
from ..errors import InputError, counted, shorten
from ._cell_values import plain_numbers

MOST_ABOVE = 20  # rows that may stand above the column names
LOOKED_AT = 50  # cells of a column, to know whether it holds numbers
FEWEST = 5  # rows above a total
TOTALS = {"total", "totals", "grand total", "sum", "subtotal", "average", "mean", "summe", "gesamt"}
TOTALS |= {"gesamtsumme", "insgesamt", "mittelwert", "durchschnitt", "somme", "totale", "moyenne"}
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


def check_rows(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    """Refuse a second row of names, a row of totals or a note below the table.

    raw : cells as they are in the file
    marks : the mark before decimals, by column
    """
    if len(raw) > FEWEST and len(raw.columns) > 1:
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
    last = raw.iloc[-1]
    known = [name for name in map(str, raw) if not pd.isna(last[name])]
    strings = [name for name in known if isinstance(last[name], str)]
    word = next((n for n in strings if last[n].strip(" :.").casefold() in TOTALS), None)
    if word is not None and (raw[word].iloc[:-1] == last[word]).any():
        return  # it is a level
    sums = sum(_is_total(raw[name], marks[name], word is not None) for name in known)
    if sums > 1 or (sums and word is not None):
        what = f" ({last[word]!r})" if word is not None else ""
        fact = f"the last row of {path}{what} holds totals or means of the rows above"
        raise InputError(fact, "Every row of a table is one case", "Remove that row")
    first = str(raw.columns[0])
    if known == [first] and len(raw.columns) > 2 and first in strings:
        note, above = last[first].strip(), raw[first].iloc[-LOOKED_AT:-1].dropna()
        numbers = len(above) > 0 and np.mean([_is_value(c, marks[first]) for c in above]) >= 0.9
        if (numbers and not _is_value(note, marks[first])) or ": " in note:
            fact = f"the last row of {path} holds {note[:60]!r} and nothing else"
            raise InputError(fact, ONE_TABLE, "Remove the note below the table")


def _is_value(cell: Any, decimal: str) -> bool:
    """Whether a cell is a number or a date."""
    if not isinstance(cell, str):
        return True
    return read_quantity(cell, decimal) is not None or looks_like_a_date(cell)


def _is_total(cells: pd.Series, decimal: str, labelled: bool) -> bool:
    """Whether the last number of a column is the sum of the others or, if labelled, their mean."""
    objects = cells.to_numpy(dtype=object)
    found = read_quantity(objects[-1], decimal) if isinstance(objects[-1], str) else None
    value = found.value if found is not None else _number(objects[-1])
    sample = _numbers(objects[: 4 * LOOKED_AT], decimal)
    if np.isnan(value) or np.isnan(sample).all():
        return False
    if not labelled and not abs(value) > np.nanmax(np.abs(sample[:-1])):
        return False
    above = _numbers(objects[:-1], decimal)
    above = above[np.isfinite(above)]
    if len(above) < FEWEST:
        return False
    is_mean = labelled and bool(np.isclose(above.mean(), value, rtol=1e-2, atol=0))
    return is_mean or bool(np.isclose(above.sum(), value, rtol=1e-3, atol=0))


def _numbers(cells: np.ndarray, decimal: str) -> np.ndarray:
    """Numbers, also with units; NaN for other cells."""
    values = plain_numbers(cells, decimal)
    for j in np.flatnonzero(np.isnan(values)).tolist():
        quantity = read_quantity(cells[j], decimal) if isinstance(cells[j], str) else None
        values[j] = quantity.value if quantity is not None else np.nan
    return values


def _number(cell: Any) -> float:
    return float(cell) if isinstance(cell, int | float | np.number) else np.nan
