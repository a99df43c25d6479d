"""Exported models of series predict what the estimator predicts, whatever is missing."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree import GILSequenceClassifier, Panel
from imputefree.gil._policies import GatePolicy
from imputefree.onnx import encode, export
from tests.onnx.made import SMALL, long_frame, predicted, series_model, session

VARIANTS = {
    "lstm": {},
    "gru": {"cell": "gru"},
    "numbers": {"task": "numbers"},
    "per step": {"per_step": True},
    "per step, numbers, gru": {"per_step": True, "task": "numbers", "cell": "gru"},
    "no statics": {"static": False},
    "even": {"uneven": False},
    "no summary": {"summary": False},
    "no times": {"time_since": False},
    "bare": {"time_since": False, "summary": False, "static": False, "indicator": False},
    "rich": {"numeric_encoding": "rich", "hidden_layer_sizes": 4},
    "learned placeholder": {"placeholder": "learned"},
    "gate, per step": {"policy": GatePolicy((4,)), "per_step": True, "placeholder": "learned"},
    "gate": {"policy": GatePolicy((4,)), "placeholder": 0.5},
}


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS)
def variant(request):
    return request.param


def flat(found, inputs):
    """Per step, the valid steps one after the other."""
    valid = np.arange(found.shape[1]) < inputs["lengths"][:, None]
    assert np.isnan(found[~valid]).all()
    return found[valid]


def test_agrees_with_the_estimator(variant, tmp_path):
    model = series_model(**variant)
    path = tmp_path / "model.onnx"
    assert export(model, path).difference < 1e-5
    own = session(path)
    uneven, static = variant.get("uneven", True), variant.get("static", True)
    for series, longest, seed in ((1, 1, 1), (50, 20, 2), (3, 70, 3)):
        X = long_frame(series, seed, longest, uneven, static)
        X.loc[X["who"] == series - 1, ["pulse", "drug", "full"]] = np.nan
        inputs = encode(path, X)
        found = own.run(None, inputs)[0]
        found = flat(found, inputs) if variant.get("per_step") else found
        np.testing.assert_allclose(found, predicted(model, X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"per_step": True}, {"cell": "gru"}], ids=str)
def test_padding_has_no_influence(options, tmp_path):
    model = series_model(**options)
    path = tmp_path / "model.onnx"
    export(model, path)
    inputs = encode(path, long_frame(20, 5, 9))
    width = inputs["X"].shape[1]
    outs = []
    for value, more in ((np.nan, 0), (7.0, 5), (np.inf, 40)):
        X = np.full((20, width + more, inputs["X"].shape[2]), value)
        times = np.full((20, width + more), -value)
        valid = np.arange(width + more) < inputs["lengths"][:, None]
        X[valid] = inputs["X"][valid[:, :width]]
        times[valid] = inputs["times"][valid[:, :width]]
        found = session(path).run(None, inputs | {"X": X, "times": times})[0]
        outs.append(flat(found, inputs) if options.get("per_step") else found)
    assert np.isfinite(outs[0]).all()
    for other in outs[1:]:
        np.testing.assert_allclose(other, outs[0], rtol=0, atol=1e-7)


@pytest.mark.parametrize("wrong", ["length 0", "length", "times", "late nan", "value", "static"])
def test_what_the_estimator_refuses_is_nan(wrong, tmp_path):
    path = tmp_path / "model.onnx"
    export(series_model(), path)
    inputs = encode(path, long_frame(30, 5, 9))
    at = int(inputs["lengths"].argmax())
    if wrong.startswith("length"):
        inputs["lengths"][at] = 0 if wrong == "length 0" else inputs["X"].shape[1] + 1
    elif wrong == "times":
        inputs["times"][at, 1] = inputs["times"][at, 0]
    elif wrong == "late nan":
        inputs["times"][at, 2] = np.nan
    elif wrong == "value":
        inputs["X"][at, 1, 0] = np.inf
    else:
        inputs["static"][at, 1] = 2.0
    found = session(path).run(None, inputs)[0]
    assert np.flatnonzero(np.isnan(found).any(1)).tolist() == [at]


def test_arrays_and_times_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6, 2))
    X[rng.random(X.shape) < 0.3] = np.nan
    lengths, times = rng.integers(1, 7, 30), np.cumsum(rng.random((30, 6)) + 0.1, 1)
    how = {"lengths": lengths, "times": times}
    panel = Panel.from_array(X, **how)
    model = GILSequenceClassifier(**SMALL).fit(panel, np.arange(30) % 2)
    path = tmp_path / "model.onnx"
    export(model, path)
    found = session(path).run(None, {"X": X, **how})[0]
    np.testing.assert_allclose(found, model.predict_proba(panel), rtol=0, atol=1e-5)
    again = session(path).run(None, encode(path, panel))[0]
    np.testing.assert_array_equal(found, again)
