"""Dates, times of day and durations that are written as strings.

Dates have one format per column, in which day and month are clear. Times of day and durations are
numbers of hours: "08:30" is 8.5 whether it is half past eight or eight and a half hours. Of "26:15"
nobody knows whether it is hours and minutes or minutes and seconds; either way it is 26.25 of the
larger ones, and a model does not mind which, as long as all cells of a column are written in the
same way.
"""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple

import pandas as pd

from ..errors import InputError

ISO = "ISO8601"  # pandas' name for year, month, day, of any precision
MONTH = r"(\d{1,2}|[^\W\d_]{3,10}\.?)"  # in any language, to know a date that cannot be read
DAYS = [
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}",
    rf"\d{{1,2}}[-/. ]+{MONTH}[-/., ]+(\d{{4}}|\d{{2}})",
    r"\d{1,2}[^\W\d_]{3}\d{4}",  # 31jan2024
    r"[^\W\d_]{3,10}\.?[- ]\d{1,2}[-, ]+\d{4}",  # January 31, 2024
    r"(19|20)\d\d[-/](0[1-9]|1[0-2])",  # 2024-01
]
DATE_FORM = re.compile(rf"\s*({'|'.join(DAYS)})([ T:]+\d{{1,2}}:\d{{2}}.*)?\s*")
OTHERS = ("%d%b%Y", "%d%b%Y:%H:%M:%S", "%Y/%m")  # formats that pandas does not guess
LONGEST_DATE, LONGEST_TIME = 60, 40  # characters
DATE_CODES = {"1900-01-01", "1899-12-30", "1899-12-31", "1901-01-01", "1800-01-01", "1753-01-01"}
DATE_CODES |= {"1601-01-01", "1970-01-01", "2099-12-31", "2199-12-31", "2999-12-31"}
NEVER = {"9999-12-31", "31.12.9999", "12/31/9999", "31/12/9999", "0000-00-00", "00.00.0000"}
NEVER |= {"0000-00-00 00:00:00", "9999-12-31 00:00:00"}
CLOCK_FORM = re.compile(
    r"""(?:(?P<days>\d+)\ days?,?\ *)?
    (?P<first>\d{1,4})(?:(?:[:h]|\.(?=\d\d\ *uhr))(?P<second>[0-5]\d)|(?=\ *uhr))
    (?::(?P<third>[0-5]\d(?:[.,]\d+)?))?
    \ *(?P<half>[ap]\.?m\.?)?\ *(?P<word>uhr|h|hrs?|std\.?)?
    \ *(?P<zone>z|[-+]\d\d:?\d\d|(?:utc|gmt|ce?s?t|[ecmp][sd]t|bst|ist|jst)(?:[-+]\d{1,2})?)?""",
    re.VERBOSE | re.IGNORECASE,
)
DAY_HOURS = 24.0


def looks_like_a_date(text: str) -> bool:
    """Whether a string has the form of a date.

    >>> [looks_like_a_date(text) for text in ("2024-01-31", "31.1.24 10:20", "3. März 2024", "1-2")]
    [True, True, True, False]
    >>> [looks_like_a_date(text) for text in ("31jan2024", "May 31, 2024", "2024-01", "2010-33")]
    [True, True, True, False]
    """
    return len(text) < LONGEST_DATE and DATE_FORM.fullmatch(text) is not None


def one_format(text: str) -> str | None:
    """How a date is written; None if it is not one, or has a year of two digits."""
    if all_dates(pd.Series([text]), ISO):
        return ISO
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether days come first is settled later
        guessed = pd.tseries.api.guess_datetime_format(text)
    return guessed or next((f for f in OTHERS if all_dates(pd.Series([text]), f)), None)


def format_of_dates(values: pd.Series) -> str | None:
    """How dates are written, in ISO if there are none; refused if it may be day or month first.

    Those in ISO are read besides any other format, so that the others decide.

    >>> format_of_dates(pd.Series(["2024-01-31", "3.4.2024", "31.1.2024"]))
    '%d.%m.%Y'
    """
    strings = values.astype(str)
    others = strings[read_dates(strings, ISO).isna()]
    dated = others[[looks_like_a_date(text) for text in others]]
    if not len(others) or (not len(dated) and len(others) < len(values)):
        return ISO
    others = dated if len(dated) else others
    first = others.iloc[0]
    form = one_format(first)
    if form and "%B" in form and not all_dates(others, form):
        form = form.replace("%B", "%b")  # May is both
    if form is None or form.startswith("%Y") or "%m" not in form or "%d" not in form:
        return form
    swapped = form.replace("%m", "\0").replace("%d", "%m").replace("\0", "%d")
    as_it_is, turned = (read_dates(others, order).notna() for order in (form, swapped))
    if (as_it_is == turned).all():
        fact = f"the time column {values.name!r} holds {first!r}, which may be month or day first"
        rule, remedy = "No other time in it shows which is meant", "Write dates such as 2024-12-31"
        raise InputError(fact, rule, remedy)
    return swapped if turned.sum() > as_it_is.sum() else form


def read_dates(values: pd.Series, form: str | None) -> pd.Series:
    """Strings as dates in UTC, which is assumed without a zone; NaT for other cells."""
    cells = values.astype(object)
    if pd.api.types.infer_dtype(cells, skipna=True) in {"date", "datetime"}:
        return pd.to_datetime(cells, errors="coerce", utc=True)  # dates of a Parquet file
    strings = cells.astype(str).where(cells.notna())
    try:
        return pd.to_datetime(strings, format=form, errors="coerce", utc=True)
    except (TypeError, ValueError) as error:
        rule = "It is written with %Y, %m, %d and others, as for Python's strptime"
        fact = f"the format of dates {form!r} in column {values.name!r} is not one ({error})"
        raise InputError(fact, rule, "Correct it, such as to %d.%m.%Y") from None


def read_dates_or_iso(values: pd.Series, form: str | None) -> pd.Series:
    """As `read_dates`; what is not written in this format may be in ISO, which is not ambiguous."""
    dates = read_dates(values, form)
    if form == ISO or not (dates.isna() & values.notna()).any():
        return dates
    return dates.fillna(read_dates(values.where(dates.isna(), None), ISO))


def all_dates(values: pd.Series, form: str | None) -> bool:
    """Whether all cells that are not empty are dates in this format."""
    return not (read_dates(values, form).isna() & values.notna()).any()


class ClockTime(NamedTuple):
    """A time of day, or a duration.

    hours : or minutes, if it was minutes and seconds
    parts : 2 as in 8:30, or 3 as in 8:30:00
    of_day : whether it is written as only a time of day is: 8:30 pm, 8:30 Uhr, 8:30 CET
    padded : whether it begins with a zero, as times of day do and durations may
    zone : "+01:00", "cet"; "" if there is none
    """

    hours: float
    parts: int
    of_day: bool = False
    padded: bool = False
    zone: str = ""


def read_clock(text: str) -> ClockTime | None:
    """A time of day or a duration, or None.

    >>> [read_clock(text).hours for text in ("08:30", "8:30 pm", "23:06:00", "26:15", "8h30")]
    [8.5, 20.5, 23.1, 26.25, 8.5]
    >>> [read_clock(text).hours for text in ("8.30 Uhr", "8 Uhr", "1 day, 2:30:00")]
    [8.5, 8.0, 26.5]
    >>> [read_clock(text) for text in ("1:80", "13:00 pm", "3:0", "2024-01-01 08:30")]
    [None, None, None, None]
    """
    match = CLOCK_FORM.fullmatch(text.strip()) if len(text) <= LONGEST_TIME else None
    if match is None:
        return None
    first, half = int(match["first"]), (match["half"] or "").lower()
    if half:
        if not 1 <= first <= 12 or match["days"]:
            return None
        first = first % 12 + 12 * half.startswith("p")
    third = float((match["third"] or "0").replace(",", "."))
    hours = first + int(match["second"] or 0) / 60 + third / 3600
    zone = (match["zone"] or "").lower()
    word = (match["word"] or "").lower()
    of_day = bool(half or zone or word == "uhr")
    if match["days"]:
        hours += DAY_HOURS * int(match["days"])
        of_day = False
    if of_day and hours > DAY_HOURS:
        return None
    padded = len(match["first"]) == 2 and match["first"][0] == "0"
    return ClockTime(hours, 2 if match["third"] is None else 3, of_day, padded, zone)
