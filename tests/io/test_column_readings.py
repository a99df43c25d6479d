"""What columns are taken for."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from imputefree.io._cell_values import cell_values
from imputefree.io._column_readings import learn_column


def taken(values, given=None, **options):
    return learn_column(pd.Series(values, name="c"), given, **options)


def read(values, given=None, **options):
    """The values of a column, by what it was taken for."""
    cells = pd.Series(values, name="c")
    reading = learn_column(cells, given, **options)
    columns, bad = cell_values(cells, reading, options.get("decimal", "."))
    assert not bad.any()
    return {name: [None if pd.isna(v) else v for v in found] for name, found in columns.items()}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([None] * 12, "empty"),
        ([np.nan] * 12, "empty"),
        ([3] * 12, "constant: always 3"),
        (["x"] * 12, "constant: always 'x'"),
        ([f"Ms {i}" for i in range(20)], "strings, all different"),
        ([f"Ms {i}" for i in range(20)] + ["Ms 1"], "strings, almost all different"),
        ([f"came with pain since day {i}" for i in range(20)], "free text"),
        (["01/02/2024", "03/04/2024"] * 6, "may be month or day first"),
        (["30.11.23", "01.12.23"] * 6, "format is not clear"),
        (list(range(1, 31)), "numbers the rows"),
        (list(range(30)), "numbers the rows"),
        ([f"{90 + i} mmHg" for i in range(20)] + [f"{9 + i} kPa" for i in range(9)], "one unit"),
        ([f"{i}k" for i in range(2, 20)] + ["300", "500"], "with 'k' and some without"),
    ],
)
def test_dropped_with_a_reason(values, why):
    reading = taken(values)
    assert reading.kind == "drop"
    assert why in reading.note


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.5, None] * 4, "number"),
        ([True, False] * 6, "number"),
        (["TRUE", "false"] * 6, "number"),
        (["a", "b", None] * 4, "category"),
        ([3, 3, None] * 4, "number"),  # its gaps may tell something
        (pd.Categorical(["1", "x", "1"] * 4), "category"),
        (list(np.random.default_rng(0).permutation(30)), "number"),
        (list(range(1950, 1980)), "number"),  # years in order
        (["<=50K", ">50K"] * 9, "category"),
        (["<30", "30-40", ">40"] * 9, "category"),
        (["1st", "2nd", "3rd"] * 9, "category"),
        (["01", "02", "10"] * 9, "category"),  # codes, whose zeros matter
        (["1 yes", "2 no"] * 9, "category"),
        (pd.to_datetime(["2024-01-03", "2023-11-30"] * 6), "date"),
        (["2024-01-03", "2023-11-30", None] * 4, "date"),
        (["3.1.2024 10:20", "30.11.2023 8:00"] * 6, "date"),
        (["3 May 2024", "4 Jun 2024"] * 6, "date"),
        ([20240131, 20231130, 20240229] * 4, "date"),
        ([*map(str, range(95)), *["hmm"] * 5], "number"),
        ([*map(str, range(60)), *["refused"] * 40], "number"),  # one word among measurements
        (["1", "2", "A", "B"] * 5, "category"),
    ],
)
def test_kept(values, kind):
    assert taken(values).kind == kind


@pytest.mark.parametrize(
    ("values", "decimal", "expected"),
    [
        (["145 mmHg", "130mmHg", "?", "118"], ".", [145, 130, None, 118]),
        (["2,370", "1,200.5", "990"], ".", [2370, 1200.5, 990]),
        (["2.370", "1.200,5", "990"], ",", [2370, 1200.5, 990]),
        (["<0.5", "0.7", "1.25", "1.5"], ".", [0.5, 0.7, 1.25, 1.5]),
        (["$1,200", "-$5.50", "(3)", "$7"], ".", [1200, -5.5, -3, 7]),
        (["45 %", "50%", "1", "n/a"], ".", [45, 50, 1, None]),
        (["1 234", "1\u00a0300", "2"], ".", [1234, 1300, 2]),
        (["1e-3", "−2", " 7 ", "#DIV/0!"], ".", [0.001, -2, 7, None]),
    ],
)
def test_numbers_as_people_write_them(values, decimal, expected):
    assert read(values, decimal=decimal) == {"c": expected}


def test_words_among_numbers_are_gaps_that_are_shown():
    reading = taken([*map(str, range(40)), "hemolysed", "NA"])
    assert reading.loud
    assert "'hemolysed' (1 row)" in reading.note
    assert set(reading.missing) == {"hemolysed", "NA"}


@pytest.mark.parametrize("word", ["?", "n/a", ".", "#N/A", "NULL"])
def test_words_that_are_never_a_category(word):
    assert read(["a", word, "b", "a"]) == {"c": ["a", None, "b", "a"]}


def test_words_that_may_be_a_category_are_shown():
    assert taken(["a", "b", "unknown"] * 5).suspects == ("unknown",)
    assert taken(["a", "b", "NA"] * 5).missing == ("NA",)
    assert taken(["DE", "FR", "US", "NA"] * 5).suspects == ("NA",)  # Namibia
    assert taken(["None", "Brick", "Stone"] * 5).suspects == ()
    assert taken(["+", "-"] * 5).suspects == ()
    assert taken(["a", "b", "-"] * 5).suspects == ("-",)
    assert taken(["a", "b", "unknown"] * 5, missing=["unknown"]).suspects == ()


def test_codes_for_gaps():
    ages = [str(age) for age in range(20, 60)]
    assert taken([*ages, *["-9"] * 4]).missing == (-9,)
    assert taken([*ages, *["-9"] * 4], target=True).suspects == (-9,)
    assert taken([*ages, *["-9"] * 4], {"missing": []}).missing == ()
    assert taken([*ages, *["0"] * 4]).suspects == (0,)
    assert read([*ages, *["0"] * 4], missing=["0"])["c"][-4:] == [None] * 4


def test_dates_are_elapsed_time_month_and_weekday():
    found = read(["2024-02-29", "2024-03-01", "9999-12-31", "2024-03-31 12:00"])
    assert found == {
        "c: days": [0, 1, None, 31.5],
        "c: month": [2, 3, None, 3],
        "c: weekday": [3, 4, None, 6],
    }
    given = {"kind": "date", "format": "%d/%m/%Y"}
    assert read(["01/02/2024", "03/04/2024"], given)["c: month"] == [2, 4]


def test_cells_that_are_dates_already():
    days = [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1), None]
    for cells in (days, [*days[:2], pd.NaT], [*map(pd.Timestamp, days[:2]), None]):
        assert read(cells)["c: days"] == [0, 1, None]
    words = ["well", "ill"] * 9
    assert read([*days, *words])["c"] == ["2024-02-29", "2024-03-01", None, *words]


def test_the_order_of_day_and_month_is_never_guessed():
    clear, doubtful, iso = "13.04.2024", "03.04.2024", "2024-05-06"
    for dates in ([doubtful, iso] * 20, [iso, doubtful] * 20, [doubtful] * 39 + ["99.99.2024"]):
        assert "may be month or day first" in taken(dates).note
    for dates in ([clear, iso] * 20, [doubtful, iso, clear] * 20, [doubtful] * 39 + [clear]):
        assert taken(dates).format == "%d.%m.%Y"


def test_words_can_be_hashed():
    found = read(["a b b", None, "b"], {"kind": "words"})
    assert np.nansum(np.array([*found.values()], dtype=float)) == 4
    assert all(column[1] is None for column in found.values())


def test_what_is_forced_is_kept():
    rows = list(range(1, 31))
    assert taken(rows, {"kind": "number"}).kind == "number"
    assert taken(rows, {"kind": "category"}).kind == "category"
    assert taken([f"Ms {i}" for i in range(20)], {"kind": "category"}).kind == "category"
    assert read(["1", "2.0", "1.0"], {"kind": "category"}) == {"c": ["1", "2", "1"]}


def test_ids_by_their_name():
    numbers = np.random.default_rng(0).permutation(10_000)[:30]
    for name in ("patient_id", "PassengerId", "id", "case.nr"):
        assert "id" in learn_column(pd.Series(numbers, name=name)).note
    assert learn_column(pd.Series(numbers, name="paid")).kind == "number"
    assert learn_column(pd.Series(numbers + 0.5, name="id")).kind == "number"


def test_names_of_series_are_names():
    series = np.repeat(np.arange(12), 3)
    assert "all different" in taken([f"Ms {i}" for i in series], series=series).note
    assert taken([f"Ms {i % 4}" for i in series], series=series).kind == "category"
