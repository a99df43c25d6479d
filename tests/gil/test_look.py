"""Features and importance against networks written out by hand, in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree import GILClassifier
from imputefree.data import read_columns
from imputefree.gil import _look as look
from imputefree.gil import _validation as validation
from imputefree.gil._policies import Policy
from imputefree.gil._training_data import TrainingData

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
X[:, 3] = rng.integers(0, 4, 60)  # few values: several inputs
X[rng.random(X.shape) < 0.3] = np.nan
Y = np.arange(60) % 3
SMALL = {"n_members": 2, "max_iter": 3, "hidden_layer_sizes": (6, 5), "random_state": 0}


def fitted(policy, **options):
    return GILClassifier(policy=policy, **(SMALL | options)).fit(X, Y)


def layer(linear, x):
    """(n, in) -> per member (n, out), in double."""
    weight = linear.weight.detach().double().numpy()
    bias = linear.bias.detach().double().numpy()
    return [one @ w.T + b for one, w, b in zip(x, weight, bias, strict=True)]


def mlp(net, x):
    for part in net:
        if isinstance(part, torch.nn.ReLU):
            x = [np.maximum(one, 0) for one in x]
        elif isinstance(part, torch.nn.Sigmoid):
            x = [1 / (1 + np.exp(-one)) for one in x]
        else:
            x = layer(part, x)
    return x


def by_hand(clf):
    """ζ and ŷ of each member, and the encoded table; all double."""
    table = clf.encoder_.transform(read_columns(X))
    net, values = clf.predictor_, table.values.astype(float)
    out = layer(net.encoder, [values, values])
    width = net.n_features
    zeta = [np.maximum(one[:, :width], 0) for one in out]
    hidden = zeta
    for linear in list(net.layers)[:-1]:
        hidden = [np.maximum(one, 0) for one in layer(linear, hidden)]
    raw = [a + b[:, width:] for a, b in zip(layer(net.layers[-1], hidden), out, strict=True)]
    chance = [np.exp(one) / np.exp(one).sum(1, keepdims=True) for one in raw]
    return table, zeta, chance


def columns_of(clf, entries):
    """(n, entries) -> (n, columns), the mean over a column's inputs."""
    of = clf.encoder_.input_columns[: clf.encoder_.n_entries]
    return np.stack([entries[:, of == j].mean(1) for j in range(4)], 1)


def test_features_are_the_encoder_layer_after_training():
    clf = fitted("none", linear_path=True)
    _, zeta, _ = by_hand(clf)
    found = clf.features(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.concatenate(zeta, 1), atol=1e-5)
    assert np.ptp(found) > 0.1


@pytest.mark.parametrize("policy", ["ddpg", "meta"])
def test_importance_is_the_policy_network_at_the_joined_state(policy):
    clf = fitted(policy, linear_path=True)
    table, zeta, chance = by_hand(clf)
    d = clf.encoder_.n_entries
    assert d > 4  # several inputs a column
    x, m = table.values[:, :d], table.observed[:, :d]
    joined = [np.concatenate([x, m, *one], 1) for one in zip(zeta, chance, strict=True)]
    net = clf.policy_.actor if policy == "ddpg" else clf.policy_.network
    expected = columns_of(clf, np.mean(mlp(net, joined), 0))
    found = clf.importance(X)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.std() > 1e-4
    np.testing.assert_array_equal(found, clf.importance(X))  # nothing is left to chance


def test_policies_that_learn_nothing():
    observed = ~np.isnan(X)
    np.testing.assert_array_equal(fitted("observed").importance(X), observed)
    for policy, value in (("none", 1.0), ("gate", 1.0), ("random", 0.5)):
        found = fitted(policy).importance(X)
        np.testing.assert_array_equal(found, np.full(X.shape, value))


def test_a_policy_of_ones_own_is_asked_as_it_is():
    class Larger(Policy):
        def importance(self, state):
            assert state.features.shape[2] == 6
            return (state.values > 0).to(state.values.dtype)

    clf = fitted(Larger(), numeric_encoding="plain")
    expected = clf.encoder_.transform(read_columns(X)).values[:, :4] > 0
    np.testing.assert_array_equal(clf.importance(X), expected)


def test_looking_changes_nothing():
    clf = fitted("ddpg")
    before = clf.predict_proba(X), clf.policy_._generator.get_state(), torch.get_rng_state()
    clf.features(X), clf.importance(X)
    np.testing.assert_array_equal(clf.predict_proba(X), before[0])
    assert torch.equal(clf.policy_._generator.get_state(), before[1])
    assert torch.equal(torch.get_rng_state(), before[2])


def test_chunks_give_the_same_and_stay_small(monkeypatch):
    clf = fitted("ddpg")
    features, importance = clf.features(X), clf.importance(X)
    budget = 7 * 2 * (2 * clf.encoder_.n_entries + 6 + 3)  # seven rows of two members
    monkeypatch.setattr(validation, "CHUNK_ENTRIES", budget)
    rows = []
    batch = TrainingData.batch

    def spy(self, numbers, with_observed=False):
        rows.append(numbers.shape[1])
        return batch(self, numbers, with_observed)

    monkeypatch.setattr(TrainingData, "batch", spy)
    np.testing.assert_allclose(clf.importance(X), importance, atol=1e-6)
    assert max(rows) == 7
    assert sum(rows) == 60
    np.testing.assert_allclose(clf.features(X), features, atol=1e-6)


def test_a_column_without_inputs_has_no_importance():
    clf = fitted("observed")
    values = torch.zeros(2, 1)
    data = TrainingData(
        values, values == 0, torch.empty(0), entries=1, columns=torch.tensor([1]), n_columns=2
    )
    net = type(clf.predictor_)(1, 1, 3, (2,), generator=torch.Generator())
    found = look.importance(net, clf.policy_, clf._loss(), data)
    assert found[:, 0].isnan().all()
    assert (found[:, 1] == 1).all()
