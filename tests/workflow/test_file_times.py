"""Times are read as in training: by the same kind, and days and months in the same order."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow._card import describe
from imputefree.workflow._file_times import Clock
from imputefree.workflow._problem import read_problem
from imputefree.workflow._request import Request
from tests.refusals import check_error
from tests.workflow.made import long_table, sequence_classifier
from tests.workflow.test_predicting import streamed

DAYS = pd.Timestamp("2024-01-13")


def dated(frame, form, start=DAYS):
    """One row per day, as strings."""
    when = start + pd.to_timedelta(frame["hour"] // 1.5, "D")
    return frame.assign(hour=when.dt.strftime(form))


def trained(frame, folder):
    """A model that knows how its times are written, as after `imputefree fit`."""
    path = folder / "train.csv"
    frame.to_csv(path, index=False)
    request = Request(path, "y", folder / "m", id="who", time="hour", static=("age", "sex"))
    problem = read_problem(request)
    model = sequence_classifier(problem.frame.merge(frame[["who", "y"]].drop_duplicates()))
    model.about_ = describe(problem, "", None, "")
    return model


def test_days_and_months_are_in_the_order_of_training(tmp_path):
    frame = long_table()
    model = trained(dated(frame, "%d/%m/%Y"), tmp_path)
    assert model.about_["series"]["clock"] == {"kind": "dates", "format": "%d/%m/%Y"}
    path = tmp_path / "new.csv"
    february = pd.Timestamp("2024-02-01")
    dated(frame, "%d/%m/%Y", february).to_csv(path, index=False)
    found, _, _ = streamed(model, path)
    real = frame.assign(hour=february + pd.to_timedelta(frame["hour"] // 1.5, "D"))
    np.testing.assert_allclose(found["p_1"], model.predict_proba(real)[:, 1], atol=1e-6)
    dated(frame, "%m/%d/%Y").to_csv(path, index=False)
    check_error(lambda: streamed(model, path), "not a time as in training, such as 31/12/2024")


def test_numbers_are_not_dates(tmp_path):
    frame = long_table()
    numbers, dates = tmp_path / "numbers.csv", tmp_path / "dates.csv"
    frame.to_csv(numbers, index=False)
    dated(frame, "%Y-%m-%d").to_csv(dates, index=False)
    typed = tmp_path / "dates.parquet"
    frame.assign(hour=DAYS).to_parquet(typed)
    model = trained(frame, tmp_path)
    for path in (dates, typed):
        check_error(lambda path=path: streamed(model, path), "holds dates", "with numbers there")
    model = trained(dated(frame, "%Y-%m-%d"), tmp_path)
    check_error(lambda: streamed(model, numbers), "holds numbers", "with dates there")


def test_an_ambiguous_order_is_refused():
    early = pd.Series(["01/02/2024", "02/02/2024"], name="when")
    check_error(lambda: Clock.learned(early), "'01/02/2024', which may be month or day first")
    typed = Clock({"kind": "dates", "format": None})
    check_error(lambda: typed.read(early), "which may be month or day first")
    for last, form in (("13/02/2024", "%d/%m/%Y"), ("02/13/2024", "%m/%d/%Y")):
        both = pd.concat([early, pd.Series([last])], ignore_index=True)
        clock = Clock.learned(both)
        assert clock.plain == {"kind": "dates", "format": form}
        assert not clock.read(both)[1].any()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["2024-01-02", "2024-01-02 13:00", "2024-01-03T10:00:00+01:00"], "dates"),
        ([datetime.date(2024, 1, 2), datetime.date(2024, 2, 1), None], "dates"),
        (["2 Jan 2024", None, "13 Feb 2024"], "dates"),
        (["1.5", "2", None], "numbers"),
        (pd.to_timedelta([1, 2], "h"), "spans"),
    ],
)
def test_kinds(cells, kind):
    cells = pd.Series(cells)
    clock = Clock.learned(cells)
    assert clock.plain["kind"] == kind
    times, bad = Clock(clock.plain).read(cells)
    assert (bad == cells.isna()).all()
    assert (np.diff(times[~bad]) > np.zeros(1, np.diff(times).dtype)).all()


def test_a_file_that_does_not_begin_with_a_time():
    cells = pd.Series(["noon", "1.5", "2"])
    for known in (None, {"kind": "numbers", "format": None}):
        assert Clock(known).read(cells)[1].tolist() == [True, False, False]
