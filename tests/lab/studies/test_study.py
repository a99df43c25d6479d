"""Studies: rows stay together, padding is not missing, and the long form holds every value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import ParameterError
from imputefree.lab.studies import Study, load, long_form, takes
from tests.refusals import check_error

ABOUT = {"citation": "made up here", "licence": "none needed", "simulated": True}


@pytest.mark.parametrize("name", ["moon", "table", "table:", "series", "icu:1", "", None])
def test_unknown_study(name):
    check_error(
        lambda: load(name),
        f"there is no study {name!r}. Studies are 'mnist', 'physionet2012', 'physionet2019'",
        "'icu' and 'table:NAME', 'table:FILE.csv' or 'series:FILE.csv'",
        kind=ParameterError,
    )
    assert not takes(name, "colour")


def test_unknown_option():
    check_error(
        lambda: load("icu", rate=0.5),
        "'icu' has no option 'rate'. Its options are root, seed, n_series, form.",
        kind=ParameterError,
    )


def test_padding_is_not_missing():
    X = np.full((2, 3, 1), np.nan)
    X[0, 0] = X[1, 1] = 1.0
    padded = Study("s", X, np.array([0, 1]), lengths=np.array([1, 2]), **ABOUT)
    listed = Study("s", [pd.DataFrame(X[0, :1]), pd.DataFrame(X[1, :2])], np.array([0, 1]), **ABOUT)
    assert padded.kind == listed.kind == "series"
    assert padded.missing_rate == listed.missing_rate == 1 / 3
    np.testing.assert_array_equal(padded.observed, listed.observed)
    np.testing.assert_array_equal(padded.steps(10 * X), listed.steps([10 * x for x in listed.X]))


def test_take_keeps_rows_together():
    X = [pd.DataFrame({"x": np.full(k, float(k))}) for k in (1, 2, 3)]
    study = Study(
        "s",
        X,
        np.array([0.5, 1.5, 2.5]),
        static=pd.DataFrame({"age": [30, 40, 50]}),
        times=[np.arange(k) for k in (1, 2, 3)],
        groups=np.array([7, 8, 9]),
        truth=[10 * frame for frame in X],
        **ABOUT,
    )
    part = study.take([2, 0])
    assert [len(frame) for frame in part.X] == [len(frame) for frame in part.complete()] == [3, 1]
    assert part.static["age"].tolist() == [50, 30]
    assert part.groups.tolist() == [9, 7]
    assert part.y.tolist() == [2.5, 0.5]
    assert part.inputs.lengths.tolist() == [3, 1]
    assert part.inputs.statics.names == ["age"]
    assert study.take(np.array([False, True, False])).y.tolist() == [1.5]
    assert study.take([]).X == []
    assert study != part


def test_strings_and_categories_count_as_observed():
    X = pd.DataFrame({"a": ["x", None], "b": pd.array([1, None], dtype="Int64")})
    study = Study("t", X, np.array(["u", "v"]), **ABOUT)
    assert (study.kind, study.task, study.missing_rate) == ("table", "classification", 0.5)


def test_simulated_studies_know_what_they_hide():
    for name, options in (("icu", {"n_series": 40}), ("ophthalmic-simulated", {"rate": 0.3})):
        study = load(name, **options)
        truth, seen = study.steps(study.complete()), study.observed
        assert np.isfinite(truth).all()
        np.testing.assert_array_equal(study.steps(study.X)[seen], truth[seen])


def test_fixed_length():
    """The first eight steps; short series repeat their last one; the truth likewise."""
    long, fixed = load("icu", n_series=60), load("icu", n_series=60, form="fixed")
    assert fixed.X.shape == (60, 8, 14)
    assert fixed.times is None
    assert {len(series) < 8 for series in long.X} == {True, False}
    for i, series in enumerate(long.X):
        rows = np.minimum(np.arange(8), len(series) - 1)
        np.testing.assert_array_equal(fixed.X[i], series.iloc[rows])
        np.testing.assert_array_equal(fixed.truth[i], long.truth[i].iloc[rows])
    check_error(lambda: load("icu", form="short"), "form is 'short'", kind=ParameterError)


def test_long_form_of_padded_series():
    X = np.arange(24.0).reshape(3, 4, 2)
    X[0, 1, 1] = np.nan
    study = Study(
        "toy",
        X,
        np.array([1, 0, 1]),
        static=pd.DataFrame({"b": [1, 2, 3], "age": [50, None, 70]}),
        lengths=np.array([4, 1, 2]),
        columns=("a", "b"),
        groups=np.array(["p", "q", "p"]),
        **ABOUT,
    )
    frame, options = long_form(study)
    assert list(frame) == ["id", "time", "a", "b", "b_static", "age", "group", "outcome"]
    assert frame["id"].tolist() == [0] * 4 + [1] + [2] * 2
    assert frame["time"].tolist() == [0, 1, 2, 3, 0, 0, 1]
    assert np.array_equal(frame[["a", "b"]], study.steps(X), equal_nan=True)
    assert frame["outcome"].tolist() == [1] * 4 + [0] + [1] * 2
    assert frame["b_static"].tolist() == [1] * 4 + [2] + [3] * 2
    assert options == [
        *("--target", "outcome", "--id", "id", "--time", "time"),
        *("--static", "b_static,age", "--group", "group", "-o", "model.imputefree"),
    ]


def test_long_form_of_other_studies():
    frames = [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [3.0]})]
    listed = Study("toy", frames, np.array([0, 1]), times=[[0.5, 2.0], [7.0]], **ABOUT)
    assert long_form(listed)[0]["time"].tolist() == [0.5, 2.0, 7.0]
    X = pd.DataFrame({"outcome": ["x", None], "a": [1.0, 2.0]}, index=[5, 9])
    table, options = long_form(Study("toy", X, np.array([0.5, 1.5]), **ABOUT))
    assert list(table) == ["outcome", "a", "outcome_"]
    assert table["outcome_"].tolist() == [0.5, 1.5]
    assert options[:4] == ["--target", "outcome_", "--task", "regression"]
    unnamed = Study("toy", np.ones((2, 2)), np.array([0, 1]), **ABOUT)
    assert list(long_form(unnamed)[0]) == ["x0", "x1", "outcome"]
