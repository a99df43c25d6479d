"""Times beside the values: shared, one row a series, or the index of members."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.data import read_panel
from tests.data.panel.made import FORMATS, NAN, VALUES, check_error


@pytest.mark.parametrize(
    "times",
    [
        [0.5, 1, 7, 9],
        np.array([0.5, 1, 7, 9]),
        pd.Series([0.5, 1, 7, 9]),
        [[0.5, 1, 7, 9]] * 3,
        np.array([[0.5, 1, 7, 9]] * 3),
        (np.array([0.5, 1, 7, 9]),) * 3,
        pd.DataFrame([[0.5, 1, 7, 9]] * 3),
    ],
)
@pytest.mark.parametrize("name", ["array", "ndt", "list", "list of pandas", "nested"])
def test_times_are_shared_or_one_row_a_series(times, name):
    X, layout = FORMATS[name]
    assert read_panel(X, layout, times=times).times.tolist() == [0.5, 1, 7, 9] * 3


def test_times_of_padding_are_never_looked_at():
    grid = [[1, 2, 3, 4], [5, 6, NAN, NAN], [9, NAN, NAN, NAN]]
    for times in (
        grid,
        np.array(grid),
        [np.array(row) for row in grid],
        [[1, 2, 3, 4], [5, 6], [9]],
    ):
        panel = read_panel(VALUES, lengths=[4, 2, 1], times=times)
        assert panel.times.tolist() == [1, 2, 3, 4, 5, 6, 9]


def test_times_may_be_dates():
    days = pd.date_range("2020", periods=4, freq="D")
    for times in (days, days.to_list(), days.tz_localize("UTC"), days.to_numpy()):
        panel = read_panel(VALUES, times=times)
        assert panel.times.tolist() == [0, 24, 48, 72] * 3


@pytest.mark.parametrize(
    ("times", "parts"),
    [
        (
            [[0, 1, 2, 3], [0, 1, 1, 3], [0, 1, 2, 3]],
            (
                "the times of series 1, step 2 do not increase: 1.0 comes after 1.0",
                "Times must be strictly increasing within a series",
                "Sort the steps",
            ),
        ),
        ([3, 2, 1, 0], ("the times of series 0, step 1 do not increase: 2.0 comes after 3.0",)),
        ([0, 1, NAN, 3], ("times is missing in 3 rows (first: series 0, step 2)", "Every step")),
        ([0, 1, 2, np.inf], ("times is infinite in 3 rows (first: series 0, step 3)",)),
        ([0, 1, 2], ("times has shape (3,) for 3 series of up to 4 steps", "must be (T,)")),
        (7, ("times has shape () for 3 series",)),
        ([[0, 1, 2, 3]] * 2, ("times has 2 members for 3 series", "a list of one (T_i,)")),
        (
            [[0, 1, 2, 3], [0, 1], [0, 1, 2, 3]],
            ("times of series 1 has shape (2,) for 4 steps", "must be (T,)", "Count the steps"),
        ),
        ([[[0], [1, 2]]] * 3, ("times cannot be read",)),
        (["a", "b", "c", "d"], ("times holds texts such as 'a'", "pd.to_datetime")),
    ],
)
@pytest.mark.parametrize("X", [VALUES, list(VALUES)])
def test_times_that_do_not_fit_are_refused(X, times, parts):
    check_error(X, *parts, times=times)


def test_dates_and_fractions_that_index_members_are_their_times():
    days = pd.DatetimeIndex(["2020-01-01 00:00", "2020-01-01 06:00"])
    for index, expected in (
        (days, [0.0, 6.0]),
        (days.tz_localize("UTC"), [0.0, 6.0]),
        (days.to_period("h"), [0.0, 6.0]),
        (pd.to_timedelta([1, 5], unit="h"), [1.0, 5.0]),
        (pd.Index([0.5, 2.5]), [0.5, 2.5]),
        (pd.Index([48, 49]), [0.0, 1.0]),  # labels left over from a larger frame
        (pd.Index(["p", "q"]), [0.0, 1.0]),
    ):
        frames = [pd.DataFrame({"a": [1.0, 2.0]}, index=index)] * 2
        nested = pd.DataFrame({"a": [pd.Series([1.0, 2.0], index=index)] * 2})
        single = [frame["a"] for frame in frames]
        for X in (frames, single, nested):
            assert read_panel(X).times.tolist() == expected * 2
            assert read_panel(X, times=[3, 4]).times.tolist() == [3, 4, 3, 4]


def test_indices_that_are_no_times_everywhere_or_go_back_are_refused():
    day = pd.DatetimeIndex(["2020-01-02", "2020-01-01"])
    X = [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [1.0, 2.0]}, index=day)]
    check_error(X, "series 0 has no times as its index while series 1 has", "or none", "times=")
    check_error(
        [X[1]],
        "the times of series 0, step 1 do not increase: 2020-01-01 00:00:00 comes after 2020-01-02",
        "strictly increasing",
    )
    late = [pd.DataFrame({"a": [1.0, 2.0]}, index=[0.5, NAN])]
    check_error(late, "the index is missing in 1 row (first: series 0, step 1)")
