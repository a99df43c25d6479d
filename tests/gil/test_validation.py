"""Prediction in chunks, early stopping, and features and importance against networks by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree import GILClassifier
from imputefree.data import read_columns
from imputefree.gil import _validation
from imputefree.gil._policies import Policy
from imputefree.gil._predictors import Predictor, SquaredError
from imputefree.gil._training_data import TrainingData
from imputefree.gil._validation import (
    EarlyStopping,
    HeldOut,
    chunks,
    predict_raw,
    update_average,
)

g = torch.Generator().manual_seed(0)
VALUES, TARGET = torch.randn(20, 3, generator=g), torch.randn(20, generator=g)
SEEN = torch.ones(20, 3, dtype=torch.bool)


def network(members=2):
    return Predictor(members, 3, 1, (4,), generator=torch.Generator().manual_seed(1))


def test_losses_are_weighted_means_over_each_members_held_out_rows():
    weight, net = torch.rand(20), network()
    rows = [torch.tensor([0, 1, 2, 3, 4]), torch.tensor([7, 9])]  # unequal: the second is padded
    losses = HeldOut(SquaredError(), TrainingData(VALUES, SEEN, TARGET, weight), rows).losses(net)
    for k, mine in enumerate(rows):
        raw = net(VALUES.expand(2, -1, -1))[1][k, mine, 0]
        expected = (weight[mine] * (raw - TARGET[mine]) ** 2).sum() / weight[mine].sum()
        assert torch.allclose(losses[k], expected)


def test_each_member_gets_its_best_weights_back():
    net = network()
    stopping, bias = EarlyStopping(net, 2, patience=2), net.layers[-1].bias

    def epoch(number, *losses):
        with torch.no_grad():
            bias.fill_(number)
        return stopping.update(torch.tensor(losses), number)

    assert epoch(0, 1.0, 9.0)
    assert epoch(1, 5.0, 2.0)
    assert epoch(2, 0.5 + 1, 2.0)
    assert not epoch(3, 0.1, 3.0)  # the first was done after epoch 2, the second now
    stopping.restore(net)
    assert bias.flatten().tolist() == [0.0, 1.0]
    again = EarlyStopping(network(), 2, patience=2)
    again.load_state_dict(stopping.state_dict())
    again.restore(net)
    assert bias.flatten().tolist() == [0.0, 1.0]


def test_a_network_of_a_single_weight_is_kept():
    net = torch.nn.Linear(1, 1, bias=False)
    stopping = EarlyStopping(net, patience=1)
    before = net.weight.item()
    stopping.update(torch.tensor([1.0]), 0)
    net.weight.data += 1.0
    assert not stopping.update(torch.tensor([1.0]), 1)  # equally good is not better
    stopping.restore(net)
    assert net.weight.item() == before


def test_improvement_must_exceed_tol():
    stopping = EarlyStopping(network(1), patience=1, tol=0.5)
    assert stopping.update(torch.tensor([1.0]), 0)
    assert not stopping.update(torch.tensor([0.6]), 1)


def test_predictions_do_not_depend_on_the_chunk(monkeypatch):
    net, data = network(), TrainingData(VALUES, SEEN, TARGET)
    whole = predict_raw(net, data)
    monkeypatch.setattr(_validation, "CHUNK_ENTRIES", 18)  # three rows at a time
    assert torch.allclose(predict_raw(net, data), whole, atol=1e-7)


def test_chunks_of_a_table_fill_the_budget(monkeypatch):
    """Inputs are 3 numbers and features 4, per row of two members."""
    monkeypatch.setattr(_validation, "CHUNK_ENTRIES", 27)
    data = TrainingData(VALUES, SEEN, TARGET)
    rows = torch.arange(20).expand(2, -1)
    parts = [part for part, _ in chunks(network(), data, rows)]
    assert [part.stop - part.start for part in parts] == [3, 3, 3, 3, 3, 3, 2]
    monkeypatch.setattr(_validation, "CHUNK_ENTRIES", 1)  # one row at least
    assert len([*chunks(network(), data, rows)]) == 20
    monkeypatch.setattr(_validation, "CHUNK_ENTRIES", 80)
    assert len([*chunks(network(), data, rows, width=10)]) == 5


@pytest.mark.parametrize(
    ("short", "beside", "expected"), [(10, 0, [5, 5, 5, 1]), (4, 10, [3, 3, 3, 1])]
)
def test_chunks_of_series_keep_to_the_budget(short, beside, expected, monkeypatch):
    """100 numbers: padded steps of 4 features, and the summaries of each series."""
    monkeypatch.setattr(_validation, "CHUNK_ENTRIES", 100)
    lengths = torch.tensor([2] * short + [5] * 6)
    values = torch.zeros(int(lengths.sum()), 3)
    beside = torch.zeros(len(lengths), beside) if beside else None
    data = TrainingData(values, values == 0, values, lengths=lengths, summaries=beside)
    parts = [part for part, _ in chunks(network(1), data, torch.arange(len(lengths))[None])]
    assert [part.stop - part.start for part in parts] == expected


@pytest.mark.parametrize(("steps", "pace"), [(1, 2 / 3), (2, 0.5), (8, 0.2), (1000, 0.05)])
def test_an_average_of_weights_is_a_plain_mean_at_first(steps, pace):
    average = torch.tensor([1.0])
    update_average([average], [torch.tensor([2.0])], 0.95, steps)
    assert average.item() == pytest.approx(1 + pace)


def test_predictions_are_means_over_members_that_do_not_train_on_a_row():
    rows = [torch.tensor([0, 1, 2]), torch.tensor([2])]
    net = network()
    found = HeldOut(SquaredError(), TrainingData(VALUES, SEEN, TARGET), rows).predictions(net)
    raw = net(VALUES.expand(2, -1, -1))[1].double()[:, :, 0]
    expected = torch.stack([raw[0, 0], raw[0, 1], raw[:, 2].mean()])
    assert torch.allclose(found[:3, 0], expected)
    assert found[3:].isnan().all()


rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
X[:, 3] = rng.integers(0, 4, 60)  # few distinct values: several inputs
X[rng.random(X.shape) < 0.3] = np.nan
Y = np.arange(60) % 3
SMALL = {"n_members": 2, "max_iter": 3, "hidden_layer_sizes": (6, 5), "random_state": 0}


def fitted(policy, **options):
    return GILClassifier(policy=policy, **(SMALL | options)).fit(X, Y)


def layer(linear, x):
    """(K, n, in) -> (K, n, out), in double."""
    weight = linear.weight.detach().double().numpy()
    return x @ weight.transpose(0, 2, 1) + linear.bias.detach().double().numpy()


def mlp(net, x):
    for part in net:
        if isinstance(part, torch.nn.ReLU):
            x = np.maximum(x, 0)
        elif isinstance(part, torch.nn.Sigmoid):
            x = 1 / (1 + np.exp(-x))
        else:
            x = layer(part, x)
    return x


def by_hand(clf):
    """The encoded table, and ζ and ŷ of each member, all double."""
    table = clf.encoder_.transform(read_columns(X))
    net, values = clf.predictor_, table.values.astype(float)
    out = layer(net.encoder, np.stack([values, values]))
    width = net.n_features
    zeta = hidden = np.maximum(out[..., :width], 0)
    for linear in list(net.layers)[:-1]:
        hidden = np.maximum(layer(linear, hidden), 0)
    raw = layer(net.layers[-1], hidden) + out[..., width:]
    return table, zeta, np.exp(raw) / np.exp(raw).sum(-1, keepdims=True)


def columns_of(clf, entries):
    """(n, entries) -> (n, columns), the mean over a column's inputs."""
    of = clf.encoder_.input_columns[: clf.encoder_.n_entries]
    return np.stack([entries[:, of == j].mean(1) for j in range(4)], 1)


def test_features_are_the_encoder_layer_after_training():
    clf = fitted("none", linear_path=True)
    _, zeta, _ = by_hand(clf)
    found = clf.features(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.concatenate(list(zeta), 1), atol=1e-5)
    assert np.ptp(found) > 0.1


@pytest.mark.parametrize("policy", ["ddpg", "meta"])
def test_importance_is_the_policy_network_at_the_joined_state(policy):
    clf = fitted(policy, linear_path=True)
    table, zeta, prediction = by_hand(clf)
    d = clf.encoder_.n_entries
    assert d > 4  # several inputs per column
    x, m = (np.stack([part[:, :d]] * 2) for part in (table.values, table.observed))
    joined = np.concatenate([x, m, zeta, prediction], 2)
    expected = columns_of(clf, mlp(clf.policy_.network, joined).mean(0))
    found = clf.importance(X)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.std() > 1e-4
    np.testing.assert_array_equal(found, clf.importance(X))  # no randomness


def test_importance_of_policies_that_learn_nothing():
    np.testing.assert_array_equal(fitted("observed").importance(X), ~np.isnan(X))
    for policy, value in (("none", 1.0), ("gate", 1.0), ("random", 0.5)):
        np.testing.assert_array_equal(fitted(policy).importance(X), np.full(X.shape, value))


def test_importance_of_a_custom_policy():
    class Larger(Policy):
        def importance(self, state):
            assert state.features.shape[2] == 6
            return (state.values > 0).to(state.values.dtype)

    clf = fitted(Larger(), numeric_encoding="plain")
    expected = clf.encoder_.transform(read_columns(X)).values[:, :4] > 0
    np.testing.assert_array_equal(clf.importance(X), expected)


def test_inspection_changes_nothing():
    clf = fitted("ddpg")
    before = clf.predict_proba(X), clf.policy_._generator.get_state(), torch.get_rng_state()
    clf.features(X), clf.importance(X)
    np.testing.assert_array_equal(clf.predict_proba(X), before[0])
    assert torch.equal(clf.policy_._generator.get_state(), before[1])
    assert torch.equal(torch.get_rng_state(), before[2])


def test_inspection_works_in_chunks(monkeypatch):
    clf = fitted("ddpg")
    features, importance = clf.features(X), clf.importance(X)
    budget = 7 * 2 * (2 * clf.encoder_.n_entries + 6 + 3)  # seven rows of two members
    monkeypatch.setattr(_validation, "CHUNK_ENTRIES", budget)
    rows = []
    batch = TrainingData.batch

    def spy(self, indices, with_observed=False):
        rows.append(indices.shape[1])
        return batch(self, indices, with_observed)

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
    found = _validation.importance(net, clf.policy_, clf._loss(), data)
    assert found[:, 0].isnan().all()
    assert (found[:, 1] == 1).all()
