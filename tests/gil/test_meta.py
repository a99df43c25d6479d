"""The closed form against autograd through a real step, and what the policy learns from it."""

from __future__ import annotations

import copy

import pytest
import torch
from sklearn.metrics import log_loss

from imputefree.gil._importance import ImportanceTap
from imputefree.gil._meta import MetaPolicy, importance_gradient
from imputefree.gil._policies import Transition
from imputefree.gil._predictors import Predictor
from imputefree.gil._recurrent import RecurrentTap
from tests.gil.made import (
    MISLEADING,
    USEFUL,
    fit_on_misleading_table,
    misleading_table,
    state_of,
    task_of,
)

K, B, D = 2, 6, 5


@pytest.mark.parametrize("linear_path", [False, True])
def test_closed_form_equals_autograd_through_one_gradient_step(linear_path):
    g = torch.Generator().manual_seed(0)
    net = Predictor(K, D, 3, (7,), generator=g, linear_path=linear_path).double()
    rate = 0.05
    x, x_next = (torch.randn(K, B, D, dtype=torch.float64, generator=g) for _ in range(2))
    y, y_next = (torch.randint(0, 3, (K, B), generator=g) for _ in range(2))
    importance = torch.rand(K, B, D, dtype=torch.float64, generator=g).requires_grad_()

    def loss_of(raw, target):
        flat = torch.nn.functional.cross_entropy(raw.flatten(0, 1), target.flatten())
        return flat * K  # mean over rows, sum over members

    def forward(weight, values):
        pre = values @ weight.mT + net.encoder.bias
        straight = pre[..., 7:] if linear_path else None
        return net.infer(pre[..., :7].relu(), straight), pre

    # One step, differentiable in a: Δ by autograd, W' = W − η Σ Δ (x ⊙ a)ᵀ, then E_next(W').
    raw, pre = forward(net.encoder.weight.detach(), x)
    pre_leaf = pre.detach().requires_grad_()
    straight = pre_leaf[..., 7:] if linear_path else None
    (delta,) = torch.autograd.grad(
        loss_of(net.infer(pre_leaf[..., :7].relu(), straight), y), pre_leaf
    )
    moved = net.encoder.weight.detach() - rate * delta.mT @ (x * importance)
    (expected,) = torch.autograd.grad(loss_of(forward(moved, x_next)[0], y_next), importance)

    # The closed form, from the taps of the two steps.
    taps = []
    for values, target in ((x, y), (x_next, y_next)):
        tap = ImportanceTap()
        _, raw = net(values, tap=tap)
        tap.importance = importance.detach()  # must not matter for G
        net.zero_grad()
        loss_of(raw, target).backward()
        taps.append(tap)
        if values is x:
            with torch.no_grad():  # the same plain step for the encoder alone
                net.encoder.weight.copy_(moved)
    got = importance_gradient(*taps, rate)
    assert (got - expected).abs().max() < 1e-10
    assert expected.abs().max() > 1e-5


@pytest.mark.parametrize("sizes", [(), (64,), (9, 8, 7)])
def test_importance_starts_at_its_initial_value(sizes):
    task = task_of(members=2)
    policy = MetaPolicy(sizes, start_at=0.3)
    policy.start(task)
    importance = policy.importance(state_of(task, 50))
    assert (importance - 0.3).abs().max() < 0.05


def verdict(policy: str, seed: int) -> tuple[float, float, float]:
    """Test loss, mean importance of misleading columns, and of useful columns."""
    clf = fit_on_misleading_table(policy, seed)
    X_test, y_test = misleading_table(8000, 1000 + seed)
    importance = clf.importance(misleading_table(200, seed)[0])
    loss = log_loss(y_test, clf.predict_proba(X_test))
    return loss, importance[:, MISLEADING].mean(), importance[:, USEFUL].mean()


@pytest.mark.slow
def test_meta_finds_misleading_columns_and_lowers_the_test_loss():
    """Random importance does not: it helps a little, a learned one more."""
    ordinary, _, _ = verdict("none", 0)
    meta, misleading, useful = verdict("meta", 0)
    assert misleading < useful - 0.5
    assert meta < 0.92 * ordinary
    random, misleading, useful = verdict("random", 0)
    assert misleading == useful == 0.5
    assert meta < random


def rows_tap(members, rows, inputs, g):
    tap = ImportanceTap()
    tap.inputs = torch.randn(members, rows, inputs, generator=g)
    tap.delta = torch.randn(members, rows, 4, generator=g)
    return tap


def steps_tap(members, rows, inputs, g):
    """Of a cell without memory, two steps per series."""
    tap = RecurrentTap()
    tap.run = lambda values, weights: (values @ weights[0][:, None].mT).tanh()
    tap.values = torch.randn(members, rows // 2, 2, inputs, generator=g)
    tap.inputs = tap.values.flatten(1, 2)
    tap.weights = [torch.randn(members, 4, inputs, generator=g)]
    tap.upstream = torch.randn(members, rows // 2, 2, 4, generator=g)
    tap.unweighted = torch.randn(members, 4, inputs, generator=g)
    return tap


@pytest.mark.parametrize("tap_of", [rows_tap, steps_tap])
@pytest.mark.parametrize("begun", [0, 2])
def test_a_restored_policy_goes_on_as_the_first_one(tap_of, begun):
    task, g = task_of(members=2), torch.Generator().manual_seed(0)
    steps = []
    for number in range(4):
        state, tap = state_of(task, 8, seed=number), tap_of(2, 8, 3, g)
        steps.append(Transition(state, None, None, state, tap, 0.1))
    first, second = MetaPolicy(rate=0.05), MetaPolicy(rate=0.05)
    first.start(task)
    told = [first.learn(step) for step in steps[:begun]]
    assert [len(figures) for figures in told] == [0, 1][:begun]  # one step later
    second.start(task)  # with other weights
    second.restore(copy.deepcopy(first.state()))
    for step in steps[begun:]:
        assert first.learn(step) == second.learn(step)
    assert all(map(torch.equal, first.network.parameters(), second.network.parameters()))


def test_the_policy_follows_the_sign_of_the_gradient():
    """Importance of the entries whose gradient disagrees with the next one falls; others rise."""
    task = task_of(members=1)
    policy = MetaPolicy(rate=0.05)
    policy.start(task)
    state = state_of(task, 8)
    before = policy.importance(state).mean((0, 1))
    for step in range(4):
        tap = rows_tap(1, 8, 3, torch.Generator())
        tap.inputs[:] = torch.tensor([1.0, -1.0, (-1.0) ** step])
        tap.delta[:] = 1.0
        policy.learn(Transition(state, None, None, state, tap, 0.1))
    change = policy.importance(state).mean((0, 1)) - before
    assert (change[:2] > 0.005).all()
    assert change[2] < -0.005
