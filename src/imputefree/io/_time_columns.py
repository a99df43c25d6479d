"""Columns of dates, times of day and durations: how they are written, and what they become."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, shorten
from ._cell_values import EXCEL, PARTS, are_gap_words, cell_values, clock_time
from ._distinct_cells import MOST_WORDS, MOSTLY, SHOWN, Cells
from ._understood import CLOCK, NUMBER, SPAN, SPANS, ColumnReading
from ._written_times import (
    DATE_CODES,
    DAY_HOURS,
    NEVER,
    ClockTime,
    format_of_dates,
    looks_like_a_date,
)

NOON = 12.0  # hours
DATED = re.compile(r"(?i)(?<![^\W\d_])(date|dat|datum|dt)(?![^\W\d_])|[a-z]date|datum")
FEWEST, TEN_YEARS = 5, 3652.0  # dates that show where most are, and how far off a code is
SEASON = re.compile(r"(\d{4})[-/](\d\d)")
EXCEL_DAYS = (20_000, 60_000)  # of the years 1954 to 2064


def learn_clock(look: Cells, reading: ColumnReading) -> ColumnReading | None:
    """How times of day or durations are read; None if the column does not hold them.

    Durations of two parts among some of three are dropped: 59:10 may be minutes and seconds.
    """
    by_place = {j: time for j, cell in enumerate(look.distinct) if (time := clock_time(cell))}
    times = list(by_place.values())
    if not times or look.share(look.at(by_place)) < MOSTLY or _are_ratios(look, by_place):
        return None
    zones = {time.zone for time in times}
    example = look.strings[next(iter(by_place))]
    if len(zones) > 1:
        return reading.dropped(
            f"times such as {example!r} in more than one zone: write them in one, without it"
        )
    parts, within = {time.parts for time in times}, all(time.hours <= DAY_HOURS for time in times)
    of_day = any(time.of_day for time in times)
    padded = any(time.padded for time in times) and max(time.hours for time in times) >= NOON
    if len(parts) > 1 and not (of_day and within):
        short, long = (
            next(look.strings[j] for j, time in by_place.items() if time.parts == n) for n in (2, 3)
        )
        return reading.dropped(
            f"times such as {short!r} and {long!r}: write all of them as h:mm:ss"
        )
    form = CLOCK if within and (of_day or padded) else SPAN if parts == {2} else SPANS
    unit = CLOCK if form == CLOCK else "hours, or minutes" if form == SPAN else "hours"
    note = f"{unit}: {example!r} is read as {times[0].hours:.4g}"
    more: Any = {"format": form, "unit": zones.pop(), "note": note, "loud": form != CLOCK}
    return replace(reading, kind=NUMBER, **more)


def _are_ratios(look: Cells, times: dict[int, ClockTime]) -> bool:
    """Whether all begin with 1, as titers such as 1:20 do."""
    return all(
        look.strings[j].startswith("1:") and time.parts == 2 and not time.of_day
        for j, time in times.items()
    )


def form_of_days(numbers: pd.Series, name: str) -> str:
    """The format of numbers that are dates, such as 20240131, or 45322 in a column called date."""
    if len(numbers) < 3:
        return ""
    if numbers.between(*EXCEL_DAYS).all() and DATED.search(name):
        return EXCEL
    for form, unit in {"%Y%m%d": 1, "%Y%m%d%H%M": 10**4, "%Y%m%d%H%M%S": 10**6}.items():
        if numbers.between(19000101 * unit, 21001232 * unit).all():
            strings = numbers.astype("int64").astype(str)
            days = pd.to_datetime(strings, format=form, errors="coerce")
            return form if days.notna().all() else ""
    return ""


def are_seasons(strings: Collection[str]) -> bool:
    """Whether strings are not months but years, from one to the next.

    >>> are_seasons(["2010-11", "2011-12"]), are_seasons(["2010-11", "2010-12"])
    (True, False)
    """
    years = [SEASON.fullmatch(text) for text in strings]
    return all(m is not None and (int(m[1]) + 1) % 100 == int(m[2]) for m in years)


def learn_dates(cells: pd.Series, reading: ColumnReading, entries: dict[str, Any]) -> ColumnReading:
    """The format of dates, the first of them and what they become."""
    form, words = str(entries.get("format") or reading.format), list[str]()
    known = cells.dropna()
    if not form and known.dtype == object:
        strings = known.astype(str)
        written = known[~(are_gap_words(strings) | strings.isin(NEVER))]
        strings = written[[isinstance(cell, str) for cell in written]]
        dated = strings[[looks_like_a_date(text) for text in strings]]
        words = sorted(set(strings) - set(dated))[:MOST_WORDS]
        try:
            form = format_of_dates(dated) or ""
        except InputError as error:
            problem = error.fact.partition(" holds ")[2]
            return reading.dropped(f"dates: {problem}; say which with format: (--columns)")
        if not form:
            return reading.dropped(
                f"dates such as {dated.iloc[0]!r}, whose format is not clear: write them as"
                " 2024-12-31, or say the format: (--columns)"
            )
    parts = tuple(f"{reading.name}: {part}" for part in PARTS)
    since = str(entries.get("since") or "1970-01-01")
    trial = replace(
        reading, format=form, since=since, parts=parts, missing=(*reading.missing, *words)
    )
    values = cell_values(cells, trial)
    if values.bad.mean() > 1 - MOSTLY:
        cell = cells[values.bad].iloc[0]
        return reading.dropped(
            f"dates in more than one format, such as {str(cell)!r}; write them in one"
        )
    loud = bool(words) or bool(values.bad.any())
    odd = sorted({str(cell) for cell in cells[values.bad]})
    missing = tuple(dict.fromkeys((*trial.missing, *odd)))
    if entries.get("parts"):
        return replace(trial, missing=missing, parts=entries["parts"])
    days = values.columns[parts[0]]
    if "missing" not in entries and (codes := _codes(days, since)):
        trial = replace(trial, missing=(*trial.missing, *codes))
        missing, values = (*missing, *codes), cell_values(cells, trial)
        days, loud = values.columns[parts[0]], True
    if not entries.get("since") and np.isfinite(days).any():
        first = pd.Timestamp("1970-01-01") + pd.Timedelta(days=float(np.floor(np.nanmin(days))))
        since = str(first.date())
    vary = tuple(p for p in parts if len(np.unique(values.columns[p][~np.isnan(days)])) > 1)
    note = f"days since {since}" + ", month, weekday" * (len(vary) == len(PARTS))
    if new := missing[len(reading.missing) :]:
        note += f"; {shorten(new, SHOWN)} read as a gap"
    return replace(
        trial, missing=missing, since=since, parts=vary or parts[:1], note=note, loud=loud
    )


def _codes(days: np.ndarray, since: str) -> list[str]:
    """Days such as 1900-01-01 that stand for a gap: they are far from all others."""
    whole = np.floor(days[np.isfinite(days)])
    first = pd.Timestamp(since).to_datetime64().astype("datetime64[D]")
    places = {code: float((np.datetime64(code, "D") - first).astype(int)) for code in DATE_CODES}
    rest = whole[~np.isin(whole, [*places.values()])]
    if len(rest) < FEWEST:
        return []
    low, high = float(rest.min()), float(rest.max())
    far = max(TEN_YEARS, high - low)
    return sorted(
        c for c, day in places.items() if day in whole and not low - far < day < high + far
    )
