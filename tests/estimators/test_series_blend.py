"""The blends for series: trees on summaries and recurrent networks, pooled."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from imputefree import ImputeFreeSequenceClassifier, ImputeFreeSequenceRegressor, Panel
from imputefree.data import summarise
from imputefree.errors import InputError, ParameterError
from imputefree.estimators import _blend, _blend_estimators, predict_inputs
from tests.refusals import check_error


def stays(n=90, seed=0):
    """Series of 1 to 9 steps with a string column and a static one; y follows the last pulse."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 10, n)
    frame = pd.DataFrame({"who": np.repeat(np.arange(n), lengths)})
    frame["hour"] = np.concatenate([np.arange(length) for length in lengths])
    frame["pulse"] = rng.normal(size=len(frame))
    frame["drug"] = rng.choice(["yes", "no"], len(frame)).astype(object)
    frame["age"] = rng.normal(60, 9, n)[frame["who"]]
    y = frame.groupby("who")["pulse"].last().to_numpy() + 0.5 * (lengths > 5)
    frame.loc[rng.random(len(frame)) < 0.3, "drug"] = None
    return frame, y


FRAME, Y = stays()
COLUMNS = {"id": "who", "time": "hour", "static": "age"}
PANEL = Panel.from_long(FRAME, **COLUMNS)


@pytest.fixture(scope="module")
def classifier():
    return ImputeFreeSequenceClassifier(random_state=0, **COLUMNS).fit(FRAME, Y > 0)


@pytest.fixture(scope="module")
def regressor():
    return ImputeFreeSequenceRegressor(random_state=0).fit(PANEL, Y)


def test_all_families_learn_and_are_weighted(classifier, regressor):
    frame, y = stays(seed=1)
    for model in (classifier, regressor):
        assert sum(model.weights_.values()) == pytest.approx(1)
        assert set(model.weights_) == {"trees", "linear", "network"}
    assert classifier.score(frame, y > 0) > 0.85
    assert regressor.score(Panel.from_long(frame, **COLUMNS), y) > 0.5
    assert classifier.feature_names_in_.tolist() == ["pulse", "drug"]
    assert classifier.series_ids(frame).tolist() == list(range(90))


def test_the_blend_is_the_weighted_mean_of_its_families(classifier):
    views = {"network": PANEL}
    mean = sum(
        classifier.weights_[name] * family.predict(views.get(name, summarise(PANEL)))
        for name, family in classifier.families_.items()
    )
    power = mean**classifier.sharpness_
    expected = power / power.sum(1, keepdims=True)
    np.testing.assert_allclose(predict_inputs(classifier, PANEL), expected, rtol=1e-9)


def test_files_keep_everything(classifier, regressor, tmp_path):
    for model, X in ((classifier, FRAME), (regressor, PANEL)):
        model.save(tmp_path / "model")
        loaded = type(model).load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_fast_grows_trees_only_and_scikit_learn_can_split_a_panel():
    model = ImputeFreeSequenceClassifier(quality="fast", random_state=0)
    assert cross_val_score(model, PANEL, Y > 0, cv=3).mean() > 0.8
    assert list(model.fit(PANEL, Y > 0).families_) == ["trees"]


def test_groups_and_held_out_are_kept():
    model = ImputeFreeSequenceRegressor(quality="fast", random_state=0)
    groups = np.repeat(np.arange(30), 3)
    held_out = np.arange(90) >= 75
    assert model.fit(PANEL, Y, groups=groups).predict(PANEL).shape == (90,)
    held = model.fit(PANEL, Y, held_out=held_out).predict(PANEL)
    other = np.where(held_out, Y + 100, Y)  # only early stopping sees these
    assert np.abs(model.fit(PANEL, other, held_out=held_out).predict(PANEL) - held).max() < 20


def test_columns_must_be_those_of_training(classifier):
    frame, _ = stays(5, seed=2)
    check_error(lambda: classifier.predict(frame.drop(columns="pulse")), "'pulse'", kind=InputError)
    shuffled = frame[["age", "drug", "hour", "pulse", "who"]]
    np.testing.assert_array_equal(classifier.predict(shuffled), classifier.predict(frame))


@pytest.mark.filterwarnings("ignore:Categories that training never saw")
def test_an_unseen_level_is_a_gap_for_every_family(classifier):
    frame, _ = stays(20, seed=3)
    gap = frame.assign(drug=frame["drug"].where(frame["drug"] != "yes", None))
    new = frame.assign(drug=frame["drug"].replace("yes", "perhaps"))
    np.testing.assert_array_equal(classifier.predict_proba(new), classifier.predict_proba(gap))


def test_the_time_limit_is_kept():
    frame, y = stays(600)
    start = time.monotonic()
    ImputeFreeSequenceRegressor(time_limit=2, random_state=0, **COLUMNS).fit(frame, y)
    assert time.monotonic() - start < 6  # generous: the machine may be busy


@pytest.mark.parametrize(("columns", "linear"), [(2, True), (1, False)])
def test_the_limit_of_linear_models_counts_the_copies_that_are_made(monkeypatch, columns, linear):
    """Two copies of 90 series, where four would be made of fewer."""
    monkeypatch.setattr(_blend, "COPIED_ROWS", 180)
    monkeypatch.setattr(_blend_estimators, "LINEAR_ENTRIES", 180 * columns)
    model = ImputeFreeSequenceClassifier(missingness="ignore", time_limit=1.0, random_state=0)
    series = [rows[["pulse", "hour"]].to_numpy() for _, rows in FRAME.groupby("who")]
    model.fit(series, Y > 0)
    assert ("linear" in model.weights_) == linear


def test_wrong_parameters_are_refused():
    model = ImputeFreeSequenceRegressor(quality="good")
    check_error(lambda: model.fit(PANEL, Y), "quality", kind=ParameterError)
    model = ImputeFreeSequenceRegressor(families=["density", "trees"])
    check_error(lambda: model.fit(PANEL, Y), "'density'", kind=ParameterError)
    with pytest.raises(TypeError, match="per_step"):
        ImputeFreeSequenceRegressor(per_step=True)


def test_three_series_are_enough():
    few = PANEL[:3]
    assert ImputeFreeSequenceRegressor(random_state=0).fit(few, Y[:3]).predict(few).shape == (3,)
