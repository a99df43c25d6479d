"""Time stamps: columns, indices, and times= beside the values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import read_panel
from imputefree.data._series_rows import hours, stamp_text
from imputefree.data._series_rows import read_stamps as clock
from imputefree.errors import InputError, InputTypeError
from tests.data.panel_formats import FORMATS, LONG, NAN, VALUES, check_error


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_dates_become_hours_since_the_first_step_of_their_series(make):
    stamps = ["2020-01-02 06:30", "2150-05-05 00:00", "2020-01-02 00:00", "2150-05-04 00:00"]
    days = pd.to_datetime(stamps)
    rows = {"who": ["a", "b", "a", "b"], "x": [1.0, 2.0, 3.0, 4.0]}
    kinds = [days, days.tz_localize("UTC"), days.tz_localize("Asia/Tokyo")]
    if make is pd.DataFrame:
        kinds += [days.astype(object), days.as_unit("s"), days.to_period("min")]
        kinds.append(pd.Categorical(days))
        kinds.append(pd.array(days, dtype="timestamp[us][pyarrow]"))
    for stamps in kinds:
        X = make({**rows, "hour": stamps.to_list() if make is pl.DataFrame else stamps})
        panel = read_panel(X, LONG)
        assert panel.times.tolist() == [0.0, 6.5, 0.0, 24.0]
        assert panel.steps.arrays[0].tolist() == [3.0, 1.0, 4.0, 2.0]
        assert len(panel.starts) == 2


def test_calendar_days_and_timedeltas_are_times_too():
    days = pd.to_datetime(["2020-01-03", "2020-01-01"])
    frame = pd.DataFrame({"who": 1, "x": [1.0, 2.0], "hour": [day.date() for day in days]})
    assert read_panel(frame, LONG).times.tolist() == [0.0, 48.0]
    frame["hour"] = pd.to_timedelta([90, 30], unit="min")
    panel = read_panel(frame, LONG)
    assert panel.times.tolist() == [0.5, 1.5]  # already counted from something
    assert panel.starts is None


@pytest.mark.parametrize(
    "hour",
    [
        np.array([2, 1]),
        np.array([2.0, 1.0], np.float32),
        pd.array([2, 1], "Int64"),
        pd.array([2.0, 1.0], "double[pyarrow]"),
        np.array([2, 1.0], object),
        pd.Categorical([2, 1]),
    ],
)
def test_numbers_stay_the_times_they_are(hour):
    panel = read_panel(pd.DataFrame({"who": 1, "hour": hour, "x": [5.0, 6.0]}), LONG)
    assert panel.times.tolist() == [1.0, 2.0]
    assert panel.steps.arrays[0].tolist() == [6.0, 5.0]


@pytest.mark.parametrize(
    ("hour", "parts", "kind"),
    [
        ([0, NAN], ("time column 'hour' is missing in 1 row (first: row 1, id 'a')",), InputError),
        (
            [0, np.inf],
            ("time column 'hour' is infinite in 1 row (first: row 1, id", "finite"),
            None,
        ),
        (["1", "2"], ("time column 'hour' holds strings such as '1'", "pd.to_datetime"), None),
        ([1, "2"], ("time column 'hour' holds mixed-integer such as 1", "pd.to_numeric"), None),
        ([1j, 2j], ("time column 'hour' holds complex", "numbers or dates"), InputTypeError),
        ([[1], [2]], ("time column 'hour' holds mixed such as [1]",), InputTypeError),
        (
            [pd.Timestamp("2020", tz="UTC"), pd.Timestamp("2021")],
            ("time column 'hour' holds datetime values that cannot be ordered",),
            InputTypeError,
        ),
        (
            [pd.Timestamp("2020"), pd.NaT],
            ("time column 'hour' is missing in 1 row", "Every step needs a time", "Drop"),
            InputError,
        ),
    ],
)
def test_stamps_that_are_not_times_are_refused(hour, parts, kind):
    frame = pd.DataFrame({"who": "a", "hour": hour, "x": 1.0})
    check_error(frame, *parts, layout=LONG, kind=kind or InputError)


def test_the_same_stretch_gives_the_same_hours_in_any_unit():
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 10**10, size=10_000).astype("timedelta64[s]")
    for unit in ("ms", "us"):
        np.testing.assert_array_equal(hours(seconds), hours(seconds.astype(f"timedelta64[{unit}]")))
    short = seconds[seconds < np.timedelta64(9 * 10**9, "s")]
    np.testing.assert_array_equal(hours(short), hours(short.astype("timedelta64[ns]")))
    np.testing.assert_allclose(hours(seconds), seconds.astype(float) / 3600, rtol=1e-15)


def test_stamps_in_words():
    assert stamp_text(np.float64(3)) == "3.0"
    assert stamp_text(np.datetime64("2020-01-01T06:00")) == "2020-01-01 06:00:00"
    assert stamp_text(np.timedelta64(90, "m")) == "0 days 01:30:00"


def test_a_clock_keeps_the_unit_of_dates():
    far = np.array(["2500-01-01", "2600-01-01"], dtype="datetime64[s]")  # beyond nanoseconds
    np.testing.assert_array_equal(clock(far, "times", str), far)


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
def test_times_are_shared_or_one_row_per_series(times, name):
    X, layout = FORMATS[name]()
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
        ([[0, 1, 2, 3], 5, [0, 1, 2, 3]], ("times of series 1 has shape () for 4 steps",)),
        ([[[0], [1, 2]]] * 3, ("times cannot be read",)),
        (["a", "b", "c", "d"], ("times holds strings such as 'a'", "pd.to_datetime")),
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


def test_indices_that_are_not_times_everywhere_or_go_back_are_refused():
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


@pytest.mark.parametrize(
    "times",
    [
        [0.0, 1.0, 5.0],
        np.array([[0.0, 1.0, 9.0], [0.0, 1.0, 5.0]]),
        [[0.0, 1.0], [0.0, 1.0, 5.0]],
    ],
)
def test_times_reach_to_the_longest_series(times):
    panel = read_panel([np.zeros((2, 1)), np.zeros((3, 1))], times=times)
    assert panel.times.tolist() == [0.0, 1.0, 0.0, 1.0, 5.0]
