"""Rows that are not data: titles above the names, a second row of names, totals and notes below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import is_gap_word
from ..errors import InputError, counted, shorten
from ._cell_values import numbered, plain_numbers
from ._quantities import read_quantity
from ._totals import FEWEST, Totals, total_error
from ._written_times import looks_like_a_date

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
    """Refuse other rows than data: names again, totals, a note below, or another table.

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
        _check_inside(raw, marks, path)
        _check_last(raw, marks, path)
        _check_beside(raw, path)


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
    if len(known) == 1 and known == strings and len(raw.columns) > 2:
        name, note = known[0], str(last[known[0]]).strip()
        above = raw[name].iloc[-LOOKED_AT:-1].dropna()
        numbers = len(above) > 0 and np.mean([_is_value(c, marks[name]) for c in above]) >= 0.9
        if (numbers and not _is_value(note, marks[name])) or ": " in note:
            fact = f"the last row of {path} holds {note[:60]!r} and nothing else"
            raise InputError(fact, ONE_TABLE, "Remove the note below the table")


def _check_inside(raw: pd.DataFrame, marks: dict[str, str], path: Path) -> None:
    """Refuse a row of other names: words that occur once, in all columns that hold numbers."""
    numbers = []
    for name in map(str, raw):
        cells = raw[name].dropna().iloc[:LOOKED_AT]
        values = [_is_value(cell, marks[name]) for cell in cells]
        if len(values) >= FEWEST and np.mean(values) >= 0.9:
            numbers.append(name)
    if len(numbers) < 2:
        return
    rows = np.ones(len(raw), dtype=bool)
    for name in numbers:
        places, distinct = numbered(raw[name])
        once = np.bincount(places[places >= 0], minlength=len(distinct)) == 1
        plain = plain_numbers(np.asarray(distinct, dtype=object), marks[name])
        for j in np.flatnonzero(once & np.isnan(plain)).tolist():
            cell = distinct[j]
            once[j] = not is_gap_word(str(cell)) and not _is_value(cell, marks[name])
        once &= np.isnan(plain)
        rows &= np.append(once, False)[places]
        if not rows.any():
            return
    for row in np.flatnonzero(rows).tolist():
        words = [raw[name].iloc[row] for name in numbers]
        if len({*words}) == len(words):
            fact = f"row {row + 1} of {path} holds {shorten(words, 3)} where others hold numbers"
            remedy = "Remove the row, or save the tables as files of their own"
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
            raise InputError(fact, ONE_TABLE, "Save each as a file of its own")


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
