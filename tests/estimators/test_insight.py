"""What fitted estimators show: shapes, forms of input, files, and series step by step."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    ParameterError,
)
from imputefree.baselines import ImputeThenPredict
from imputefree.gil._policies import ObservedPolicy
from imputefree.lab.imputers import make_imputer
from tests.refusals import check_error

rng = np.random.default_rng(0)
SMALL = {"n_members": 2, "max_iter": 2, "hidden_layer_sizes": (5,), "random_state": 0}
FRAME = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
FRAME["ward"] = np.array(["north", "south", "west", "east"])[np.arange(40) % 4]
FRAME = FRAME.mask(rng.random(FRAME.shape) < 0.3)
Y = np.arange(40) % 2
LENGTHS = rng.integers(1, 7, 40)
SERIES = [rng.normal(size=(steps, 3)) for steps in LENGTHS]
for one in SERIES:
    one[rng.random(one.shape) < 0.4] = np.nan
AGE = pd.DataFrame({"age": np.where(np.arange(40) % 3, 20.0 + np.arange(40), np.nan)})
POLICIES = ["none", "observed", "random", "ddpg", "gate", "meta"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("estimator", [GILClassifier, GILRegressor])
def test_tables_with_categories(estimator, policy):
    target = Y if estimator is GILClassifier else Y.astype(float)
    model = estimator(policy=policy, **SMALL).fit(FRAME, target)
    assert model.features(FRAME).shape == (40, 2 * 5)
    found = model.importance(FRAME)
    assert found.shape == (40, 3)  # columns, not inputs
    assert found.dtype == np.float64
    assert 0 <= found.min() <= found.max() <= 1
    if policy == "observed":
        np.testing.assert_array_equal(found, FRAME.notna())
    one = model.importance(FRAME[["ward", "b", "a"]].iloc[3:4])  # by name: order of training
    np.testing.assert_allclose(one, found[3:4], atol=1e-6)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("estimator", [GILSequenceClassifier, GILSequenceRegressor])
def test_series(estimator, policy):
    target = Y if estimator is GILSequenceClassifier else Y.astype(float)
    model = estimator(policy=policy, **SMALL).fit(SERIES, target, static=AGE)
    assert model.features(SERIES, static=AGE).shape == (40, 2 * 5)
    found = model.importance(SERIES, static=AGE)
    assert [one.shape for one in found] == [(steps, 4) for steps in LENGTHS]
    flat = np.concatenate(found)
    assert 0 <= flat.min() <= flat.max() <= 1
    if policy == "observed":
        np.testing.assert_array_equal(flat[:, :3], ~np.isnan(np.concatenate(SERIES)))
        age = np.repeat(AGE["age"].notna().to_numpy(), LENGTHS)
        np.testing.assert_array_equal(flat[:, 3], age)
    # A series alone, without padding, gives the same.
    for i in (0, 7):
        alone = model.importance(SERIES[i : i + 1], static=AGE.iloc[i : i + 1])
        np.testing.assert_allclose(alone[0], found[i], atol=1e-6)


def test_features_of_series_are_the_hidden_state_after_the_last_step():
    model = GILSequenceClassifier(cell="gru", **SMALL).fit(SERIES, Y)
    found = model.features(SERIES)
    table = model.encoder_.transform(model._panel(SERIES, {}))
    ends = np.cumsum(LENGTHS)
    for i in (1, 5, 9):
        steps = torch.from_numpy(table.values[ends[i] - LENGTHS[i] : ends[i]])
        net = model.predictor_
        with torch.no_grad():
            hidden = net.encoder(steps.expand(2, 1, -1, -1), None)[:, 0, -1]
        np.testing.assert_allclose(found[i], hidden.flatten(), atol=1e-6)
    halves = found.reshape(40, 2, 5)
    assert not np.allclose(halves[:, 0], halves[:, 1])


def test_importance_of_a_step_does_not_know_what_comes_after():
    """Its state is what training shows the policy: everything up to that step."""
    model = GILSequenceClassifier(policy="ddpg", **SMALL).fit(SERIES, Y)
    i = int(LENGTHS.argmax())
    whole = model.importance(SERIES)[i]
    begun = model.importance([SERIES[i][:3]])[0]
    np.testing.assert_allclose(whole[:3], begun, atol=1e-6)


def test_steps_are_arranged_as_predictions_are():
    long = pd.concat(
        pd.DataFrame(one, columns=list("abc")).assign(who=i, hour=np.arange(len(one)))
        for i, one in enumerate(SERIES)
    ).sample(frac=1, random_state=0)
    steps = [np.arange(n) % 2 for n in LENGTHS]
    truth = pd.Series([steps[w][h] for w, h in zip(long.who, long.hour, strict=True)])
    names = {"id": "who", "time": "hour"}
    model = GILSequenceClassifier(policy="observed", per_step=True, **SMALL)
    model.fit(long, truth.to_numpy(), **names)
    assert model.features(long).shape == (len(long), 2 * 5)
    np.testing.assert_array_equal(model.importance(long), long[list("abc")].notna())
    model = GILSequenceClassifier(per_step=True, **SMALL).fit(SERIES, steps)
    assert [one.shape for one in model.features(SERIES)] == [(n, 10) for n in LENGTHS]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_model_from_a_file_gives_the_same_features_and_importance(policy, tmp_path):
    model = GILClassifier(policy=policy, **SMALL).fit(FRAME, Y)
    model.save(tmp_path / "model")
    loaded = GILClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.features(FRAME), model.features(FRAME))
    np.testing.assert_array_equal(loaded.importance(FRAME), model.importance(FRAME))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_policy_of_ones_own_is_not_in_the_file(tmp_path):
    class Own(ObservedPolicy):
        pass

    model = GILClassifier(policy=Own(), **SMALL).fit(FRAME, Y)
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match="could not keep the parameter policy"):
        loaded = GILClassifier.load(tmp_path / "model")
    check_error(
        lambda: loaded.importance(FRAME),
        "comes from a file without its policy",
        "a policy of one's own is not kept",
        kind=ParameterError,
    )
    loaded.set_params(policy="meta").partial_fit(FRAME, Y)
    assert loaded.importance(FRAME).shape == (40, 3)  # it has one again


def test_refusals():
    for model in (GILClassifier(), GILSequenceClassifier()):
        for ask in (model.features, model.importance):
            with pytest.raises(NotFittedError):
                ask(FRAME)
    model = GILClassifier(**SMALL).fit(FRAME, Y)
    check_error(
        lambda: model.importance(FRAME, id="a"), "no option 'id' for tables", kind=ParameterError
    )


def test_features_after_imputation_are_of_filled_rows():
    X, target = FRAME[["a", "b"]], Y
    network = GILClassifier(numeric_encoding="plain", **SMALL)
    model = ImputeThenPredict(estimator=network).fit(X, target)
    found = model.features(X)
    assert found.shape == (40, 10)
    np.testing.assert_allclose(found, model.features(X.fillna(X.mean())), atol=1e-6)
    model = ImputeThenPredict(make_imputer("carry_forward"), GILSequenceClassifier(**SMALL)).fit(
        SERIES, Y
    )
    assert model.features(SERIES).shape == (40, 10)
