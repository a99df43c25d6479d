"""missingness="ignore": predictions do not rest on who was measured."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    ImputeFreeClassifier,
    ImputeFreeRegressor,
    ImputeFreeSequenceClassifier,
)
from imputefree.errors import ParameterError
from imputefree.inspection import GapScenarios, read_rows
from imputefree.onnx import export
from tests.inspection import made_gaps

SMALL = {"n_members": 2, "max_iter": 40, "hidden_layer_sizes": (32,)}
ESTIMATORS = {
    "network": lambda mode: GILClassifier(missingness=mode, random_state=0, **SMALL),
    "fast": lambda mode: ImputeFreeClassifier(quality="fast", missingness=mode, random_state=0),
    "forest and density": lambda mode: ImputeFreeClassifier(
        families=["forest", "density"], missingness=mode, random_state=0
    ),
}


def series_with_a_leak(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    series = [rng.normal(size=(steps, 2)) for steps in rng.integers(3, 7, n)]
    for values, label in zip(series, y, strict=True):
        values[:, 0] += label
        values[rng.random(len(values)) < 0.1 + 0.6 * label, 1] = np.nan
    return series, y


def aucs(model, X, y):
    """With a row's own gaps, and with those of other rows."""
    theirs, own = GapScenarios(read_rows(X, model), np.random.default_rng(0)).exchanged()
    return [roc_auc_score(y, model.predict_proba(table.X)[:, 1]) for table in (own, theirs)]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_ignore_holds_under_exchanged_gaps_where_use_does_not(name):
    train, test = made_gaps.table(400, 0, True), made_gaps.table(1000, 1, True)
    own, theirs = aucs(ESTIMATORS[name]("use").fit(*train), *test)
    if name != "forest and density":  # a density takes no notice of gaps
        assert own - theirs > 0.06
    model = ESTIMATORS[name]("ignore").fit(*train)
    own, held = aucs(model, *test)
    assert abs(own - held) < 0.03
    assert held > theirs + 0.02
    assert roc_auc_score(test[1], model.predict_proba(test[0])[:, 1]) > 0.8  # values still count


@pytest.mark.parametrize("name", ESTIMATORS)
def test_files_clones_and_onnx_keep_it(name, tmp_path):
    X, y = made_gaps.table(150, 0, True)
    model = ESTIMATORS[name]("ignore").fit(X, y)
    assert clone(model).missingness == "ignore"
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert loaded.missingness == "ignore"
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(clone(model).fit(X, y).predict_proba(X), model.predict_proba(X))
    export(model, tmp_path / "model.onnx")  # compares with the model before it writes


def test_networks_get_no_input_that_tells_gaps():
    X, y = made_gaps.table(60, 0)
    model = GILClassifier(missingness="ignore", indicator=True, max_iter=1).fit(X, y)
    assert not any("missing" in name for name in model.encoder_.input_names)
    assert any(
        "missing" in name for name in GILClassifier(max_iter=1).fit(X, y).encoder_.input_names
    )
    series, y = series_with_a_leak(40, 0)
    model = GILSequenceClassifier(missingness="ignore", max_iter=1).fit(series, y)
    assert model.encoder_.input_names == ["0", "1"]
    revealing = ("count of", "time since", "first time of", "observations", "missing")
    assert not any(
        word in name for name in model.encoder_.summaries.input_names for word in revealing
    )


def test_series_hold_under_exchanged_gaps(tmp_path):
    train, test = series_with_a_leak(300, 0), series_with_a_leak(500, 1)
    options = {"quality": "fast", "random_state": 0}
    own, theirs = aucs(ImputeFreeSequenceClassifier(**options).fit(*train), *test)
    assert own - theirs > 0.1
    model = ImputeFreeSequenceClassifier(missingness="ignore", **options).fit(*train)
    own, held = aucs(model, *test)
    assert abs(own - held) < 0.05
    assert held > theirs
    model.save(tmp_path / "model")
    loaded = ImputeFreeSequenceClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(test[0]), model.predict_proba(test[0]))
    export(model, tmp_path / "model.onnx")


def test_networks_for_series_hold_too():
    train, test = series_with_a_leak(300, 0), series_with_a_leak(500, 1)
    options = {"random_state": 0, "n_members": 2, "max_iter": 15}
    own, theirs = aucs(GILSequenceClassifier(**options).fit(*train), *test)
    assert own - theirs > 0.1
    own, held = aucs(GILSequenceClassifier(missingness="ignore", **options).fit(*train), *test)
    assert abs(own - held) < 0.06


def test_labels_per_step_can_ignore_gaps():
    series, _ = series_with_a_leak(40, 0)
    y = [(values[:, 0] > 0).astype(int) for values in series]
    model = GILSequenceClassifier(per_step=True, missingness="ignore", max_iter=2, n_members=1)
    assert len(model.fit(series, y).predict(series)) == 40


def test_numbers_whose_gaps_tell():
    """Simulated: y is missing-driven in one column, and a value in another."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 2))
    y = X[:, 0] + rng.normal(size=1600)
    X[rng.random(1600) < 1 / (1 + np.exp(-3 * y)), 1] = np.nan
    theirs, own = GapScenarios(read_rows(X[600:]), np.random.default_rng(0)).exchanged()
    losses = {}
    for mode in ("use", "ignore"):
        for model in (
            GILRegressor(missingness=mode, random_state=0, **SMALL),
            ImputeFreeRegressor(quality="fast", missingness=mode, random_state=0),
        ):
            model.fit(X[:600], y[:600])
            losses[mode, type(model).__name__] = model.score(own.X, y[600:]) - model.score(
                theirs.X, y[600:]
            )
    for name in ("GILRegressor", "ImputeFreeRegressor"):
        assert losses["use", name] > 0.2
        assert losses["ignore", name] < 0.06


def test_refused():
    X, y = made_gaps.table(40, 0)
    for model in (GILClassifier(missingness="hide"), ImputeFreeClassifier(missingness=True)):
        with pytest.raises(ParameterError):
            model.fit(X, y)
    with pytest.raises(ParameterError):
        GILClassifier(missingness="ignore", encoder=lambda encoder: encoder).fit(X, y)
