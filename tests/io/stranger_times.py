"""Times of day, durations and dates in many forms."""

from __future__ import annotations

import pandas as pd

from tests.io.dirty_files import Dirty
from tests.io.stranger_files import (
    AGES,
    DAYS,
    DROPPED,
    GAP,
    csv_file,
    dates,
)


def times() -> list[Dirty]:
    """Times of day, durations and dates in other forms."""
    hours = [8.5, 14.25, 0.0, 23.0 + 5 / 60, 6.75, 19.5, 11.0, 3.25]
    clock = [f"{int(h):02d}:{round(h % 1 * 60):02d}" for h in hours]
    half = [
        f"{(int(h) - 1) % 12 + 1}:{round(h % 1 * 60):02d} {'pm' if h >= 12 else 'am'}"
        for h in hours
    ]
    stamps = [d + pd.Timedelta(hours=h) for d, h in zip(DAYS, hours, strict=True)]
    zones = [f"{s:%Y-%m-%dT%H:%M:%S}+0{1 + i % 2}:00" for i, s in enumerate(stamps)]
    utc = [s - pd.Timedelta(hours=1 + i % 2) for i, s in enumerate(stamps)]
    other = [f"{d:%d.%m.%Y}" if i % 2 else f"{d:%Y-%m-%d}" for i, d in enumerate(DAYS)]
    swapped = [f"{d:%d/%m/%Y}" if i % 2 else f"{d:%m/%d/%Y}" for i, d in enumerate(DAYS)]
    n = {"n": AGES}
    return [
        csv_file("clock", {"at": clock}, {"at": hours}),
        csv_file("half a day", {"at": half}, {"at": hours}, sep=","),
        csv_file(
            "half a day in capitals",
            {"at": [t.replace(" pm", "PM").replace(" am", " A.M.") for t in half]},
            {"at": hours},
            sep=",",
        ),
        csv_file(
            "seconds",
            {"at": [f"{t}:10" for t in clock]},
            {"at": [h + 10 / 3600 for h in hours]},
            sep="\t",
        ),
        csv_file(
            "clock with gaps",
            {"at": [*clock, "unknown", "--:--", ""]},
            {"at": [*hours, GAP, GAP, GAP]},
        ),
        csv_file(
            "french clock",
            {"heure": [f"{int(h)}h{round(h % 1 * 60):02d}" for h in hours]},
            {"heure": hours},
        ),
        csv_file("german clock", {"um": [f"{t} Uhr" for t in clock]}, {"um": hours}),
        csv_file(
            "durations",
            {"took": ["1:30", "26:15", "0:45", "12:05", "30:00", "8:20"]},
            {"took": [1.5, 26.25, 0.75, 12 + 5 / 60, 30, 8 + 1 / 3]},
        ),
        csv_file(
            "two kinds of durations",
            n | {"took": ["59:10", "1:02:10", "48:20", "2:10:05", "55:00", "1:59:59"]},
            n | {"took": DROPPED},
        ),
        csv_file(
            "spans of pandas",
            {"took": ["0 days 02:30:00", "1 days 03:00:00", "0 days 00:45:00", "2 days 12:00:00"]},
            {"took": [2.5, 27, 0.75, 60]},
            sep=",",
        ),
        csv_file(
            "clock with zones",
            n | {"at": [f"{t}+0{1 + i % 2}:00" for i, t in enumerate(clock)]},
            n | {"at": DROPPED},
            sep=",",
        ),
        csv_file("zones", {"at": zones}, dates("at", utc), sep=","),
        csv_file("two forms of dates", {"day": other}, dates("day", DAYS)),
        csv_file("days and months swapped", n | {"day": swapped}, n | {"day": DROPPED}, sep=","),
        csv_file(
            "two digits of years",
            n | {"day": [f"{d:%d/%m/%y}" for d in DAYS]},
            n | {"day": DROPPED},
            sep=",",
        ),
        csv_file(
            "month first",
            {"day": [f"{d:%B} {d.day}, {d.year}" for d in DAYS]},
            dates("day", DAYS),
            sep=",",
        ),
        csv_file(
            "short month first",
            {"day": [f"{s:%b} {s.day}, {s.year} {s:%I:%M %p}" for s in stamps]},
            dates("day", stamps),
            sep=",",
        ),
        csv_file(
            "fourteen digits",
            {"at": [f"{s:%Y%m%d%H%M%S}" for s in stamps]},
            dates("at", stamps),
            sep=",",
        ),
        csv_file(
            "months",
            {"month": [f"{d:%Y-%m}" for d in DAYS]},
            dates("month", [d.replace(day=1) for d in DAYS]),
            sep=",",
        ),
        csv_file(
            "quarters",
            {"q": ["2024Q1", "2024Q2", "2023Q4"], "n": AGES},
            {"q": ["2024Q1", "2024Q2", "2023Q4"], "n": AGES},
            sep=",",
        ),
        csv_file(
            "answers of a form",
            n
            | {
                "Timestamp": [
                    f"{s:%Y/%m/%d} {(s.hour - 1) % 12 + 1}:{s:%M:%S %p} GMT+1" for s in stamps
                ]
            },
            n | {"Timestamp": DROPPED},
            sep=",",
        ),
    ]
