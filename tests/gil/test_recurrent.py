"""Importance on a recurrent encoder against the definition, step by step."""

from __future__ import annotations

import sys

import pytest
import torch

from imputefree.gil._recurrent import MemberRecurrent, RecurrentTap
from tests.gil.unrolled import run, weighted_gradients

K, B, T, D, H, ENTRIES = 2, 4, 6, 5, 7, 3
BOTH = pytest.mark.parametrize("cell", ["lstm", "gru"])


def made(cell, seed=0):
    g = torch.Generator().manual_seed(seed)
    layer = MemberRecurrent(cell, K, D, H, g).double()
    x = torch.randn(K, B, T, D, generator=g, dtype=torch.double)
    importance = torch.rand(K, B * T, ENTRIES, generator=g, dtype=torch.double)
    upstream = torch.randn(K, B, T, H, generator=g, dtype=torch.double)
    return layer, x, importance, upstream


def weights_of(layer, k):
    return [
        layer.input_weight[k],
        layer.hidden_weight[k],
        layer.input_bias[k, 0],
        layer.hidden_bias[k, 0],
    ]


def backward(layer, x, importance, upstream, early):
    tap = RecurrentTap()
    tap.early = early
    if early:
        tap.importance = importance
    out = layer(x, tap)
    tap.importance = importance  # known only now
    layer.zero_grad()
    out.backward(upstream)
    return tap, out


@BOTH
def test_forward_is_the_cell_written_out(cell):
    layer, x, _, _ = made(cell)
    for tap in (None, RecurrentTap()):
        out = layer(x, tap)
        for k in range(K):
            assert (out[k] - run(cell, x[k], weights_of(layer, k))).abs().max() < 1e-12


@BOTH
@pytest.mark.parametrize("early", [True, False])
def test_gradients_of_all_gates_equal_the_definition(cell, early):
    layer, x, importance, upstream = made(cell)
    _, out = backward(layer, x, importance, upstream, early)
    whole = torch.ones(K, B, T, D, dtype=torch.double)  # the last inputs have importance 1
    whole[..., :ENTRIES] = importance.view(K, B, T, ENTRIES)
    for k in range(K):
        expected, _ = weighted_gradients(
            cell, x[k], whole[k], weights_of(layer, k), lambda h, k=k: (h * upstream[k]).sum()
        )
        found = [parameter.grad[k] for parameter in layer.parameters()]
        for one, other in zip(found, expected, strict=True):
            assert (one.squeeze(0) - other).abs().max() < 1e-10
    assert (out - layer(x)).abs().max() < 1e-12  # the forward pass does not see importance


@BOTH
def test_importance_changes_the_input_weights_gradient_and_nothing_else(cell):
    layer, x, importance, upstream = made(cell)
    backward(layer, x, importance, upstream, early=True)
    weighted = {name: p.grad.clone() for name, p in layer.named_parameters()}
    layer.zero_grad()
    layer(x).backward(upstream)
    for name, parameter in layer.named_parameters():
        same = (parameter.grad - weighted[name]).abs().max() < 1e-12
        assert same == (name != "input_weight")
    others = slice(ENTRIES, None)
    change = layer.input_weight.grad - weighted["input_weight"]
    assert change[..., others].abs().max() < 1e-12


@BOTH
@pytest.mark.parametrize("early", [True, False])
def test_the_input_gets_its_ordinary_gradient(cell, early):
    """A learned placeholder and an input gate learn through it."""
    layer, x, importance, upstream = made(cell)
    weighted, plain = x.clone().requires_grad_(), x.clone().requires_grad_()
    backward(layer, weighted, importance, upstream, early)
    layer(plain).backward(upstream)
    assert (weighted.grad - plain.grad).abs().max() < 1e-12


@BOTH
def test_tap_gives_products_with_the_gradient_of_every_step(cell):
    """Even after the optimizer has changed the weights in place."""
    layer, x, importance, upstream = made(cell)
    before = [[w.detach().clone() for w in weights_of(layer, k)] for k in range(K)]
    tap, _ = backward(layer, x, importance, upstream, early=False)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(0.5)
    matrix = torch.randn(K, layer.input_weight.shape[1], ENTRIES, dtype=torch.double)
    along, gradient = tap.along(matrix), tap.gradient()
    assert torch.equal(tap.inputs, x[..., :ENTRIES].flatten(1, 2))
    for k in range(K):
        _, delta = weighted_gradients(
            cell, x[k], torch.ones_like(x[k]), before[k], lambda h, k=k: (h * upstream[k]).sum()
        )
        assert (along[k].view(B, T, -1) - delta @ matrix[k]).abs().max() < 1e-10
        plain = torch.einsum("btg,btd->gd", delta, x[k, ..., :ENTRIES])
        assert (gradient[k] - plain).abs().max() < 1e-10


@BOTH
def test_late_importance_of_none_is_ordinary_training(cell):
    layer, x, _, upstream = made(cell)
    tap, _ = backward(layer, x, None, upstream, early=False)
    late = [p.grad.clone() for p in layer.parameters()]
    assert torch.equal(tap.gradient(), layer.input_weight.grad)
    layer.zero_grad()
    layer(x).backward(upstream)
    assert all(
        (p.grad - g).abs().max() < 1e-12 for p, g in zip(layer.parameters(), late, strict=True)
    )


def test_importance_that_weights_nothing_down_is_ordinary_training_to_the_last_bit():
    g = torch.Generator().manual_seed(0)
    layer = MemberRecurrent("lstm", K, 37, 32, g)
    observed = torch.rand(K, B * T, 37, generator=g) > 0.5
    x = torch.randn(K, B * T, 37, generator=g) * observed
    gradients = []
    for importance in (observed.float(), None):
        layer.zero_grad()
        backward(layer, x.view(K, B, T, 37), importance, torch.ones(K, B, T, 32), True)
        gradients.append([p.grad.clone() for p in layer.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_no_python_loop_over_time():
    def calls(steps):
        layer = MemberRecurrent("lstm", 1, 3, 4, torch.Generator())
        values, counted = torch.zeros(1, 2, steps, 3), []
        sys.setprofile(lambda frame, event, arg: counted.append(event))
        try:
            layer(values, RecurrentTap()).sum().backward()
        finally:
            sys.setprofile(None)
        return len(counted)

    calls(3)  # imports happen on first use
    assert calls(60) < calls(3) + 30


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_weights_start_uniform_around_zero(cell):
    """Between ±1 / √H, as PyTorch's do."""
    layer = MemberRecurrent(cell, 2, 60, 25, torch.Generator().manual_seed(0))
    for weight in (layer.input_weight, layer.hidden_weight):
        assert 0.19 < weight.abs().max() <= 0.2
        assert abs(weight.mean()) < 0.01
        assert weight.std().item() == pytest.approx(0.2 / 3**0.5, rel=0.05)
    for bias in (layer.input_bias, layer.hidden_bias):
        assert 0.15 < bias.abs().max() <= 0.2
