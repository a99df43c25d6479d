"""The simple policies, and the interface that custom policies rely on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree import GILClassifier, ParameterError
from imputefree.gil import POLICIES, make_policy
from imputefree.gil._policies import ObservedPolicy, Policy, RandomPolicy
from tests.gil.made import state_of, task_of

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
y = (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)
X[rng.random(X.shape) < 0.3] = np.nan


def fit(policy, **options):
    settings = {"n_members": 2, "max_iter": 4, "random_state": 0} | options
    return GILClassifier(policy=policy, **settings).fit(X, y)


def weights(clf):
    return list(clf.predictor_.state_dict().values())


def test_observed_is_the_mask_and_random_a_fair_coin_per_entry():
    state = state_of(task_of(), 5)
    assert torch.equal(ObservedPolicy().importance(state), state.observed.float())
    task = task_of(rows=500, inputs=40)
    policy = RandomPolicy()
    policy.start(task)
    coins = policy.importance(state_of(task, 400))
    assert set(coins.unique().tolist()) == {0.0, 1.0}
    assert abs(coins.mean() - 0.5) < 0.02


def test_state_joins_x_m_features_and_prediction():
    task = task_of()
    state = state_of(task, 5)
    assert state.joined.shape[-1] == task.state_size
    x, m, features, prediction = state.joined.split([3, 3, 2, 2], -1)
    assert torch.equal(x, task.values[state.rows])
    assert torch.equal(m, task.observed[state.rows].float())
    assert torch.equal(features, state.features)
    assert torch.equal(prediction, state.prediction)


@pytest.mark.parametrize("options", [{}, {"indicator": False, "linear_path": False}])
def test_observed_with_placeholder_zero_is_bit_identical_to_none(options):
    """An input of 0 has a zero weight gradient, whatever its importance."""
    none, observed = (fit(policy, max_iter=10, **options) for policy in ("none", "observed"))
    assert all(map(torch.equal, weights(none), weights(observed)))
    assert none.history_ == observed.history_


@pytest.mark.parametrize("placeholder", [1.0, "learned"])
def test_observed_with_another_placeholder_is_not(placeholder):
    pair = [fit(policy, placeholder=placeholder) for policy in ("none", "observed")]
    assert not all(map(torch.equal, *map(weights, pair)))


def test_a_policy_of_ones_trains_like_none_bit_by_bit():
    """All policies share initial weights and batches."""

    class Ones(Policy):
        def importance(self, state):
            return torch.ones_like(state.values)

    assert all(map(torch.equal, weights(fit("none")), weights(fit(Ones()))))


@pytest.mark.parametrize("policy", ["random", "ddpg", "meta", "gate"])
def test_other_policies_train_differently(policy):
    assert not torch.equal(weights(fit("none"))[0], weights(fit(policy))[0])


def test_gate_is_part_of_the_network():
    clf = fit("gate")
    assert clf.predictor_.gate is not None
    before = clf.predict_proba(X)
    with torch.no_grad():
        clf.predictor_.gate[-2].bias.fill_(-30.0)  # the gate shuts out all inputs
    shut = clf.predict_proba(X)
    assert np.ptp(shut[:, 0]) < 1e-6 < np.ptp(before[:, 0])


def test_policies_by_name_and_by_object():
    assert {name: type(make_policy(name)) for name in POLICIES} == POLICIES
    policy = ObservedPolicy()
    assert make_policy(policy) is not policy


@pytest.mark.parametrize("bad", ["nonne", 3, None, ObservedPolicy])
def test_unknown_policy_lists_the_known_ones(bad):
    with pytest.raises(ParameterError, match=r"policy is .*'none', 'observed', 'random', 'ddpg'"):
        fit(bad)


@pytest.mark.parametrize(
    "wrong", [lambda v: v.new_zeros(3), lambda v: torch.full_like(v, 1.5), lambda v: -v.abs() - 1]
)
def test_importance_of_wrong_shape_or_range_is_refused(wrong):
    class Wrong(Policy):
        def importance(self, state):
            return wrong(state.values)

    with pytest.raises(ParameterError, match=r"shape of the batch, .* and lie in \[0, 1\]"):
        fit(Wrong())


def test_a_policy_learns_from_every_step():
    class Listener(Policy):
        wants_reward = True

        def start(self, task):
            self.seen = []

        def importance(self, state):
            return None

        def learn(self, transition):
            self.seen.append((transition.reward.shape, transition.tap.delta.shape))
            return {"answer": 42.0}

    clf = fit(Listener(), n_members=2, batch_size=32, max_iter=3)
    assert set(clf.policy_.seen) == {((2, 27), (2, 27, 129))}  # 105 rows in 4 equal batches
    assert len(clf.policy_.seen) == 3 * 4
    assert clf.history_["answer"] == [42.0] * 3
