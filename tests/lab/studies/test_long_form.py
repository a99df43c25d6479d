"""Studies as one frame: every value where it was, padding left out."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.lab.studies import Study
from imputefree.lab.studies._long_form import long_form

ABOUT = {"citation": "made up", "licence": "none", "simulated": True}


def test_padded_series():
    X = np.arange(24.0).reshape(3, 4, 2)
    X[0, 1, 1] = np.nan
    static = pd.DataFrame({"b": [1, 2, 3], "age": [50, None, 70]})
    study = Study(
        "toy",
        X,
        np.array([1, 0, 1]),
        static=static,
        lengths=np.array([4, 1, 2]),
        columns=("a", "b"),
        groups=np.array(["p", "q", "p"]),
        **ABOUT,
    )
    long = long_form(study)
    frame = long.frame
    assert list(frame) == ["id", "time", "a", "b", "b_static", "age", "group", "outcome"]
    assert frame["id"].tolist() == [0] * 4 + [1] + [2] * 2
    assert frame["time"].tolist() == [0, 1, 2, 3, 0, 0, 1]
    assert np.array_equal(frame[["a", "b"]], study.steps(X), equal_nan=True)
    assert frame["outcome"].tolist() == [1] * 4 + [0] + [1] * 2
    assert frame["b_static"].tolist() == [1] * 4 + [2] + [3] * 2
    assert long.options == [
        *("--target", "outcome", "--id", "id", "--time", "time"),
        *("--static", "b_static,age", "--group", "group", "-o", "model.imputefree"),
    ]


def test_a_list_of_series_with_times():
    frames = [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [3.0]})]
    study = Study("toy", frames, np.array([0, 1]), times=[[0.5, 2.0], [7.0]], **ABOUT)
    assert long_form(study).frame["time"].tolist() == [0.5, 2.0, 7.0]


def test_a_table_whose_column_has_the_targets_name():
    X = pd.DataFrame({"outcome": ["x", None], "a": [1.0, 2.0]}, index=[5, 9])
    long = long_form(Study("toy", X, np.array([0.5, 1.5]), **ABOUT))
    assert list(long.frame) == ["outcome", "a", "outcome_"]
    assert long.frame["outcome_"].tolist() == [0.5, 1.5]
    assert long.options[:4] == ["--target", "outcome_", "--task", "regression"]


def test_an_array_without_names():
    study = Study("toy", np.ones((2, 2)), np.array([0, 1]), **ABOUT)
    assert list(long_form(study).frame) == ["x0", "x1", "outcome"]
