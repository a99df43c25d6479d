"""Ours and the references: the same rows and inputs, in the same order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow import _references as references
from imputefree.workflow._problem import read_problem
from imputefree.workflow._references import learn, make, methods, predict
from imputefree.workflow._request import Request


@pytest.fixture
def problems(tmp_path):
    """A table and the same rows as series of one step, with a column that tells the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    frame = pd.DataFrame({"a": y + rng.normal(size=90) * 0.1, "who": rng.permutation(90), "y": y})
    frame.to_csv(tmp_path / "d.csv", index=False)
    files = tmp_path / "d.csv", "y", tmp_path / "m"
    asked = [
        Request(*files, drop=("who",), max_iter=40, members=1),
        Request(*files, id="who", max_iter=40, members=1),
    ]
    return [(read_problem(request), request) for request in asked]


@pytest.mark.parametrize("name", [name for name in methods() if name != "mask_only"])
def test_predictions_belong_to_their_units(problems, name):
    units = np.arange(0, 90, 2)
    for problem, request in problems:
        found = predict(learn(make(name, problem, request), problem, units), problem, units)
        assert found.shape == (45, 3)
        assert found.sum(1) == pytest.approx(1)
        assert (found.argmax(1) == problem.truth[units]).mean() > 0.8


def test_a_class_that_was_not_learned_has_no_probability(problems):
    problem, request = problems[0]
    without = np.flatnonzero(problem.y != 1)
    found = predict(learn(make("mask_only", problem, request), problem, without), problem, without)
    assert (found[:, 1] == 0).all()
    assert found.shape == (len(without), 3)


def test_networks_get_the_same_budget(problems):
    problem, request = problems[1]
    ours = make("imputefree", problem, request)
    other = make("mean+indicator+network", problem, request).estimator
    assert ours.get_params() == other.get_params()


def test_boosting_is_always_there(monkeypatch):
    monkeypatch.setattr(references, "find_spec", lambda name: None)
    assert methods()[-1] == "hist_gradient_boosting"
