"""What every baseline for tables promises: tables as ours, held-out rows, one seed one model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from imputefree.baselines import _linear
from imputefree.baselines._boosting import BoostingClassifier, BoostingRegressor
from imputefree.baselines._linear import LinearClassifier, LinearRegressor
from imputefree.data import read_columns
from imputefree.errors import InputError, InputTypeError, ParameterError, UnseenCategoryWarning
from imputefree.lab.rivals._table_rivals import ForestClassifier, ForestRegressor
from tests.lab.simulated import table
from tests.refusals import check_error

pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")
LIBRARIES = ("hist_gradient_boosting", "lightgbm", "xgboost")
FEW = {"max_iter": 15, "random_state": 0}
CLASSIFIERS = [BoostingClassifier(name, **FEW) for name in LIBRARIES] + [
    ForestClassifier(n_estimators=12, random_state=0),
    ForestClassifier(kind="extra_trees", n_estimators=12, random_state=0),
    LinearClassifier(random_state=0),
]
REGRESSORS = [BoostingRegressor(name, **FEW) for name in LIBRARIES] + [
    ForestRegressor(n_estimators=12, random_state=0),
    ForestRegressor(kind="extra_trees", n_estimators=12, random_state=0),
    LinearRegressor(random_state=0),
]
classifiers = pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: str(m)[:40])
regressors = pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: str(m)[:40])
everyone = pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=lambda m: str(m)[:40])
some = pytest.mark.parametrize(
    "model", [CLASSIFIERS[1], CLASSIFIERS[-1], REGRESSORS[-1]], ids=lambda m: str(m)[:40]
)
X, Y = table()


@pytest.mark.slow
@parametrize_with_checks([LinearClassifier(), LinearRegressor()])
def test_sklearn(estimator, check, monkeypatch):
    monkeypatch.setattr(_linear, "STRENGTHS", [0.1, 10.0])  # a short search
    check(estimator)


@classifiers
@pytest.mark.parametrize("given", [True, False])
def test_classes_are_found_through_gaps(model, given):
    held_out = np.arange(200) >= 160 if given else None
    model = clone(model).fit(X[:200], Y[:200], held_out=held_out)
    probability = model.predict_proba(X[200:])
    np.testing.assert_allclose(probability.sum(1), 1.0)
    assert roc_auc_score(Y[200:], probability[:, 1]) > 0.85
    assert model.settings_
    assert len(model.validation_losses_) > 3


@pytest.mark.slow
@classifiers
def test_three_classes_with_names(model):
    frame, y = table(classes=3)
    names = np.array(["low", "middle", "top"])[y]
    model = clone(model).fit(frame[:200], names[:200])
    assert model.classes_.tolist() == ["low", "middle", "top"]
    assert model.predict_proba(frame[200:]).shape == (100, 3)
    assert model.score(frame[200:], names[200:]) > 0.55
    assert set(model.predict(frame[200:201])) <= set(names)  # one row


@pytest.mark.slow
@regressors
@pytest.mark.parametrize("given", [True, False])
def test_numbers_are_found_through_gaps(model, given):
    frame, y = table(classes=0)
    held_out = np.arange(200) >= 160 if given else None
    model = clone(model).fit(frame[:200], y[:200], held_out=held_out)
    assert r2_score(y[200:], model.predict(frame[200:])) > 0.4
    if given:  # whatever their unit
        large = clone(model).fit(frame[:200], 1e9 * y[:200], held_out=held_out)
        assert r2_score(1e9 * y[200:], large.predict(frame[200:])) > 0.4


@pytest.mark.slow
@everyone
def test_tiny_tables_and_odd_columns(model):
    """57 rows, a class of two, a column without an entry and one that never changes."""
    frame = X[:57].assign(empty=np.nan, same=1.0)
    y = np.where(np.arange(57) < 2, 2, Y[:57])
    model = clone(model).fit(frame, y)
    assert np.isfinite(model.predict(frame)).all()
    few = clone(model).fit(frame[:3], [0, 1, 1])
    assert few.settings_ == {}
    assert len(few.predict(frame[:3])) == 3


@some
def test_what_held_out_rows_hold_is_not_learned(model):
    """Wild inputs in held-out rows leave the encoding as it is."""
    held_out = np.arange(len(X)) >= 240
    wild = X.copy()
    wild.loc[held_out, "a"] = 1e6
    wild.loc[held_out, "ward"] = "elsewhere"
    first = clone(model).fit(X, Y, held_out=held_out)
    with pytest.warns(UnseenCategoryWarning):
        second = clone(model).fit(wild, Y, held_out=held_out)
    assert first.encoder_.state() == second.encoder_.state()
    alone = type(first.encoder_)(type(model).__name__).fit(read_columns(X[:240]))
    assert first.encoder_.state() == alone.state()


def test_groups_are_never_in_two_folds():
    """Noise, each row five times: only folds that split copies find something to learn."""
    rng = np.random.default_rng(0)
    noise, coin = rng.normal(size=(40, 3)).repeat(5, 0), rng.integers(2, size=40).repeat(5)
    model = ForestClassifier(kind="extra_trees", n_estimators=12, random_state=0)
    assert min(clone(model).fit(noise, coin).validation_losses_) < 0.2
    model.fit(noise, coin, groups=np.arange(40).repeat(5))
    assert min(model.validation_losses_) > 0.6


@regressors
def test_the_scale_of_numbers_is_that_of_training_rows(model):
    y = np.where(np.arange(len(X)) >= 240, 1e6, Y.astype(float))
    model = clone(model).fit(X, y, held_out=np.arange(len(X)) >= 240)
    assert model.target_mean_ == pytest.approx(Y[:240].mean())
    assert np.abs(model.predict(X)).max() < 10


@classifiers
def test_a_class_that_only_held_out_rows_have(model):
    y = np.where(np.arange(len(X)) >= 290, 7, Y)
    model = clone(model).fit(X, y, held_out=np.arange(len(X)) >= 240)
    assert model.classes_.tolist() == [0, 1, 7]
    np.testing.assert_array_equal(model.predict_proba(X)[:, 2], 0.0)
    check_error(
        lambda: clone(model).fit(X, y, held_out=np.arange(len(X)) >= 290),
        "held_out marks only rows of classes that no other row has",
    )


@pytest.mark.slow
@everyone
def test_same_seed_same_predictions_and_pickle(model):
    guess = clone(model).fit(X[:60], Y[:60]).predict(X)
    again = clone(model).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(guess, again.predict(X))
    np.testing.assert_array_equal(guess, pickle.loads(pickle.dumps(again)).predict(X))


@some
def test_nothing_to_learn_gives_the_mean(model):
    model = clone(model).fit(np.ones((20, 2)), [0] * 15 + [1] * 5)
    if hasattr(model, "classes_"):
        np.testing.assert_allclose(model.predict_proba([[3.0, 4.0]]), [[0.75, 0.25]])
        only = clone(model).fit(X, ["yes"] * len(X))
        assert set(only.predict(X)) == {"yes"}
    else:
        assert model.predict([[3.0, 4.0]]) == pytest.approx(0.25)


@some
def test_unseen_categories_count_as_missing(model):
    model = clone(model).fit(X[:60], Y[:60])
    row, gap = X[120:121].assign(ward="moon"), X[120:121].assign(ward=None)
    with pytest.warns(UnseenCategoryWarning):
        actual = model.predict(row)
    np.testing.assert_array_equal(actual, model.predict(gap))


@some
def test_refusals(model):
    fit = clone(model).fit
    check_error(lambda: fit(X, Y[:7]), "X has 300 rows, y has 7")
    check_error(lambda: fit(np.full((4, 2), np.nan), [0, 1, 0, 1]), "no column holds a single entr")
    check_error(lambda: fit(X, Y, held_out=[True]), "held_out has shape (1,)")
    check_error(lambda: fit(X, Y, held_out=np.zeros(300, bool)), "held_out marks 0 of 300 rows")
    check_error(lambda: fit(X.assign(a=np.inf), Y), "column 'a' holds +inf")
    wrong = clone(model).set_params(random_state="x")
    check_error(lambda: wrong.fit(X, Y), "random_state is 'x'. It must be", kind=ParameterError)
    fitted = fit(X[:60], Y[:60])
    before = fitted.predict(X)
    check_error(lambda: fitted.predict(X.drop(columns="a")), "missing now 'a'")
    with pytest.raises(InputError):
        fitted.fit(X, Y[:7])
    np.testing.assert_array_equal(fitted.predict(X), before)


def test_wrong_kinds_of_target():
    check_error(
        lambda: LinearRegressor().fit(X, ["a"] * 300), "regression target", kind=InputTypeError
    )
    check_error(
        lambda: LinearClassifier().fit(X, np.arange(300) + 0.5), "regressor", kind=InputTypeError
    )
    check_error(
        lambda: ForestClassifier(n_estimators=0).fit(X, Y),
        "n_estimators is 0. It must be a whole number, at least 1",
        kind=ParameterError,
    )
