"""Mask only: chance where gaps come by chance, far above where they tell the answer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score, roc_auc_score

from imputefree.baselines._boosting import BoostingClassifier
from imputefree.baselines._linear import LinearClassifier
from imputefree.baselines._mask_only import MaskOnlyClassifier, MaskOnlyRegressor
from tests.lab.simulated import table
from tests.refusals import check_error

pytest.importorskip("lightgbm")
MODELS = [
    MaskOnlyClassifier(LinearClassifier(random_state=0)),
    MaskOnlyClassifier(BoostingClassifier("lightgbm", max_iter=20, random_state=0)),
]
both = pytest.mark.parametrize("model", MODELS, ids=["linear", "lightgbm"])


@both
@pytest.mark.parametrize("given", [True, False])
def test_gaps_by_chance_tell_nothing_and_gaps_by_class_much(model, given):
    """Means over five tables: on a single one, chance may be anything from 0.4 to 0.6."""
    held_out = np.arange(400) >= 300 if given else None
    by_chance, by_class = [], []
    for seed in range(5):
        X, y = table(n=600, seed=seed)
        telling = X.mask((y[:, None] == 1) & (np.random.default_rng(seed).random(X.shape) < 0.4))
        for frame, found in ((X, by_chance), (telling, by_class)):
            fitted = clone(model).fit(frame[:400], y[:400], held_out=held_out)
            found.append(roc_auc_score(y[400:], fitted.predict_proba(frame[400:])[:, 1]))
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


def test_numbers():
    X, y = table(classes=0)
    assert r2_score(y, MaskOnlyRegressor().fit(X, y).predict(X)) < 0.2
    X.loc[y > 100, "a"] = np.nan
    assert r2_score(y, MaskOnlyRegressor().fit(X, y).predict(X)) > 0.25


def test_refusals():
    X, y = table()
    model = MaskOnlyClassifier().fit(X, y)
    check_error(lambda: model.predict(X.drop(columns="a")), "missing now 'a'")
    check_error(lambda: model.predict(np.zeros((2, 3))), "X has 3 features, but MaskOnlyClassifier")
    check_error(lambda: model.fit(X, y[:4]), "X has 300 rows, y has 4")
    check_error(lambda: model.fit(X, y, held_out=[1, 0]), "held_out has shape (2,)")
    np.testing.assert_array_equal(model.predict(X[["ward", *"dcba", "noise"]]), model.predict(X))
