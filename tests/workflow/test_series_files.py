"""Files of series: times are read as in training, and several files are joined as one.

Times are of the same kind, days and months in the same order. Steps are merged by id and time,
tables by id, and histories grow.
"""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow._card import describe
from imputefree.workflow._problem import read_problem
from imputefree.workflow._request import Request
from imputefree.workflow._series_files import Clock, read_joined
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


def test_dates_in_iso_are_read_besides_any_other_format():
    both = pd.Series(["2024-02-01 10:00", "03.02.2024 10:00", "NA", "13.02.2024 11:00"])
    clock = Clock.learned(both)
    assert clock.plain["format"] == "%d.%m.%Y %H:%M"
    times, bad = Clock(clock.plain).read(both)
    assert bad.tolist() == [False, False, True, False]
    assert pd.DatetimeIndex(times[~bad]).day.tolist() == [1, 3, 13]


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


# Several files as one

VITALS = pd.DataFrame(
    {"stay": [2, 2, 1], "hour": [0, 1, 0], "pulse": [80.0, None, 71.0], "ward": ["A", "A", "B"]}
)
LABS = pd.DataFrame({"stay": [1, 2], "hour": [3, 1], "lactate": [1.5, 2.5]})
PEOPLE = pd.DataFrame({"stay": ["1", "2", "9"], "age": [40, None, 50]})


@pytest.fixture
def files(tmp_path):
    """Writes frames as CSV files; gives their paths."""

    def write(*frames):
        paths = [tmp_path / f"f{i}.csv" for i in range(len(frames))]
        for path, frame in zip(paths, frames, strict=True):
            frame.to_csv(path, index=False)
        return paths

    return write


def test_steps_of_all_files_with_what_is_known_once(files):
    joined = read_joined(files(VITALS, LABS, PEOPLE), "stay", "hour")
    expected = pd.DataFrame(
        {
            "stay": ["2", "2", "1", "1"],
            "hour": [0, 1, 0, 3],
            "pulse": [80.0, np.nan, 71.0, np.nan],
            "ward": ["A", "A", "B", None],
            "lactate": [np.nan, 2.5, np.nan, 1.5],
            "age": [np.nan, np.nan, 40.0, 40.0],
        }
    )
    pd.testing.assert_frame_equal(joined.frame, expected, check_dtype=False)
    assert joined.static == ("age",)
    assert "1 of 3 ids have no steps" in joined.notes[0]


def test_the_order_of_files_does_not_matter(files):
    joined = read_joined(files(PEOPLE, VITALS), "stay", "hour")
    assert joined.static == ("age",)
    assert joined.frame["pulse"].count() == 2


def test_dates_may_be_written_differently(files):
    other = LABS.assign(hour=["03/01/2024 07:00", "13/01/2024 01:00"])
    vitals = VITALS.assign(hour=["2024-01-13 00:00", "2024-01-13 01:00", "2024-01-03 00:00"])
    frame = read_joined(files(vitals, other), "stay", "hour").frame
    assert frame["hour"].dt.day.tolist() == [13, 13, 3, 3]
    assert frame["lactate"].tolist()[1] == 2.5


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ((VITALS, LABS.assign(ward="C")), "column 'ward' has two values at hour 1 of stay 2"),
        ((VITALS, PEOPLE.assign(pulse=1)), "column 'pulse' is in"),
        ((VITALS, PEOPLE.assign(stay=[1, 1, 2])), "several rows for stay 1"),
        ((VITALS, PEOPLE.assign(stay=["x1", "x2", "x3"])), "no stay of"),
        ((VITALS, PEOPLE.rename(columns={"stay": "Stay"})), "no column 'stay' (--id)"),
        ((VITALS, LABS.assign(hour=["early", "late"])), "early"),
        ((PEOPLE, PEOPLE), "no column 'hour' (--time)"),
    ],
)
def test_what_does_not_fit_is_refused(files, frames, words):
    check_error(lambda: read_joined(files(*frames), "stay", "hour"), words)


def test_a_dropped_column_may_differ(files):
    paths = files(VITALS, LABS.assign(ward="C"), PEOPLE.assign(pulse=1))
    frame = read_joined(paths, "stay", "hour", drop=["ward", "pulse"]).frame
    assert frame["pulse"].tolist()[0] == 80


def test_a_history_grows_and_newer_values_count(files):
    steps, new = files(VITALS, pd.DataFrame({"stay": [2], "hour": [1], "pulse": [99.0]}))
    old = steps.with_name("history.csv")
    begun = read_joined([steps], "stay", "hour", history=old)
    assert begun.new.all()
    begun.frame.to_csv(old, index=False)
    joined = read_joined([new], "stay", "hour", history=old)
    assert len(joined.frame) == 3
    current = joined.current
    assert current.frame["pulse"].tolist() == [80, 99]
    assert current.frame["ward"].tolist() == ["A", "A"]
    assert current.new.tolist() == [False, True]


def test_a_label_per_step_from_another_file(files, tmp_path):
    who = np.repeat(np.arange(12), 3)
    steps = pd.DataFrame({"who": who, "t": np.arange(36) % 3, "v": np.arange(36) / 7})
    labels = steps[["who", "t"]].assign(ill=np.where(steps["t"] == 2, np.nan, steps["who"] % 2))
    data, other = files(steps, labels)
    request = Request(data, "ill", tmp_path / "m", id="who", time="t", join=(other,), per_step=True)
    problem = read_problem(request)
    assert problem.n_units == 12
    assert len(problem.y) == 24
    units = np.array([3, 5])
    assert problem.label_column.notna().sum() == 24
    assert problem.y[problem.labels(units)].tolist() == [1, 1, 1, 1]
    assert problem.strata.tolist() == [0, 1] * 6
    assert any("12 steps without a target" in note for note in problem.notes)
