from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.lab.studies import load
from imputefree.lab.studies._study import Study

WHOSE = {"citation": "made up here", "licence": "none needed", "simulated": True}


def test_padding_is_not_missing():
    X = np.full((2, 3, 1), np.nan)
    X[0, 0] = X[1, 1] = 1.0
    padded = Study("s", X, np.array([0, 1]), lengths=np.array([1, 2]), **WHOSE)
    listed = Study("s", [pd.DataFrame(X[0, :1]), pd.DataFrame(X[1, :2])], np.array([0, 1]), **WHOSE)
    assert padded.kind == listed.kind == "series"
    assert padded.missing_rate == listed.missing_rate == 1 / 3
    np.testing.assert_array_equal(padded.observed, listed.observed)


def test_take_keeps_everything_of_a_row_together():
    static = pd.DataFrame({"age": [30, 40, 50]})
    X = [pd.DataFrame({"x": np.full(k, float(k))}) for k in (1, 2, 3)]
    times = [np.arange(k) for k in (1, 2, 3)]
    study = Study(
        "s",
        X,
        np.array([0.5, 1.5, 2.5]),
        static=static,
        times=times,
        groups=np.array([7, 8, 9]),
        **WHOSE,
    )
    part = study.take([2, 0])
    assert [len(one) for one in part.X] == [3, 1]
    assert part.static["age"].tolist() == [50, 30]
    assert part.groups.tolist() == [9, 7]
    assert part.y.tolist() == [2.5, 0.5]
    assert part.inputs.lengths.tolist() == [3, 1]
    assert part.inputs.statics.names == ["age"]
    assert study.take(np.array([False, True, False])).y.tolist() == [1.5]
    assert study.task == "regression"


def test_texts_and_categories_count_as_observed():
    X = pd.DataFrame({"a": ["x", None], "b": pd.array([1, None], dtype="Int64")})
    study = Study("t", X, np.array(["u", "v"]), **WHOSE)
    assert study.kind == "table"
    assert study.missing_rate == 0.5
    assert study.task == "classification"


def test_no_row_at_all_and_comparison():
    study = Study("t", np.ones((2, 1)), np.array([0, 1]), **WHOSE)
    assert study.take([]).X.shape == (0, 1)
    assert study != study.take([0])


def test_truth_goes_with_its_rows():
    X, truth = np.array([[np.nan], [2.0], [np.nan]]), np.array([[1.0], [2.0], [3.0]])
    study = Study("t", X, np.array([0, 1, 0]), truth=truth, **WHOSE)
    assert study.take([2, 0]).complete().tolist() == [[3.0], [1.0]]
    assert Study("t", X, study.y, **WHOSE).complete() is None


def test_steps_lie_one_series_after_the_other():
    X = np.arange(6.0).reshape(2, 3, 1)
    padded = Study("s", X, np.array([0, 1]), lengths=np.array([1, 2]), **WHOSE)
    assert padded.steps(10 * X).ravel().tolist() == [0.0, 30.0, 40.0]
    listed = Study("s", [X[0, :1], X[1, :2]], np.array([0, 1]), **WHOSE)
    assert listed.steps(listed.X).ravel().tolist() == [0.0, 3.0, 4.0]


def test_simulated_studies_know_what_they_hide():
    for name, options in (("icu", {"n_series": 40}), ("ophthalmic-simulated", {"rate": 0.3})):
        study = load(name, **options)
        truth, seen = study.steps(study.complete()), study.observed
        assert np.isfinite(truth).all()
        np.testing.assert_array_equal(study.steps(study.X)[seen], truth[seen])
