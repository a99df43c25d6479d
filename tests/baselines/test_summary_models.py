"""Rivals for series: the formats ours take, held-out series, one row a series."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from imputefree import Panel
from imputefree.baselines._boosting import BoostingClassifier
from imputefree.baselines._linear import LinearClassifier, LinearRegressor
from imputefree.baselines._summary_models import SummaryClassifier, SummaryRegressor
from tests.lab.simulated import series
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


def test_every_format_gives_the_same():
    expected = SummaryClassifier(LINEAR).fit(MEMBERS, Y).predict_proba(MEMBERS)
    panel = Panel.from_array(padded(), LENGTHS)
    found = SummaryClassifier(LINEAR).fit(panel, Y).predict_proba(panel)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
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


def test_a_variable_that_nobody_measured_now():
    pairs = long_frame().melt(["who", "hour"]).dropna()
    how = {"id": "who", "time": "hour", "variable": "variable", "value": "value"}
    known = pairs["who"].unique()
    panel = Panel.from_pairs(pairs, **how)
    model = SummaryClassifier(LINEAR).fit(panel, {who: Y[who] for who in known})
    one = pairs[(pairs["who"] == known[0]) & (pairs["variable"] == pairs["variable"].iloc[0])]
    assert model.predict(one).shape == (1,)


def test_statics_numbers_and_what_is_forgotten():
    static = pd.DataFrame({"age": Y + 0.1})
    panel = Panel.from_list(MEMBERS, static=static)
    model = SummaryRegressor(LinearRegressor(random_state=0))
    model.fit(panel, Y.astype(float))
    assert r2_score(Y, model.predict(panel)) > 0.95
    check_error(lambda: model.predict(MEMBERS), "no static columns are given", "'age'")
    model = SummaryClassifier(LINEAR).fit(Panel.from_array(padded(), LENGTHS), Y)
    check_error(lambda: model.predict(padded()), "without lengths")
    check_error(lambda: model.predict(panel), "training had none")
    check_error(lambda: model.fit(MEMBERS, Y[:3]), "y has 3 labels for 200 series")


def test_mask_only_is_chance_here_and_sees_when_things_are_measured():
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
