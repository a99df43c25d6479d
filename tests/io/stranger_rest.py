"""A second look: kinds that were thought of only after the rules for the others were made."""

from __future__ import annotations

import pandas as pd

from tests.io.dirty_files import Dirty
from tests.io.stranger_files import AGES, DAYS, DROPPED, GAP, LARGE, SIZES, csv_file, dates, german

N = {"n": AGES}


def _kept(name: str, cells: list, **how) -> Dirty:
    """A column whose strings are levels as they are."""
    return csv_file(name, N | {"x": cells}, N | {"x": cells}, **{"sep": ",", **how})


def _dropped(name: str, cells: list, **how) -> Dirty:
    """A column that cannot be read in one way, or is of no use."""
    return csv_file(name, N | {"x": cells}, N | {"x": DROPPED}, **{"sep": ",", **how})


def _numbers(name: str, cells: list, values: list, **how) -> Dirty:
    return csv_file(name, N | {"x": cells}, N | {"x": values}, **{"sep": ",", **how})


def rest() -> list[Dirty]:
    """All of them."""
    stamps = [d + pd.Timedelta(hours=8, minutes=30, milliseconds=123) for d in DAYS]
    lira = [f"₺{german(v)}" for v in LARGE]
    return [
        _numbers("lira", lira, LARGE, sep=";"),
        _numbers("dollars behind", [f"{v:,.2f} USD" for v in LARGE], LARGE),
        _numbers(
            "changes",
            [f"{v}%" if i % 2 else f"-{v}%" for i, v in enumerate(SIZES)],
            [v if i % 2 else -v for i, v in enumerate(SIZES)],
        ),
        _numbers("plus signs", [f"+{v}" for v in SIZES], SIZES),
        _dropped(
            "two scales",
            ["36.6C", "98.6F", "37.1C", "99.1F"] + [f"{36 + i / 10}C" for i in range(10)],
        ),
        _numbers(
            "one year and years", ["1 yr", "3 yrs", "4 yrs", "12 yrs", "7 yrs"], [1, 3, 4, 12, 7]
        ),
        _numbers("one day and days", ["1 day", "3 days", "14 days", "2 days"], [1, 3, 14, 2]),
        _numbers("no space", [f"{v}kg" for v in SIZES], SIZES),
        _kept("fractions", ["1/2", "1/4", "3/4"]),
        _dropped("telephones", [f"+49 170 12345{i:02d}" for i in range(24)]),
        _dropped("mails", [f"a{i}@example.org" for i in range(24)]),
        _dropped("south and north", [f"{v}{'NS'[i % 2]}" for i, v in enumerate(SIZES)]),
        _kept("letters", ["Y", "N", "N"]),
        _numbers("truth in all cases", ["True", "FALSE", "true", "False"], [1, 0, 1, 0]),
        _kept("months of years", ["Jan-24", "Feb-24", "Dec-23"]),
        _kept("diagnoses", ["E11.9", "I10", "J45.0", "E10"]),
        _kept("packages", ["0002-1433-80", "0003-0894-21", "0002-1433-61"]),
        csv_file(
            "milliseconds",
            {"at": [f"{s.isoformat(timespec='milliseconds')}Z" for s in stamps]},
            dates("at", stamps),
            sep=",",
        ),
        _numbers(
            "seconds since 1970",
            [int(d.timestamp()) for d in DAYS],
            [int(d.timestamp()) for d in DAYS],
        ),
        _kept("countries", ["NA", "DE", "FR", "US", "ZA"]),
        _kept("roman", ["I", "II", "III", "IV"]),
        _kept("stars", ["★", "★★", "★★★"]),
        _kept("chinese", ["是", "否"]),
        csv_file(
            "hours as names",
            {"08:00": AGES, "09:00": SIZES},
            {"08:00": AGES, "09:00": SIZES},
            sep=",",
        ),
        _numbers(
            "clock with points",
            ["8.30 Uhr", "14.15 Uhr", "9 Uhr", "23.06 Uhr"],
            [8.5, 14.25, 9, 23.1],
        ),
        _kept("military", ["0830", "1415", "0945", "2305"]),
        _dropped("hours and minutes", [f"{v} min" for v in AGES] + ["1 h", "2 h", "3 h"]),
        _numbers(
            "spanish gaps", [*map(str, SIZES), "s/d", "sin dato", "N/D"], [*SIZES, GAP, GAP, GAP]
        ),
        _kept("sizes", ["S", "M", "L", "XL"]),
        _kept("stages", ["T1a", "T1b", "T2", "T3"]),
        _kept("ratios", ["1:2", "1:4", "1:8"]),
        _kept("scores", ["2:1", "0:0", "3:2"]),
        _numbers("chapters", ["1.1", "1.2", "1.10", "2.1"], [1.1, 1.2, 1.1, 2.1]),
        _kept("arms", ["Arm 1", "Arm 2"]),
        _dropped("addresses", [f"192.168.0.{i}" for i in range(24)]),
        _numbers(
            "tiny with x", ["1.5x10^-3", "2.5x10^-3", "7.25x10^-3", "4x10^-3"], [1.5, 2.5, 7.25, 4]
        ),
    ]
