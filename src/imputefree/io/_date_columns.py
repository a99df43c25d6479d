"""Columns of dates: how they are written, from which day they are counted and what they become."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import ISO, NEVER, looks_like_a_date, unambiguous_format
from ..errors import InputError, shorten
from ._cell_values import EXCEL, PARTS, are_gap_words, cell_values
from ._distinct_cells import MOST_WORDS, MOSTLY, SHOWN
from ._understood import DROP, ColumnReading

DATED = re.compile(r"(?i)(?<![^\W\d_])(date|dat|datum|dt)(?![^\W\d_])|[a-z]date|datum")
EXCEL_DAYS = (20_000, 60_000)  # of the years 1954 to 2064


def form_of_days(numbers: pd.Series, name: str) -> str:
    """The format of numbers that are dates, such as 20240131, or 45322 in a column called date."""
    if len(numbers) < 3:
        return ""
    if numbers.between(*EXCEL_DAYS).all() and DATED.search(name):
        return EXCEL
    if not numbers.between(19000101, 21001231).all():
        return ""
    strings = numbers.astype("int64").astype(str)
    days = pd.to_datetime(strings, format="%Y%m%d", errors="coerce")
    return "%Y%m%d" if days.notna().all() else ""


def learn_dates(cells: pd.Series, reading: ColumnReading, given: dict[str, Any]) -> ColumnReading:
    """The format of dates, the first of them and what they become."""
    form, words = str(given.get("format") or reading.format), list[str]()
    known = cells.dropna()
    if not form and known.dtype == object:
        strings = known.astype(str)
        written = known[~(are_gap_words(strings) | strings.isin(NEVER))]
        strings = written[[isinstance(cell, str) for cell in written]]
        dated = strings[[looks_like_a_date(text) for text in strings]]
        words = sorted(set(strings) - set(dated))[:MOST_WORDS]
        try:
            form = (unambiguous_format(dated.iloc[0], dated) or "") if len(dated) else ISO
        except InputError as error:
            note = (
                f"dates: {error.fact.partition(' holds ')[2]}; say which with format: (--columns)"
            )
            return replace(reading, kind=DROP, note=note, loud=True)
        if not form:
            note = f"dates such as {dated.iloc[0]!r}, whose format is not clear: write them as"
            note += " 2024-12-31, or say the format: (--columns)"
            return replace(reading, kind=DROP, note=note, loud=True)
    parts = tuple(f"{reading.name}: {part}" for part in PARTS)
    since = str(given.get("since") or "1970-01-01")
    trial = replace(
        reading, format=form, since=since, parts=parts, missing=(*reading.missing, *words)
    )
    values = cell_values(cells, trial)
    if values.bad.mean() > 1 - MOSTLY:
        cell = cells[values.bad].iloc[0]
        note = f"dates in more than one format, such as {str(cell)!r}; write them in one"
        return replace(reading, kind=DROP, note=note, loud=True)
    odd = sorted({str(cell) for cell in cells[values.bad]})
    missing = tuple(dict.fromkeys((*trial.missing, *odd)))
    if given.get("parts"):
        return replace(trial, missing=missing, parts=tuple(given["parts"]))
    days = values.columns[parts[0]]
    if not given.get("since") and np.isfinite(days).any():
        first = pd.Timestamp("1970-01-01") + pd.Timedelta(days=float(np.floor(np.nanmin(days))))
        since = str(first.date())
    vary = tuple(p for p in parts if len(np.unique(values.columns[p][~np.isnan(days)])) > 1)
    note = f"days since {since}" + ", month, weekday" * (len(vary) == len(PARTS))
    if missing[len(reading.missing) :]:
        note += f"; {shorten(missing[len(reading.missing) :], SHOWN)} read as a gap"
    loud = bool(odd or words)
    return replace(
        trial, missing=missing, since=since, parts=vary or parts[:1], note=note, loud=loud
    )
