"""No prediction that is not finite: extreme values, targets and weights, and the last guard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    ImputeFreeClassifier,
    explain_rows,
)
from imputefree.data import UNSCALED_LIMIT
from imputefree.estimators import predict_inputs, read_inputs
from tests.refusals import check_error

SMALL = {"n_members": 2, "max_iter": 2, "hidden_layer_sizes": (8,), "random_state": 0}
rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
X[rng.random(X.shape) < 0.2] = np.nan
SIGNAL = np.nan_to_num(X[:, 0]) + 0.1 * rng.normal(size=100)
Y = SIGNAL > 0
FAR = np.array([[1e39, -1e39, 1e300], [-1.7e308, 1e20, np.nan], [3.5e38, 5e-324, 0.0]])


@pytest.mark.filterwarnings("ignore:Outside the range")
class TestUnscaledNumbers:
    """With numeric_encoding="unscaled" numbers beyond float32 reach the networks."""

    @pytest.mark.parametrize("copies", [1, 100])  # by NumPy, and by PyTorch
    @pytest.mark.parametrize("cls", [GILClassifier, GILRegressor])
    def test_far_numbers_count_as_the_limit(self, cls, copies):
        model = cls(numeric_encoding="unscaled", **SMALL).fit(
            X, Y if cls is GILClassifier else SIGNAL
        )
        method = model.predict_proba if cls is GILClassifier else model.predict
        far = np.tile(FAR, (copies, 1))
        actual = method(far)
        assert np.isfinite(actual).all()
        np.testing.assert_array_equal(actual, method(far.clip(-UNSCALED_LIMIT, UNSCALED_LIMIT)))
        inside = X.copy()
        inside[0, 1] = UNSCALED_LIMIT / 2  # which still counts as itself
        assert not np.array_equal(method(inside)[0], method(X)[0])

    def test_they_can_be_learned_from(self):
        extreme = np.vstack([X, FAR, -FAR])
        labels = np.append(Y, [0, 1] * 3)
        model = GILClassifier(numeric_encoding="unscaled", **SMALL).fit(extreme, labels)
        assert all(torch.isfinite(weight).all() for weight in model.predictor_.parameters())
        assert np.isfinite(model.predict_proba(extreme)).all()

    @pytest.mark.parametrize("cell", ["gru", "lstm"])
    def test_series(self, cell):
        series = [X[i : i + 5] for i in range(0, 100, 5)]
        model = GILSequenceClassifier(numeric_encoding="unscaled", cell=cell, **SMALL)
        model.fit(series, np.arange(20) % 2)
        assert np.isfinite(model.predict_proba([FAR, X[:4]])).all()


class TestTargets:
    @pytest.mark.parametrize("unit", [1e-300, 1e-40, 1e38, 1e140])
    def test_the_unit_of_the_target_does_not_matter(self, unit):
        usual = GILRegressor(**SMALL).fit(X, SIGNAL).predict(X)
        actual = GILRegressor(**SMALL).fit(X, SIGNAL * unit).predict(X)
        np.testing.assert_allclose(actual / unit, usual, rtol=1e-5, atol=1e-6)

    def test_targets_whose_squares_overflow_are_refused(self):
        check_error(lambda: GILRegressor(**SMALL).fit(X, SIGNAL * 1e300), "y holds", "overflow")


class TestWeights:
    @pytest.mark.parametrize("weight", [1e-300, 1e300])
    def test_the_unit_of_weights_does_not_matter(self, weight):
        usual = GILClassifier(**SMALL).fit(X, Y).predict_proba(X)
        actual = GILClassifier(**SMALL).fit(X, Y, np.full(100, weight)).predict_proba(X)
        np.testing.assert_allclose(actual, usual, atol=1e-6)

    @pytest.mark.parametrize("odd", [np.nan, np.inf, -1.0, 10**400])
    @pytest.mark.parametrize("cls", [GILClassifier, ImputeFreeClassifier])
    def test_weights_that_are_none_are_refused(self, cls, odd):
        weight = [odd, *[1.0] * 99]
        check_error(lambda: cls().fit(X, Y, weight), "sample_weight")


@pytest.fixture
def broken():
    """A network whose weights are not numbers, as no fit and no file leaves them."""
    model = GILClassifier(**SMALL).fit(X, Y)
    with torch.no_grad():
        next(model.predictor_.parameters()).fill_(torch.nan)
    vars(model.predictor_).pop("_arrays", None)
    return model


def test_the_guard_at_every_exit(broken):
    for exit in (
        broken.predict,
        broken.predict_proba,
        broken.features,
        lambda rows: broken.score(rows, Y[: len(rows)]),
        lambda rows: explain_rows(broken, rows),
        lambda rows: predict_inputs(broken, read_inputs(broken, rows)),  # what is served
    ):
        for rows in (X, X[:3]):
            check_error(lambda: exit(rows), "of row 0 is nan", "finite", "extreme values")  # noqa: B023


def test_the_guard_of_a_blend(monkeypatch):
    model = ImputeFreeClassifier(families=["trees"], quality="fast", random_state=0).fit(X, Y)
    predict = model.families_["trees"].predict
    gap = np.where(np.arange(100) == 7, np.nan, 0.0)[:, None]
    monkeypatch.setattr(model.families_["trees"], "predict", lambda inputs: predict(inputs) + gap)
    check_error(lambda: model.predict(X), "row 7 is nan", "finite")


def test_constant_columns_and_the_least_numbers():
    table = pd.DataFrame({"one": [7.0] * 100, "least": np.where(Y, 5e-324, 0.0), "x": X[:, 0]})
    for model in (
        GILClassifier(**SMALL),
        ImputeFreeClassifier(families=["trees", "density"], quality="fast", random_state=0),
    ):
        assert np.isfinite(model.fit(table, Y).predict_proba(table)).all()
