"""Exported blends predict what the estimator predicts: densities, trees, networks, the pool."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import onnx
import onnxruntime
import pytest

from imputefree import ImputeFreeClassifier
from imputefree.errors import ModelFileError, UnseenCategoryWarning
from imputefree.inspection import (
    gap_bounds,
    keep_scores,
    predict_rows,
    read_rows,
    restore_conformal,
)
from imputefree.onnx import encode, export
from imputefree.onnx._export import difference, sample_rows
from tests.onnx.models import blend_model, gappy_frame, long_frame, series_blend, table_model

CASES = {
    "two classes": ("binary", None),
    "three classes": ("classes", None),
    "numbers": ("numbers", None),
    "trees, two classes": ("binary", ["trees"]),
    "trees, three classes": ("classes", ["trees"]),
    "trees, numbers": ("numbers", ["trees"]),
    "forest, two classes": ("binary", ["forest"]),
    "forest, three classes": ("classes", ["forest"]),
    "forest, numbers": ("numbers", ["forest"]),
    "network": ("binary", ["network"]),
    "trees and network": ("binary", ["trees", "network"]),
    "densities, two classes": ("binary", ["density"]),
    "densities, three classes": ("classes", ["density"]),
    "densities, numbers": ("numbers", ["density"]),
    "linear, two classes": ("binary", ["linear"]),
    "linear, three classes": ("classes", ["linear"]),
    "linear, numbers": ("numbers", ["linear"]),
    "factors": ("classes", ["factors"]),
}
SERIES = {
    "series": ("binary", None),
    "series, numbers": ("numbers", None),
    "series, trees": ("binary", ["trees"]),
    "series, forest": ("binary", ["forest"]),
    "series, linear": ("binary", ["linear"]),
}
pytestmark = pytest.mark.slow


@cache
def exported(case):
    """A model, the path of its export and an onnxruntime session."""
    model = series_blend(*SERIES[case]) if case in SERIES else blend_model(*CASES[case])
    path = Path(mkdtemp()) / "model.onnx"
    assert export(model, path).difference < 1e-5
    return model, path, onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def apart(model, session, path, X):
    """The largest difference, of probabilities or in standard deviations of the target."""
    expected = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
    output = session.run(None, encode(path, X))[0]
    return np.abs(output - expected).max() / getattr(model, "target_scale_", 1.0)


@pytest.mark.parametrize("case", CASES)
def test_random_gaps(case):
    model, path, session = exported(case)
    for rows, seed in ((1, 1), (200, 2)):  # the first row of each has no entries
        assert apart(model, session, path, gappy_frame(rows, seed)) < 1e-5


@pytest.mark.parametrize("case", ["two classes", "trees, numbers", "densities, numbers"])
def test_unseen_categories_are_gaps(case):
    model, path, session = exported(case)
    X = gappy_frame(20, 3)
    X["site"] = "elsewhere"
    with pytest.warns(UnseenCategoryWarning):
        assert apart(model, session, path, X) < 1e-5


@pytest.mark.parametrize("case", ["trees, two classes", "trees, three classes", "trees, numbers"])
def test_values_at_a_threshold_go_the_same_way(case):
    """In float32 about half of these rows would cross over."""
    model, path, session = exported(case)
    trees = model.families_["trees"].trees
    at = np.unique(trees.threshold[(trees.feature == 0) & (trees.threshold < 1e9)])
    for dose in (at, np.nextafter(at, 9), np.nextafter(at, -9)):
        X = gappy_frame(len(dose), 4).assign(dose=dose)
        assert len(X) > 5
        assert apart(model, session, path, X) < 1e-6


@pytest.mark.parametrize("case", SERIES)
def test_series_of_any_length(case):
    model, path, session = exported(case)
    for series, longest, seed in ((1, 1, 1), (40, 20, 2), (3, 70, 3)):
        X = long_frame(series, seed, longest)
        X.loc[X["who"] == series - 1, ["pulse", "drug", "full"]] = np.nan
        assert apart(model, session, path, X) < 1e-5


def test_both_families_are_in_the_graph_and_only_those_with_weight():
    model, path, _ = exported("trees and network")
    assert all(weight > 0 for weight in model.weights_.values())
    assert "TreeEnsembleRegressor" in operations(path)
    assert "MatMul" in operations(path)
    assert "TreeEnsembleRegressor" not in operations(exported("network")[1])
    assert "MatMul" not in operations(exported("trees, two classes")[1])


def operations(path):
    return {node.op_type for node in onnx.load(path).graph.node}


@pytest.mark.parametrize("case", ["trees, numbers", "densities, three classes"])
def test_every_column_matters(case):
    """Otherwise agreement would prove little."""
    _, path, session = exported(case)
    X = encode(path, gappy_frame(100, 1))["X"]
    for j in range(X.shape[1]):
        without = X.copy()
        without[:, j] = np.nan
        assert (session.run(None, {"X": X})[0] != session.run(None, {"X": without})[0]).any()


def test_the_comparison_notices_a_changed_threshold(tmp_path):
    model = blend_model("binary", ["trees"])
    export(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    sample = sample_rows(model, np.random.default_rng(0), 512)
    assert difference(model, session, sample) < 1e-5
    trees = model.families_["trees"].trees
    dose = (trees.feature == 0) & (trees.threshold < 1e9)
    rounded = np.where(dose, trees.threshold - 1e-7, trees.threshold)
    model.families_["trees"].trees = replace(trees, threshold=rounded)
    assert difference(model, session, sample) > 1e-5


def test_refused_rows_are_nan():
    _, path, session = exported("two classes")
    X = encode(path, gappy_frame(3, 1))["X"]
    X[1, 0] = np.inf
    assert np.isnan(session.run(None, {"X": X})[0]).all(1).tolist() == [False, True, False]


def test_a_loaded_blend_exports_the_same(tmp_path):
    model, path, _ = exported("two classes")
    model.save(tmp_path / "model")
    export(ImputeFreeClassifier.load(tmp_path / "model"), tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == path.read_bytes()


def test_a_family_without_a_graph_is_refused(tmp_path):
    model = blend_model("binary", ["trees"])
    model.families_["oracle"] = model.families_["trees"]
    with pytest.raises(ModelFileError, match="no ONNX graph of the family 'oracle'"):
        export(model, tmp_path / "model.onnx")


@pytest.mark.parametrize("task", ["binary", "classes", "numbers"])
def test_sets_and_intervals_are_those_of_the_model(task, tmp_path):
    model, rng = table_model(task=task), np.random.default_rng(0)
    frame = gappy_frame(600, seed=1)
    rows = read_rows(frame, model, once=True)
    predicted, answers = predict_rows(model, rows), rng.normal(size=600)
    if task != "numbers":
        answers = rng.integers(len(model.classes_), size=600)
    model.conformal_ = keep_scores(model, rows, predicted, answers)
    path = tmp_path / "model.onnx"
    export(model, path, bounds=gap_bounds(model, 0.8))
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    # Other rows, and none that are all gaps: their scores would lie on a bound.
    frame = gappy_frame(600, seed=2).dropna(how="all")
    given = session.run(None, encode(path, frame))[1]
    conformal = restore_conformal(model)
    if task == "numbers":
        assert len(np.unique((given[:, 1] - given[:, 0]).round(6))) > 1  # by number of gaps
        assert np.allclose(given, conformal.predict_interval(frame, 0.8))
    else:
        assert np.array_equal(given, conformal.predict_set(frame, 0.8))
