"""The blend for tables: families, weights, time, files; and scikit-learn's own checks."""

from __future__ import annotations

import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from imputefree import GILClassifier, ImputeFreeClassifier, ImputeFreeRegressor
from imputefree.data import TableEncoder
from imputefree.errors import ModelFileError, ParameterError, UnseenCategoryWarning
from imputefree.io import model_content, rebuild_model
from imputefree.metrics import classification_scores
from tests.refusals import check_error

MINI_BATCHES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "networks learn from mini-batches, and trees draw rows at random"
    )
}


def frame(n=240, seed=0):
    """Numbers and categories with gaps, and a class that depends on both."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"dose": rng.normal(size=n), "age": rng.normal(50, 9, n)})
    X["site"] = rng.choice(["north", "south", "west"], n)
    y = X["dose"] + (X["site"] == "south") + rng.normal(size=n) / 3
    X = X.mask(rng.random(X.shape) < 0.2)
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def classifier():
    X, y = frame()
    return ImputeFreeClassifier(random_state=0).fit(X, np.where(y > 0.5, "ill", "well"))


@pytest.fixture(scope="module")
def regressor():
    return ImputeFreeRegressor(random_state=0).fit(*frame())


@pytest.mark.slow
@parametrize_with_checks(
    [ImputeFreeClassifier(quality="fast"), ImputeFreeRegressor(quality="fast")],
    expected_failed_checks=lambda estimator: MINI_BATCHES,
)
def test_sklearn(estimator, check):
    check(estimator)


def test_families_are_weighted_and_predict_unseen_rows(classifier, regressor):
    X, y = frame(seed=1)
    assert sum(classifier.weights_.values()) == pytest.approx(1)
    assert set(classifier.weights_) == {"density", "forest", "trees", "network"}
    assert set(regressor.weights_) == {"trees", "network"}
    assert classifier.score(X, np.where(y > 0.5, "ill", "well")) > 0.75
    assert regressor.score(X, y) > 0.4
    np.testing.assert_allclose(classifier.predict_proba(X).sum(1), 1)


def test_the_pool_is_the_weighted_mean_of_its_families(regressor):
    X, _ = frame(seed=1)
    columns = regressor._read(X)
    parts = [regressor.families_[name].predict(columns)[:, 0] for name in regressor.families_]
    weights = [weight for weight in regressor.weights_.values() if weight]
    mean = np.average(parts, axis=0, weights=weights)
    expected = mean * regressor.target_scale_ + regressor.target_mean_
    np.testing.assert_allclose(regressor.predict(X), expected)


@pytest.mark.parametrize("form", [Decimal, str])
def test_numbers_may_be_decimals_or_strings(form):
    X, y = frame(40)
    model, same = (ImputeFreeRegressor(quality="fast", random_state=0) for _ in range(2))
    model.fit(X, [form(str(number)) for number in y])
    assert model.out_of_fold_ == same.fit(X, y).out_of_fold_


def test_a_row_alone_is_predicted_as_among_many(classifier, regressor):
    X, _ = frame(seed=1)
    for predict in (classifier.predict_proba, regressor.predict):
        alone = np.concatenate([predict(X.iloc[[row]]) for row in range(20)])
        np.testing.assert_allclose(alone, predict(X)[:20], rtol=1e-5, atol=1e-6)


def test_scores_are_those_of_rows_that_were_held_out(classifier, regressor):
    """Between the score on training rows, which is too good, and that of a guess."""
    X, y = frame()
    ill = (y > 0.5).astype(int)  # "well" is the second class
    sure = classification_scores(1 - ill, classifier.predict_proba(X))
    guess = np.full((len(y), 2), 0.5)
    for loss in [*classifier.losses_.values(), classifier.out_of_fold_["log_loss"]]:
        assert sure["log_loss"] < loss < classification_scores(ill, guess)["log_loss"]
    assert classifier.out_of_fold_["log_loss"] <= min(classifier.losses_.values()) + 0.01
    assert 0 <= classifier.out_of_fold_["calibration_error"] < 0.2
    rmse = regressor.out_of_fold_["rmse"]
    assert regressor.predict(X).std() * 0.1 < rmse < y.std()
    assert set(regressor.losses_) == set(regressor.weights_) == set(regressor.seconds_)


@pytest.mark.parametrize("name", ["density", "forest", "trees", "factors", "network"])
def test_one_family_alone(name):
    X, y = frame(80)
    model = ImputeFreeRegressor(families=[name], random_state=0).fit(X, y)
    assert model.weights_ == {name: 1.0}
    assert list(model.families_) == [name]


def test_trees_alone_warn_of_categories_never_seen():
    X, y = frame(80)
    model = ImputeFreeRegressor(quality="fast", random_state=0).fit(X, y)
    with pytest.warns(UnseenCategoryWarning, match="'site': 'moon'"):
        model.predict(X.assign(site="moon"))


def test_complaints_about_columns_name_the_estimator(classifier):
    X, _ = frame()
    with pytest.warns(UserWarning, match="but ImputeFreeClassifier was fitted with") as warned:
        classifier.predict(X.to_numpy())
    assert len(warned) == 1
    check_error(
        lambda: classifier.predict(X.to_numpy()[:, :2]), "ImputeFreeClassifier is expecting"
    )


def test_same_seed_same_model(classifier):
    X, y = frame()
    again = clone(classifier).fit(X, np.where(y > 0.5, "ill", "well"))
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))


def test_groups_stay_together_and_weights_count():
    X, y = frame(120)
    groups = np.arange(120) // 4
    weight = np.r_[np.zeros(40), np.ones(80)]
    model = ImputeFreeRegressor(quality="fast", random_state=0)
    a = model.fit(X, y, sample_weight=weight, groups=groups).predict(X)
    b = model.fit(X[40:], y[40:], groups=groups[40:]).predict(X)
    np.testing.assert_array_equal(a, b)


def test_the_time_limit_is_kept():
    X, y = frame(4000)
    start = time.monotonic()
    ImputeFreeRegressor(time_limit=2, random_state=0).fit(X, y)
    assert time.monotonic() - start < 6  # generous: the machine may be busy


def test_networks_that_could_not_be_trained_in_time_are_left_out(monkeypatch):
    X, y = frame(400)
    model = ImputeFreeRegressor(time_limit=20, random_state=0)
    parts = TableEncoder.parts

    def slow(self, columns):
        time.sleep(columns.n_rows / 10)
        return parts(self, columns)

    monkeypatch.setattr(TableEncoder, "parts", slow)
    monkeypatch.setattr("imputefree.estimators._blend.TIMED_ROWS", 5)
    assert set(model.fit(X, y).weights_) == {"trees"}


def test_files_keep_everything(classifier, regressor, tmp_path):
    X, _ = frame(seed=1)
    for model in (classifier, regressor):
        model.save(tmp_path / "model")
        loaded = type(model).load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.weights_ == model.weights_
        assert loaded.losses_ == model.losses_
        assert loaded.out_of_fold_ == model.out_of_fold_
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    np.testing.assert_array_equal(
        ImputeFreeRegressor.load(tmp_path / "model").predict(X), regressor.predict(X)
    )
    with pytest.raises(ModelFileError, match="holds the estimator ImputeFreeRegressor"):
        GILClassifier.load(tmp_path / "model")


@pytest.mark.parametrize(
    "wrong", [{"families": ["jungle"]}, {"families": []}, {"quality": "good"}, {"time_limit": 0}]
)
def test_wrong_parameters_are_refused(wrong):
    model = ImputeFreeRegressor(**wrong)
    check_error(lambda: model.fit(*frame(20)), next(iter(wrong)), kind=ParameterError)


def test_three_rows_are_enough():
    X, y = frame(3)
    assert ImputeFreeRegressor(random_state=0).fit(X, y).predict(X).shape == (3,)


@pytest.mark.parametrize("n", [30, 60])  # columns are compared from 50 rows on
def test_one_class_is_predicted_and_said_once(n):
    X, _ = frame(n)
    with pytest.warns(UserWarning, match="y is 'ill' in all rows") as warned:
        model = ImputeFreeClassifier(random_state=0).fit(X, np.full(n, "ill"))
    assert len(warned) == 1
    assert (model.predict(X) == "ill").all()


def test_a_class_without_weight_is_hardly_ever_predicted():
    X, y = frame(60)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 1])]
    model = ImputeFreeClassifier(class_weight={"b": 0}, random_state=0).fit(X, labels)
    assert list(model.classes_) == ["a", "b", "c"]
    assert model.predict_proba(X)[:, 1].max() < 0.1


@pytest.mark.parametrize("family", ["trees", "linear"])
def test_file_whose_family_has_other_classes_is_refused(family):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = ImputeFreeClassifier(families=[family], quality="fast", random_state=0).fit(X, y)
    content, weights = model_content(model)
    content["families"][family]["n_classes"] = 0  # as a regressor has; the shapes would fit
    with pytest.raises(ValueError, match="classes"):
        rebuild_model(ImputeFreeClassifier, content, weights)
