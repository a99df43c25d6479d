"""Exported models of tables predict what the estimator predicts, whatever is missing."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree import GILClassifier
from imputefree.gil._policies import GatePolicy
from imputefree.onnx import encode, export, read_metadata
from tests.onnx.made import SMALL, gappy_frame, predicted, session, table_model

VARIANTS = {
    "binary": {},
    "classes": {"task": "classes"},
    "numbers": {"task": "numbers"},
    "plain": {"numeric_encoding": "plain"},
    "unscaled": {"numeric_encoding": "unscaled", "categorical_features": ["stage"]},
    "no gaps in training": {"gaps": 0},
    "no indicator": {"indicator": False},
    "placeholder": {"placeholder": 1.5},
    "learned placeholder": {"placeholder": "learned", "linear_path": False},
    "gate": {"policy": GatePolicy((4,)), "placeholder": "learned"},
    "one layer": {"hidden_layer_sizes": 4, "n_members": 1},
    "gelu": {"activation": "gelu", "linear_path": False},
    "silu": {"activation": "silu"},
    "tanh": {"activation": "tanh"},
}


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS)
def model(request):
    return table_model(**request.param)


def scale(model):
    return getattr(model, "target_scale_", 1.0)


def test_agrees_with_the_estimator(model, tmp_path):
    done = export(model, tmp_path / "model.onnx")
    assert done.difference < 1e-5
    own = session(tmp_path / "model.onnx")
    for rows, seed in ((1, 1), (50, 2), (50, 3)):
        X = gappy_frame(rows, seed)
        if model.numeric_encoding == "unscaled":  # as large numbers as training had
            X["money"] = X["money"].where(X["money"] > 0)
        found = own.run(None, encode(tmp_path / "model.onnx", X))[0]
        expected = predicted(model, X)
        assert found.shape == expected.shape
        reach = np.maximum(1, np.abs(expected) / scale(model))
        assert (np.abs(found - expected) / scale(model) / reach).max() < 1e-5


def test_predictions_depend_on_every_column(tmp_path):
    """Else agreement would show little."""
    model = table_model()
    export(model, tmp_path / "model.onnx")
    own = session(tmp_path / "model.onnx")
    X = encode(tmp_path / "model.onnx", gappy_frame(50, 1))["X"]
    for j in range(X.shape[1]):
        other = X.copy()
        other[:, j] = np.nan
        assert np.abs(own.run(None, {"X": X})[0] - own.run(None, {"X": other})[0]).max() > 1e-4


@pytest.mark.parametrize("wrong", [(0, np.inf), (2, -np.inf), (3, 5.0), (3, 0.5), (3, -1.0)])
def test_what_the_estimator_refuses_is_nan(wrong, tmp_path):
    model = table_model()
    export(model, tmp_path / "model.onnx")
    X = encode(tmp_path / "model.onnx", gappy_frame(3, 1))["X"]
    column, value = wrong
    X[1, column] = value
    found = session(tmp_path / "model.onnx").run(None, {"X": X})[0]
    assert np.isnan(found).all(1).tolist() == [False, True, False]


def test_a_loaded_model_exports_the_same(tmp_path):
    model = table_model()
    model.save(tmp_path / "model.imputefree")
    export(model, tmp_path / "one.onnx")
    export(GILClassifier.load(tmp_path / "model.imputefree"), tmp_path / "two.onnx")
    assert (tmp_path / "one.onnx").read_bytes() == (tmp_path / "two.onnx").read_bytes()


def test_unnamed_columns_and_one_without_an_entry(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 2] = np.nan
    model = GILClassifier(**SMALL).fit(X, np.arange(60) % 2)
    export(model, tmp_path / "model.onnx")
    new = np.array([[np.nan] * 3, [1.0, 2.0, 3.0], [np.nan, 1.0, np.nan]])
    inputs = encode(tmp_path / "model.onnx", new)
    np.testing.assert_array_equal(inputs["X"], new)
    found = session(tmp_path / "model.onnx").run(None, inputs)[0]
    np.testing.assert_allclose(found, model.predict_proba(new), rtol=0, atol=1e-5)


def test_metadata_say_what_goes_in(tmp_path):
    model = table_model()
    export(model, tmp_path / "model.onnx")
    about = read_metadata(tmp_path / "model.onnx")
    assert about["task"] == "classification"
    assert about["classes"] == ["a", "b"]
    assert [column["name"] for column in about["columns"]] == list(gappy_frame(1, 0).columns)
    site = about["columns"][3]
    assert site == {
        "name": "site",
        "kind": "category",
        "levels": ["north", "south", "west", "mars", "moon"],
    }
    assert len(about["sha256"]) == 64
