"""Weighted gradients against their definition, row by row, in double precision."""

from __future__ import annotations

import pytest
import torch

from imputefree.gil._importance import ImportanceTap, weighted_linear
from imputefree.gil._predictors import Predictor

K, B, D, E, C = 2, 7, 5, 6, 3


def double(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def network(**options):
    net = Predictor(K, D, C, (E, 4), generator=torch.Generator().manual_seed(1), **options)
    return net.double()


def errors(raw, target):
    return torch.nn.functional.cross_entropy(
        raw.flatten(0, 1), target.flatten(), reduction="none"
    ).view(target.shape)


def by_definition(net, values, observed, target, importance):
    """Σ_b (∂E_b/∂W) ⊙ a_b: the gradient of each row from autograd, its columns weighted."""
    total = torch.zeros_like(net.encoder.weight)
    for k in range(K):
        for b in range(B):
            _, raw = net(values[:, b : b + 1], observed[:, b : b + 1])
            loss = errors(raw, target[:, b : b + 1])[k, 0] / B
            (gradient,) = torch.autograd.grad(loss, net.encoder.weight)
            total[k] += gradient[k] * importance[k, b]
    return total


def weighted(net, values, observed, target, importance):
    """All parameters' gradients as training computes them."""
    tap = ImportanceTap()
    _, raw = net(values, observed, tap)
    tap.importance = importance
    net.zero_grad()
    errors(raw, target).mean(1).sum().backward()
    return {name: p.grad.clone() for name, p in net.named_parameters()}


def batch(placeholder=0.0):
    g = torch.Generator().manual_seed(0)
    values, observed = double(K, B, D), torch.rand(K, B, D, generator=g) > 0.4
    values = torch.where(observed, values, torch.tensor(placeholder, dtype=torch.float64))
    target = torch.randint(0, C, (K, B), generator=g)
    importance = torch.rand(K, B, D, dtype=torch.float64, generator=g)
    return values, observed, target, importance


@pytest.mark.parametrize("placeholder", [0.0, 1.0, -3.5])
@pytest.mark.parametrize("linear_path", [False, True])
def test_weight_gradient_equals_the_row_by_row_definition(placeholder, linear_path):
    net = network(linear_path=linear_path)
    values, observed, target, importance = batch(placeholder)
    expected = by_definition(net, values, observed, target, importance)
    got = weighted(net, values, observed, target, importance)["encoder.weight"]
    assert (got - expected).abs().max() < 1e-10
    assert expected.abs().max() > 1e-3  # not equal by both being zero


def test_learned_placeholder_gets_the_ordinary_gradient_and_is_part_of_x():
    net = network(learned_placeholder=True)
    with torch.no_grad():
        net.placeholder.copy_(double(K, 1, D, seed=3))
    values, observed, target, importance = batch()
    expected = by_definition(net, values, observed, target, importance)
    got = weighted(net, values, observed, target, importance)
    assert (got["encoder.weight"] - expected).abs().max() < 1e-10
    ordinary = weighted(net, values, observed, target, None)
    assert torch.equal(got["placeholder"], ordinary["placeholder"])
    assert got["placeholder"].abs().max() > 1e-4


def test_everything_but_the_encoder_weight_gets_the_ordinary_gradient():
    net = network(linear_path=True)
    values, observed, target, importance = batch(1.0)
    got, ordinary = (weighted(net, values, observed, target, a) for a in (importance, None))
    assert not torch.allclose(got["encoder.weight"], ordinary["encoder.weight"])
    for name in got.keys() - {"encoder.weight"}:
        assert torch.equal(got[name], ordinary[name]), name


def test_ordinary_gradient_is_that_of_autograd():
    net = network()
    values, observed, target, _ = batch(2.0)
    got = weighted(net, values, observed, target, None)["encoder.weight"]
    pre = values @ net.encoder.weight.mT + net.encoder.bias
    loss = errors(net.infer(pre.relu()), target).mean(1).sum()
    (expected,) = torch.autograd.grad(loss, net.encoder.weight)
    assert (got - expected).abs().max() < 1e-12


def test_without_bias_and_without_members():
    x, w, a = double(B, D), double(E, D, seed=1).requires_grad_(), double(B, D, seed=4).sigmoid()
    tap = ImportanceTap()
    out = weighted_linear(x, w, None, tap)
    assert torch.equal(out, x @ w.T)
    tap.importance = a
    (out.tanh() ** 2).sum().backward()
    expected = torch.zeros_like(w)
    for b in range(B):
        (gradient,) = torch.autograd.grad(((w @ x[b]).tanh() ** 2).sum(), w)
        expected += gradient * a[b]
    assert (w.grad - expected).abs().max() < 1e-10


def test_input_gradient_ignores_importance():
    w, bias = double(E, D, seed=1), double(1, E, seed=2)
    gradients = []
    for a in (None, double(B, D, seed=4).sigmoid()):
        x, tap = double(B, D).requires_grad_(), ImportanceTap()
        out = weighted_linear(x, w, bias, tap)
        tap.importance = a
        out.square().sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients)
    assert torch.allclose(gradients[0], 2 * (double(B, D) @ w.T + bias) @ w)


def test_tap_holds_inputs_and_delta():
    net = network()
    values, observed, target, importance = batch(1.0)
    tap = ImportanceTap()
    _, raw = net(values, observed, tap)
    tap.importance = importance
    errors(raw, target).mean(1).sum().backward()
    rebuilt = tap.delta.mT @ (tap.inputs * importance)
    assert torch.equal(rebuilt, net.encoder.weight.grad)
    matrix = double(K, E, D)
    plain = torch.einsum("kbe,kbd->ked", tap.delta, tap.inputs)
    assert torch.allclose(tap.gradient(), plain)
    assert torch.allclose(tap.along(matrix), torch.einsum("kbe,ked->kbd", tap.delta, matrix))
