"""Exported models predict what the estimator predicts, whatever is missing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import onnxruntime
import pytest
import torch
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError

from imputefree import GILClassifier, GILSequenceClassifier, Panel
from imputefree.baselines import ImputeThenPredict
from imputefree.errors import MissingExtraError, ModelFileError
from imputefree.gil import GatePolicy
from imputefree.onnx import encode, export, read_metadata
from imputefree.onnx._export import difference, sample_rows
from tests.onnx.models import SMALL, gappy_frame, long_frame, series_model, table_model

TABLES = {
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
SERIES = {
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
    "piecewise": {"numeric_encoding": "piecewise", "hidden_layer_sizes": 4},
    "learned placeholder": {"placeholder": "learned"},
    "gate, per step": {"policy": GatePolicy((4,)), "per_step": True, "placeholder": "learned"},
    "gate": {"policy": GatePolicy((4,)), "placeholder": 0.5},
}


@cache
def exported(kind, variant):
    """A model, the path of its export and an onnxruntime session."""
    model = table_model(**TABLES[variant]) if kind == "table" else series_model(**SERIES[variant])
    path = Path(mkdtemp()) / "model.onnx"
    assert export(model, path).difference < 1e-5
    return model, path, onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def predicted(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def valid_steps(output, inputs):
    """Predictions per step without the padding, which is NaN."""
    valid = np.arange(output.shape[1]) < inputs["lengths"][:, None]
    assert np.isnan(output[~valid]).all()
    return output[valid]


@pytest.mark.parametrize("variant", TABLES)
def test_tables_agree_with_the_estimator(variant):
    model, path, session = exported("table", variant)
    scale = getattr(model, "target_scale_", 1.0)
    for rows, seed in ((1, 1), (50, 2)):
        X = gappy_frame(rows, seed)
        if variant == "unscaled":  # no larger than in training
            X["money"] = X["money"].where(X["money"] > 0)
        expected = predicted(model, X)
        apart = np.abs(session.run(None, encode(path, X))[0] - expected) / scale
        assert (apart / np.maximum(1, np.abs(expected) / scale)).max() < 1e-5


@pytest.mark.filterwarnings("ignore:Outside the range")
def test_numbers_beyond_float32_are_bounded_as_by_the_estimator():
    model, path, session = exported("table", "unscaled")
    X = gappy_frame(3, 1).assign(dose=[1e39, -1e300, 1.0], money=[1e20, 1.0, 1.7e308])
    actual = session.run(None, encode(path, X))[0]
    assert np.isfinite(actual).all()
    np.testing.assert_allclose(actual, model.predict_proba(X), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("variant", SERIES)
def test_series_agree_with_the_estimator(variant):
    model, path, session = exported("series", variant)
    options = SERIES[variant]
    for series, longest, seed in ((1, 1, 1), (20, 20, 2), (3, 70, 3)):
        X = long_frame(
            series, seed, longest, options.get("uneven", True), options.get("static", True)
        )
        X.loc[X["who"] == series - 1, ["pulse", "drug", "full"]] = np.nan
        inputs = encode(path, X)
        output = session.run(None, inputs)[0]
        output = valid_steps(output, inputs) if options.get("per_step") else output
        np.testing.assert_allclose(output, predicted(model, X), rtol=0, atol=1e-5)


def test_predictions_depend_on_every_column():
    """Otherwise agreement would prove little."""
    _, path, session = exported("table", "binary")
    X = encode(path, gappy_frame(50, 1))["X"]
    for j in range(X.shape[1]):
        without = X.copy()
        without[:, j] = np.nan
        change = session.run(None, {"X": X})[0] - session.run(None, {"X": without})[0]
        assert np.abs(change).max() > 1e-4


@pytest.mark.parametrize("variant", ["lstm", "per step", "gru"])
def test_padding_has_no_influence(variant):
    _, path, session = exported("series", variant)
    inputs = encode(path, long_frame(20, 5, 9))
    width = inputs["X"].shape[1]
    outputs = []
    for value, more in ((np.nan, 0), (7.0, 5), (np.inf, 40)):
        X = np.full((20, width + more, inputs["X"].shape[2]), value)
        times = np.full((20, width + more), -value)
        valid = np.arange(width + more) < inputs["lengths"][:, None]
        X[valid] = inputs["X"][valid[:, :width]]
        times[valid] = inputs["times"][valid[:, :width]]
        output = session.run(None, inputs | {"X": X, "times": times})[0]
        outputs.append(valid_steps(output, inputs) if variant == "per step" else output)
    assert np.isfinite(outputs[0]).all()
    for other in outputs[1:]:
        np.testing.assert_allclose(other, outputs[0], rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("column", "value"), [(0, np.inf), (2, -np.inf), (3, 5.0), (3, 0.5), (3, -1.0)]
)
def test_rows_that_the_estimator_refuses_are_nan(column, value):
    _, path, session = exported("table", "binary")
    X = encode(path, gappy_frame(3, 1))["X"]
    X[1, column] = value
    assert np.isnan(session.run(None, {"X": X})[0]).all(1).tolist() == [False, True, False]


@pytest.mark.parametrize("wrong", ["length 0", "length", "times", "late nan", "value", "static"])
def test_series_that_the_estimator_refuses_are_nan(wrong):
    _, path, session = exported("series", "lstm")
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
    output = session.run(None, inputs)[0]
    assert np.flatnonzero(np.isnan(output).any(1)).tolist() == [at]


def test_padded_arrays_with_times(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6, 2))
    X[rng.random(X.shape) < 0.3] = np.nan
    lengths, times = rng.integers(1, 7, 30), np.cumsum(rng.random((30, 6)) + 0.1, 1)
    how = {"lengths": lengths, "times": times}
    panel = Panel.from_array(X, **how)
    model = GILSequenceClassifier(**SMALL).fit(panel, np.arange(30) % 2)
    path = tmp_path / "model.onnx"
    export(model, path)
    session = onnxruntime.InferenceSession(path)
    output = session.run(None, {"X": X, **how})[0]
    np.testing.assert_allclose(output, model.predict_proba(panel), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(output, session.run(None, encode(path, panel))[0])


def test_unnamed_columns_and_a_column_without_entries(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 2] = np.nan
    model = GILClassifier(**SMALL).fit(X, np.arange(60) % 2)
    export(model, tmp_path / "model.onnx")
    new = np.array([[np.nan] * 3, [1.0, 2.0, 3.0], [np.nan, 1.0, np.nan]])
    inputs = encode(tmp_path / "model.onnx", new)
    np.testing.assert_array_equal(inputs["X"], new)
    output = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(None, inputs)[0]
    np.testing.assert_allclose(output, model.predict_proba(new), rtol=0, atol=1e-5)


def test_a_loaded_model_exports_the_same(tmp_path):
    model, path, _ = exported("table", "binary")
    model.save(tmp_path / "model.imputefree")
    export(GILClassifier.load(tmp_path / "model.imputefree"), tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == path.read_bytes()


def test_metadata_describe_the_inputs():
    about = read_metadata(exported("table", "binary")[1])
    assert about["task"] == "classification"
    assert about["classes"] == ["a", "b"]
    assert [column["name"] for column in about["columns"]] == list(gappy_frame(1, 0).columns)
    levels = ["north", "south", "west", "mars", "moon"]
    assert about["columns"][3] == {"name": "site", "kind": "category", "levels": levels}
    assert len(about["sha256"]) == 64


@pytest.mark.parametrize("make", [table_model, series_model])
def test_the_comparison_notices_a_changed_weight(make, tmp_path):
    model = make()
    export(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    sample = sample_rows(model, np.random.default_rng(0), 20)
    assert difference(model, session, sample) < 1e-5
    with torch.no_grad():
        model.predictor_.layers[-1].bias[0, 0, 0] += 0.1  # of a weight, the unit may be dead
    assert difference(model, session, sample) > 1e-5


def test_a_wrong_export_leaves_the_old_file(tmp_path):
    model = table_model()
    model.predictor_.activation_name = "tanh"  # the file will say "relu"
    path = tmp_path / "model.onnx"
    path.write_text("old")
    with pytest.raises(ModelFileError, match="differs from the estimator"):
        export(model, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be written"):
        export(exported("table", "binary")[0], tmp_path / "no" / "model.onnx")


@pytest.mark.parametrize("other", [ImputeThenPredict, DummyClassifier])
def test_what_is_not_fitted_or_does_not_take_gaps_is_refused(other, tmp_path):
    for unfitted in (GILClassifier(), other()):
        with pytest.raises(NotFittedError):
            export(unfitted, tmp_path / "model.onnx")
    with pytest.raises(ModelFileError, match=other.__name__):
        export(other().fit(np.eye(4), [0, 1, 0, 1]), tmp_path / "model.onnx")


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("imputefree.errors.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"onnxruntime are not installed.*\[onnx\]"):
        export(table_model(), tmp_path / "model.onnx")
