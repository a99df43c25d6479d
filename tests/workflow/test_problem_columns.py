"""The columns that a model learns from, after what the file shows of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.io import ColumnReading
from imputefree.workflow._problem_columns import columns_of

DAY = ColumnReading("day", "date", parts=("day: days", "day: month"), note="days since 2024-01-01")


def only(values, kind="number", **options):
    frame = pd.DataFrame({"c": values})
    (column,) = columns_of(ColumnReading("c", kind), frame, **options)
    return column


def test_a_date_is_several_columns():
    frame = pd.DataFrame({"day: days": [0.0, 40.0, np.nan], "day: month": [1.0, 2.0, np.nan]})
    days, month = columns_of(DAY, frame)
    assert (days.name, days.kind, month.name) == ("day: days", "number", "day: month")
    assert days.missing == 1 / 3


def test_rows_with_a_target_decide_what_is_constant():
    assert "constant" in only([3.0] * 4).left_out
    assert only([np.nan] * 4).left_out == "empty"
    assert only([3.0, np.nan]).kind == "number"  # its gaps may tell something
    (dropped,) = columns_of(ColumnReading("c", "drop", note="free text"), pd.DataFrame())
    assert (dropped.kind, dropped.left_out) == ("", "free text")


def test_series_are_looked_at_as_series():
    series = np.repeat(np.arange(12), 3)
    steady = np.repeat(np.arange(12) % 4 + 0.5, 3)
    assert "--static" in only(steady, series=series).note
    assert "--static" not in only(np.arange(36) / 7, series=series).note
    gaps = np.where(np.arange(36) % 3 == 0, np.nan, steady)
    assert "--static" not in only(gaps, series=series).note  # its gaps change


def test_missing_of_a_static_column_counts_series():
    series = np.repeat(np.arange(4), 3)
    known = [1.0, None, None] * 2 + [None] * 3 + [2.0, 2.0, 3.0]
    assert only(known, series=series, static=True).missing == 0.25
