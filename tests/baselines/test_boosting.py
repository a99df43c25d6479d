"""Boosting: which setting wins, which trees predict, and the error for a missing library."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from sklearn.metrics import log_loss

from imputefree import errors
from imputefree.baselines import _boosting
from imputefree.baselines._baseline import TrainingSet
from imputefree.baselines._boosting import (
    LIBRARIES,
    SETTINGS,
    BoostingClassifier,
    BoostingRegressor,
    HistTrees,
    Setting,
)
from imputefree.data import read_columns
from imputefree.errors import ParameterError
from tests.lab.simulated import table
from tests.refusals import check_error

pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")
X, Y = table()
HELD_OUT = np.arange(len(X)) >= 200


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_best_setting_wins_on_held_out_rows(library):
    model = BoostingClassifier(library, max_iter=15, random_state=0).fit(X, Y, held_out=HELD_OUT)
    assert len(model.validation_losses_) == len(SETTINGS)
    best = int(np.argmin(model.validation_losses_))
    assert model.settings_["leaves"] == SETTINGS[best].leaves
    actual = log_loss(Y[HELD_OUT], model.predict_proba(X[HELD_OUT]))
    assert actual == pytest.approx(min(model.validation_losses_), rel=1e-5)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_loss_of_numbers_is_the_squared_error_in_standard_deviations(library):
    frame, y = table(classes=0)
    model = BoostingRegressor(library, max_iter=15, random_state=0).fit(frame, y, held_out=HELD_OUT)
    error = (model.predict(frame) - y)[HELD_OUT] / y[~HELD_OUT].std()
    assert (error**2).mean() == pytest.approx(min(model.validation_losses_), rel=1e-5)


def test_without_held_out_rows_five_models_are_averaged():
    model = BoostingClassifier(max_iter=5, random_state=0).fit(X, Y)
    assert len(model.model_.models) == 5
    inputs = model.encoder_.as_numbers(read_columns(X))
    parts = [one.predict(inputs) for one in model.model_.models]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(parts, axis=0))
    given = BoostingClassifier(max_iter=5, random_state=0).fit(X, Y, held_out=HELD_OUT)
    assert len(given.model_.models) == 1


def test_scikit_learns_trees_after_the_best_are_cut_off():
    """Grown again without validation rows, the trees are the same as the first ones before."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(200, 4))
    inputs[:, 3] = rng.integers(0, 3, 200)
    target = (inputs[:, 0] + rng.normal(size=200) > 0).astype(np.int64)
    train, validation = np.arange(150), np.arange(150, 200)
    data = TrainingSet(inputs, target, 2, [3], [(train, validation)], True, seed=1)
    bold = Setting(rate=0.3, leaves=8, smallest=5, l2=1.0, columns=0.5, rows=1.0, trees=80)
    booster = HistTrees(data, train, validation, bold)
    staged = list(booster.model.staged_predict_proba(inputs))
    assert booster.trees < len(staged)
    booster.finish(data, train)
    np.testing.assert_array_equal(booster.predict(inputs), staged[booster.trees - 1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_categories_are_not_a_scale(library):
    """Of six levels, every other one is ill: no order of their names helps."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 6, 400)
    frame = X.iloc[np.zeros(400, int)][["noise"]].reset_index(drop=True)
    frame["level"] = np.array(list("abcdef"))[level]
    held_out = np.arange(400) >= 300
    model = BoostingClassifier(library, max_iter=40, random_state=0)
    model.fit(frame, level % 2, held_out=held_out)
    assert model.score(frame, level % 2) == 1.0


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_library_that_is_not_installed(library, monkeypatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    check_error(
        lambda: BoostingClassifier(library).fit(X, Y),
        f"{library} is not installed",
        "pip install 'imputefree[bench]'",
        kind=errors.MissingExtraError,
    )


def test_an_unknown_library():
    check_error(
        lambda: BoostingClassifier("catboost").fit(X, Y),
        "library is 'catboost'. It must be one of 'hist_gradient_boosting', 'lightgbm', 'xgboost'."
        " Pass such a value.",
        kind=ParameterError,
    )


def test_with_many_rows_one_fold_chooses_and_five_are_averaged(monkeypatch):
    monkeypatch.setattr(_boosting, "MANY", 150)
    model = BoostingClassifier("lightgbm", max_iter=5, random_state=0).fit(X[:200], Y[:200])
    assert len(model.model_.models) == 5
    assert len(model.validation_losses_) == len(_boosting.SETTINGS_FOR_MANY)
    best = _boosting.SETTINGS_FOR_MANY[int(np.argmin(model.validation_losses_))]
    assert model.settings_ == {**asdict(best), "trees": 5}
    assert model.model_.models[0].loss == min(model.validation_losses_)
