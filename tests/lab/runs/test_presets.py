"""Estimators with the settings of the paper's studies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from imputefree.errors import ParameterError
from imputefree.lab.runs import preset
from tests.refusals import check_error


def test_clone_remembers_everything():
    model = preset("authors", "ophthalmic", n_rows=900, method="gil-d")
    again = clone(model)
    assert again.policy.batch_size == 128
    assert again.reward.weight == 10.0
    assert again.hidden_layer_sizes == [1000, 1000]
    assert again.max_iter == 2000 // 8  # 900 rows are 8 batches of 128


def test_steps_follow_the_form():
    variable, fixed = (
        preset("paper", "mimic3", n_rows=1280, form=form) for form in ("variable", "fixed")
    )
    assert (variable.max_iter, fixed.max_iter) == (200, 400)
    assert preset("paper", "mimic3", n_rows=1280).max_iter == 200


def test_it_can_be_fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    model = preset("authors", "mnist", n_rows=200).set_params(max_iter=2, hidden_layer_sizes=8)
    assert model.fit(X, rng.integers(2, size=200)).predict(X).shape == (200,)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"name": "ours"}, "preset is 'ours'"),
        ({"study": "moon"}, "study is 'moon'"),
        ({"method": "brits"}, "there is no table method 'brits'"),
        ({"form": "fixed"}, "form is 'fixed'"),
        ({"n_rows": 0}, "n_rows is 0"),
    ],
)
def test_errors(asked, words):
    given = {"name": "paper", "study": "mnist", "n_rows": 100} | asked
    check_error(lambda: preset(**given), words, kind=ParameterError)
