"""Dates become hours, numbers stay the times they are, anything else is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import read_panel
from imputefree.data._panel_rows import hours, stamp_text
from imputefree.data._panel_rows import read_stamps as clock
from imputefree.errors import InputError, InputTypeError
from tests.data.panel.made import LONG, NAN, check_error


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
        (["1", "2"], ("time column 'hour' holds texts such as '1'", "pd.to_datetime"), None),
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
def test_stamps_that_are_no_time_are_refused(hour, parts, kind):
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
