"""Mask only and summaries: what is seen, in which formats, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score, roc_auc_score

from imputefree import Panel
from imputefree.baselines._boosting import BoostingClassifier
from imputefree.baselines._derived_tables import (
    MaskOnlyClassifier,
    MaskOnlyRegressor,
    SummaryClassifier,
    SummaryRegressor,
)
from imputefree.baselines._linear import LinearClassifier, LinearRegressor
from tests.lab.simulated import series, table
from tests.refusals import check_error

pytest.importorskip("lightgbm")
MEMBERS, Y = series(n=200)
LENGTHS = np.array([len(one) for one in MEMBERS])
LINEAR = LinearClassifier(random_state=0)


def long_frame():
    frame = pd.DataFrame(np.concatenate(MEMBERS), columns=["hr", "temp", "ph"])
    frame["who"] = np.repeat(np.arange(200), LENGTHS)
    frame["hour"] = np.concatenate([np.arange(n) for n in LENGTHS])
    return frame


def padded():
    array = np.full((200, 8, 3), -1.0)
    for i, one in enumerate(MEMBERS):
        array[i, : len(one)] = one
    return array


@pytest.mark.parametrize("given", [True, False])
def test_classes_are_found(given):
    booster = BoostingClassifier("lightgbm", max_iter=30, random_state=0)
    held_out = np.arange(150) >= 120 if given else None
    model = SummaryClassifier(booster).fit(MEMBERS[:150], Y[:150], held_out=held_out)
    assert roc_auc_score(Y[150:], model.predict_proba(MEMBERS[150:])[:, 1]) > 0.85
    assert model.settings_["leaves"]


@pytest.mark.slow
def test_every_format_gives_the_same():
    expected = SummaryClassifier(LINEAR).fit(MEMBERS, Y).predict_proba(MEMBERS)
    panel = Panel.from_array(padded(), LENGTHS)
    actual = SummaryClassifier(LINEAR).fit(panel, Y).predict_proba(panel)
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
    frame = long_frame()
    model = SummaryClassifier(LINEAR).fit(Panel.from_long(frame, "who", "hour"), Y)
    shuffled = frame[["hour", "ph", "temp", "hr", "who"]]
    np.testing.assert_allclose(model.predict_proba(shuffled), expected, rtol=1e-6)
    frame["died"] = np.repeat(Y, LENGTHS)
    frame["later"] = np.repeat(np.arange(200) >= 150, LENGTHS)
    by_name = SummaryClassifier(LINEAR)
    labelled = Panel.from_long(frame, "who", "hour", labels=["died", "later"])
    by_name.fit(labelled, "died", held_out="later")
    given = SummaryClassifier(LINEAR).fit(MEMBERS, Y, held_out=np.arange(200) >= 150)
    np.testing.assert_allclose(
        by_name.predict_proba(frame), given.predict_proba(MEMBERS), rtol=1e-6
    )
    assert by_name.score(MEMBERS, Y) > 0.8


def test_a_variable_that_is_not_measured_now():
    pairs = long_frame().melt(["who", "hour"]).dropna()
    how = {"id": "who", "time": "hour", "variable": "variable", "value": "value"}
    known = pairs["who"].unique()
    panel = Panel.from_pairs(pairs, **how)
    model = SummaryClassifier(LINEAR).fit(panel, {who: Y[who] for who in known})
    one = pairs[(pairs["who"] == known[0]) & (pairs["variable"] == pairs["variable"].iloc[0])]
    assert model.predict(one).shape == (1,)


def test_static_columns_and_refusals():
    static = pd.DataFrame({"age": Y + 0.1})
    panel = Panel.from_list(MEMBERS, static=static)
    model = SummaryRegressor(LinearRegressor(random_state=0))
    model.fit(panel, Y.astype(float))
    assert r2_score(Y, model.predict(panel)) > 0.95
    check_error(lambda: model.predict(MEMBERS), "the static column 'age' is missing")
    model = SummaryClassifier(LINEAR).fit(Panel.from_array(padded(), LENGTHS), Y)
    check_error(lambda: model.predict(padded()), "without lengths")
    check_error(lambda: model.predict(panel), "training had none")
    check_error(lambda: model.fit(MEMBERS, Y[:3]), "y has 3 labels for 200 series")


@pytest.mark.slow
def test_mask_only_series_see_when_things_are_measured():
    model = SummaryClassifier(LINEAR, mask=True).fit(MEMBERS[:150], Y[:150])
    assert 0.3 < roc_auc_score(Y[150:], model.predict_proba(MEMBERS[150:])[:, 1]) < 0.7
    telling = [
        np.where((y == 1) & (np.arange(3) == 0), np.nan, one)
        for one, y in zip(MEMBERS, Y, strict=True)
    ]
    model = SummaryClassifier(LINEAR, mask=True).fit(telling[:150], Y[:150])
    assert roc_auc_score(Y[150:], model.predict_proba(telling[150:])[:, 1]) > 0.8
    other = [np.where(np.isnan(one), np.nan, 7.0) for one in telling]
    np.testing.assert_array_equal(model.predict_proba(telling), model.predict_proba(other))


MODELS = [
    MaskOnlyClassifier(LinearClassifier(random_state=0)),
    MaskOnlyClassifier(BoostingClassifier("lightgbm", max_iter=20, random_state=0)),
]
both = pytest.mark.parametrize("model", MODELS, ids=["linear", "lightgbm"])


@pytest.mark.slow
@both
def test_random_gaps_say_nothing_and_gaps_by_class_much(model):
    """Means over five tables: on a single one, chance may be anything from 0.4 to 0.6."""
    held_out = np.arange(400) >= 300
    by_chance, by_class = [], []
    for seed in range(5):
        X, y = table(n=600, seed=seed)
        telling = X.mask((y[:, None] == 1) & (np.random.default_rng(seed).random(X.shape) < 0.4))
        for frame, scores in ((X, by_chance), (telling, by_class)):
            fitted = clone(model).fit(frame[:400], y[:400], held_out=held_out)
            scores.append(roc_auc_score(y[400:], fitted.predict_proba(frame[400:])[:, 1]))
    assert np.mean(by_chance) == pytest.approx(0.5, abs=0.07)
    assert np.mean(by_class) > 0.75


@both
def test_values_are_never_seen(model):
    X, y = table()
    model = clone(model).fit(X, y)
    other = X.mask(X.notna() & (X.columns != "ward"), 7.0)
    other["ward"] = other["ward"].mask(other["ward"].notna(), "a level training never saw")
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(other))


@both
def test_a_table_without_gaps_gives_the_class_shares(model):
    X, y = table(gaps=0.0)
    y = np.where(np.arange(300) < 60, "ill", "well")
    model = clone(model).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:2]), [[0.2, 0.8]] * 2)
    assert model.settings_ == {}
    assert set(model.predict(X.mask(X["a"] > 0))) == {"well"}


def test_mask_only_regression():
    X, y = table(classes=0)
    assert r2_score(y, MaskOnlyRegressor().fit(X, y).predict(X)) < 0.2
    X.loc[y > 100, "a"] = np.nan
    assert r2_score(y, MaskOnlyRegressor().fit(X, y).predict(X)) > 0.25


def test_mask_only_refusals():
    X, y = table()
    model = MaskOnlyClassifier().fit(X, y)
    check_error(lambda: model.predict(X.drop(columns="a")), "missing now 'a'")
    check_error(lambda: model.predict(np.zeros((2, 3))), "X has 3 features, but MaskOnlyClassifier")
    check_error(lambda: model.fit(X, y[:4]), "X has 300 rows, y has 4")
    check_error(lambda: model.fit(X, y, held_out=[1, 0]), "held_out has shape (2,)")
    np.testing.assert_array_equal(model.predict(X[["ward", *"dcba", "noise"]]), model.predict(X))
