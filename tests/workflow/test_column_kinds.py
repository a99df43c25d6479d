"""What columns are taken for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow._column_kinds import infer_column
from tests.refusals import check_error


def taken(values, **options):
    return infer_column(pd.Series(values, name="c"), **options)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([None] * 12, "empty"),
        ([np.nan] * 12, "empty"),
        ([3] * 12, "constant: always 3"),
        (["x"] * 12, "constant: always 'x'"),
        ([f"Ms {i}" for i in range(20)], "strings, all different"),
        ([f"Ms {i}" for i in range(20)] + ["Ms 1"], "strings, almost all different"),
        (["2024-01-03", "2023-11-30", None] * 4, "dates"),
        (["03.01.2024 10:20", "30.11.23"] * 6, "dates"),
        (pd.to_datetime(["2024-01-03", "2023-11-30"] * 6), "dates"),
        (pd.to_timedelta([1, 2] * 6, unit="h"), "timedelta"),
        (list(range(1, 31)), "numbers the rows; to keep it, name it with --category"),
        (list(range(30)), "numbers the rows"),
        ([[1], [2]] * 6, "list"),
    ],
)
def test_left_out_with_a_reason(values, why):
    column = taken(values)
    assert column.kind == ""
    assert why in column.left_out


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.5, None] * 4, "number"),
        ([True, False] * 6, "number"),
        (["a", "b", None] * 4, "category"),
        ([3, 3, None] * 4, "number"),  # its gaps may tell something
        (pd.Categorical([1, 2, 1] * 4), "category"),
        (list(np.random.default_rng(0).permutation(30)), "number"),
        (list(range(1950, 1980)), "number"),  # years in order
    ],
)
def test_kept(values, kind):
    column = taken(values)
    assert (column.kind, column.left_out) == (kind, "")
    assert column.missing == pd.isna(pd.Series(values)).mean()


def test_a_row_number_counts_all_rows_of_the_file():
    every = pd.Series(range(1, 31), name="c")
    assert "numbers the rows" in infer_column(every[5:], whole=every).left_out
    assert "numbers the rows" in infer_column(every[::2], whole=every).left_out
    assert infer_column(every[1:], whole=every.mask(every == 1, 7)).kind == "number"
    assert "numbers the rows" in infer_column((every + 4).rename("Unnamed: 0")).left_out


def test_the_user_decides():
    who = np.arange(30)
    assert taken(who + 1, series=who, static=True).kind == "number"
    assert taken(who + 1, forced=True).kind == "category"
    assert "--static" in taken(who + 1, series=who).left_out
    assert taken([1, 2, 3] * 5, forced=True).kind == "category"
    assert taken([f"Ms {i}" for i in range(20)], forced=True).kind == "category"


def test_notes():
    ids = np.random.default_rng(0).permutation(1000)[:30]
    assert "--drop" in taken(ids).note
    assert "--drop" not in taken(ids + 0.5).note
    assert "'?'" in taken(["a", "b", "?"] * 5).note
    assert "64 most frequent" in taken([f"t{i % 70}" for i in range(700)]).note


def test_series_are_looked_at_as_series():
    series = np.repeat(np.arange(12), 3)
    steady = np.repeat(np.arange(12) % 4 + 0.5, 3)
    assert "--static" in taken(steady, series=series).note
    assert "--static" not in taken(np.arange(36) / 7, series=series).note
    gaps = np.where(np.arange(36) % 3 == 0, np.nan, steady)
    assert "--static" not in taken(gaps, series=series).note  # its gaps change
    assert "all different" in taken([f"Ms {i}" for i in series], series=series).left_out


def test_missing_of_a_static_column_counts_series():
    series = np.repeat(np.arange(4), 3)
    known = [1.0, None, None] * 2 + [None] * 3 + [2.0, 2.0, 2.0]
    assert taken(known, series=series, static=True).missing == 0.25


def test_infinity_is_never_passed_over():
    check_error(lambda: taken([1.0, np.inf] * 6), "column 'c' holds +inf")
