"""What a run leaves to look at: right, small, plain JSON, and no trace in the run itself."""

from __future__ import annotations

import json
import random
import warnings
import zlib
from base64 import b64decode

import numpy as np
import pytest
import torch

from imputefree.lab.rivals import make_method
from imputefree.lab.runs import _pictures as module
from imputefree.lab.runs._pictures import PictureWarning, pictures
from imputefree.lab.studies import load
from imputefree.lab.studies._mnist import Images
from imputefree.lab.studies._study import Study
from tests.lab.simulated import series, table

SMALL = {"max_iter": 2, "n_members": 2, "hidden_layer_sizes": (6,)}
ABOUT = {"citation": "here", "licence": "none", "simulated": True}
FRAME, Y = table(150)
TABLE = Study("toy", FRAME, Y, **ABOUT)


def fitted(method, study, **setting):
    model = make_method(method, study.task, study.kind)
    network = getattr(model, "estimator", model)
    if hasattr(network, "n_members"):
        network.set_params(**(SMALL | setting))
    return model.fit(study.inputs, study.y)


def of(method, study, test=None, model=None):
    model = fitted(method, study) if model is None else model
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = pictures(model, study, study if test is None else test, random_state=0)
    text = json.dumps(actual, allow_nan=False)
    assert json.loads(text) == actual  # plain JSON
    assert len(text) < 40_000
    return actual


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("gil", {"curves", "importance", "features"}),
        ("meta", {"curves", "importance", "features"}),
        ("gate", {"curves", "features"}),
        ("mean+network", {"curves", "features"}),
        ("lightgbm", set()),
    ],
)
def test_what_each_method_can_show(method, expected):
    assert set(of(method, TABLE)) == expected


def test_numbers_have_no_features_laid_out():
    study = Study("toy", *table(80, classes=0), **ABOUT)
    assert set(of("gil", study)) == {"curves", "importance"}


@pytest.fixture(scope="module")
def gil():
    return fitted("gil", TABLE)


def test_curves_are_the_history(gil):
    model = gil
    curves = of("gil", TABLE, model=model)["curves"]
    assert {"loss", "validation_loss", "reward", "q"} <= set(curves)
    for name, figures in model.history_.items():
        assert curves[name] == pytest.approx(figures, rel=1e-3)
        assert len(curves[name]) == 2


def test_long_curves_are_thinned():
    model = fitted("network", TABLE)
    model.history_ = {"loss": list(range(1000)), "odd": [float("inf"), float("nan")]}
    actual = of("network", TABLE, model=model)
    assert actual["curve_every"] == 3
    assert actual["curves"]["loss"] == list(range(1000))[::3]
    assert actual["curves"]["odd"] == [None]


@pytest.mark.slow
def test_importance_of_a_table_by_column(monkeypatch):
    frame = FRAME.assign(a=FRAME["a"].fillna(0.0))
    study = Study("toy", frame, Y, **ABOUT)
    model = fitted("gil", study)
    monkeypatch.setattr(module, "MAX_ROWS", 100)
    actual = of("gil", study, model=model)["importance"]
    given, seen = model.importance(frame.head(100)), frame.head(100).notna().to_numpy()
    assert actual["columns"] == list(frame)
    assert "shape" not in actual
    assert actual["missing"][0] is None  # no gaps in it
    for j in range(frame.shape[1]):
        assert actual["observed"][j] == pytest.approx(given[seen[:, j], j].mean(), rel=1e-3)
        if j:
            assert actual["missing"][j] == pytest.approx(given[~seen[:, j], j].mean(), rel=1e-3)
    mask = of("gil-h", study)["importance"]
    assert mask["observed"] == [1.0] * 6
    assert mask["missing"] == [None] + [0.0] * 5


def test_of_a_wide_table_the_farthest_columns_are_kept(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 8)) < 0.3, np.nan, rng.normal(size=(40, 8)))
    study = Study("toy", X, np.arange(40) % 2, columns=tuple("abcdefgh"), **ABOUT)
    model = fitted("gil", study)
    whole = of("gil", study, model=model)["importance"]
    monkeypatch.setattr(module, "MAX_COLUMNS", 3)
    part = of("gil", study, model=model)["importance"]
    means = np.array([whole["observed"], whole["missing"]], dtype=float)
    far = np.nanmax(np.abs(means - np.nanmean(means)), axis=0)
    kept = sorted(np.argsort(-far)[:3])
    assert part["columns"] == ["abcdefgh"[at] for at in kept]
    assert part["observed"] == [whole["observed"][at] for at in kept]
    assert part["of"] == 8
    assert part["middle"] == pytest.approx(np.nanmean(means), rel=1e-3)


def test_importance_of_series_counts_from_the_end(monkeypatch):
    X, y = series(60)
    static = load("icu", n_series=60).static
    study = Study("toy", X, y, static=static, columns=("a", "b", "c"), **ABOUT)
    model = fitted("gil-h", study)
    monkeypatch.setattr(module, "MAX_SERIES", 50)
    monkeypatch.setattr(module, "MAX_STEPS", 5)
    actual = of("gil-h", study, model=model)["importance"]
    assert actual["columns"] == ["a", "b", "c", "age"]
    assert (actual["steps"], actual["from"], len(actual["mean"])) == (5, "end", 5)
    for back in range(1, 6):
        there = [~np.isnan(one[-back]) for one in X[:50] if len(one) >= back]
        assert actual["mean"][-back][:3] == pytest.approx(np.mean(there, 0), abs=1e-4)
        assert actual["count"][-back] == len(there)


def test_importance_of_series_of_one_length_counts_from_the_start():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 6, 2)) < 0.4, np.nan, rng.normal(size=(40, 6, 2)))
    study = Study("toy", X, np.arange(40) % 2, **ABOUT)
    actual = of("gil-h", study)["importance"]
    assert (actual["steps"], actual["from"]) == (6, "start")
    np.testing.assert_allclose(actual["mean"], (~np.isnan(X)).mean(0), atol=1e-4)


@pytest.fixture(scope="module")
def images():
    """Digits of noise, in the form of MNIST."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (120, 784)).astype(np.uint8)
    X = np.where(rng.random(pixels.shape) < 0.5, np.nan, pixels / np.float32(255))
    names = tuple(f"pixel {i},{j}" for i in range(28) for j in range(28))
    return Images("mnist", X, np.arange(120) % 10, columns=names, pixels=pixels, **ABOUT)


def test_digits(images):
    rows = np.arange(115, 60, -1)
    test = images.take(rows)
    actual = of("mean+network", images, test)["digits"]
    assert actual["shape"] == [28, 28]
    assert actual["labels"] == [str(digit) for digit in range(10)]
    first = [next(row for row in rows if row % 10 == digit) for digit in range(10)]
    image = {
        name: np.frombuffer(zlib.decompress(b64decode(actual[name])), np.uint8).reshape(10, 784)
        for name in ("truth", "observed", "filled")
    }
    np.testing.assert_array_equal(image["truth"], images.pixels[first])
    np.testing.assert_array_equal(image["observed"], ~np.isnan(images.X[first]))
    seen = image["observed"] == 1
    np.testing.assert_array_equal(image["filled"][seen], image["truth"][seen])
    mean = np.nanmean(images.X, 0) * 255
    filled = np.where(seen, image["filled"], np.rint(mean))
    assert np.abs(image["filled"] - filled).max() <= 1


@pytest.mark.slow
def test_importance_of_images_has_a_shape(images):
    actual = of("gil", images)["importance"]
    assert actual["shape"] == [28, 28]
    assert actual["columns"][29] == "pixel 1,1"
    assert len(actual["observed"]) == len(actual["missing"]) == 784


@pytest.mark.slow
def test_features_put_classes_apart():
    rng = np.random.default_rng(0)
    y = np.arange(450) % 3
    X = rng.normal(size=(450, 60)) * 0.3 + 3 * np.eye(3)[y][:, rng.integers(0, 3, 60)]
    study = Study("toy", X, np.array(["low", "mid", "high"])[y], **ABOUT)
    model = fitted("network", study, hidden_layer_sizes=(40,), max_iter=20)
    actual = of("network", study, model=model)["features"]
    assert model.features(X).shape[1] == 80  # PCA comes first
    assert actual["label"] == study.y[:400].tolist()
    places = np.column_stack([actual["x"], actual["y"]])
    near = ((places[:, None] - places) ** 2).sum(2).argsort(1)[:, 1]
    assert np.mean(y[:400] == y[near]) > 0.95
    assert of("network", study, model=model)["features"] == actual


@pytest.mark.parametrize("rows", [1, 9, 11])
def test_small_test_parts(rows, gil):
    actual = of("gil", TABLE, TABLE.take(np.arange(rows)), gil)
    assert ("features" in actual) == (rows > 9)
    assert len(actual["importance"]["observed"]) == 6


def test_features_without_spread_are_left_out():
    assert module._tsne(np.ones((30, 4)), 0) is None
    assert module._tsne(np.arange(30.0)[:, None], 0) is None


def test_models_and_random_states_do_not_change(monkeypatch, gil):
    model = gil
    before = model.predict_proba(FRAME)
    policy = [weight.clone() for weight in model.policy_.actor.parameters()]
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()  # noqa: NPY002

    def meddle(*given):
        random.random(), np.random.rand(), torch.rand(1)  # noqa: NPY002
        warnings.warn("look at me", stacklevel=1)
        return {}

    monkeypatch.setattr(module, "_digits", meddle)
    assert "features" in of("gil", TABLE, model=model)
    assert random.getstate() == states[0]
    assert np.random.get_state()[1].tolist() == states[1]  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), states[2])
    np.testing.assert_array_equal(model.predict_proba(FRAME), before)
    assert all(map(torch.equal, policy, model.policy_.actor.parameters()))


@pytest.mark.slow
def test_a_picture_that_fails_leaves_the_others(monkeypatch, gil):
    model = gil
    monkeypatch.setattr(model, "importance", lambda X: 1 / 0)
    with pytest.warns(PictureWarning, match="no picture of importance: ZeroDivisionError"):
        actual = pictures(model, TABLE, TABLE, random_state=0)
    assert set(actual) == {"curves", "features"}
