"""Several files as one: steps merged by id and time, tables by id, and histories that grow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow._joined_files import read_joined
from imputefree.workflow._problem import read_problem
from imputefree.workflow._request import Request
from tests.refusals import check_error

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
