"""The networks (independent members, dropout, gate, placeholder) and their losses."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree.gil import denormals_as_zero
from imputefree.gil._predictors import (
    ACTIVATIONS,
    CrossEntropy,
    MemberLinear,
    MemberMlp,
    Predictor,
    SquaredError,
    bernoulli_mask,
)

K, B, D, C = 3, 5, 4, 2


def net(**options):
    options = {"hidden": (8, 6), "generator": torch.Generator().manual_seed(0)} | options
    return Predictor(K, D, C, **options)


def one_by_one(model, values, activation):
    """Each member as an ordinary network, without batching."""
    outs = []
    for k in range(K):
        pre = values[k] @ model.encoder.weight[k].T + model.encoder.bias[k]
        hidden = activation(pre[:, :8])
        for layer in model.layers[:-1]:
            hidden = activation(hidden @ layer.weight[k].T + layer.bias[k])
        out = hidden @ model.layers[-1].weight[k].T + model.layers[-1].bias[k]
        outs.append(out + pre[:, 8:] if model.linear_path else out)
    return torch.stack(outs)


@pytest.mark.parametrize("linear_path", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_batched_members_equal_separate_networks(linear_path, activation):
    model = net(linear_path=linear_path, activation=activation).double()
    values = torch.randn(K, B, D, dtype=torch.float64)
    expected = one_by_one(model, values, ACTIVATIONS[activation][0])
    assert (model(values)[1] - expected).abs().max() < 1e-12
    assert not torch.equal(model.encoder.weight[0], model.encoder.weight[1])


@pytest.mark.parametrize("linear_path", [False, True])
def test_numpy_predicts_a_few_rows_as_the_network_does(linear_path):
    model, values = net(linear_path=linear_path).double(), torch.randn(B, D, dtype=torch.float64)
    raw = torch.from_numpy(model.raw_of_few(values.numpy()))
    assert model.is_plain
    assert (raw - one_by_one(model, values.expand(K, -1, -1), torch.relu)).abs().max() < 1e-12
    for other in (net(learned_placeholder=True), net(gate_sizes=[3]), net(activation="gelu")):
        assert not other.is_plain


def test_dropout_needs_a_generator_and_keeps_the_mean():
    model = net(dropout=0.5)
    features = torch.ones(K, 4000, 8)
    assert model._masks(features, None) is None
    for mask in model._masks(features, torch.Generator().manual_seed(0)):
        assert set(mask.unique().tolist()) == {0.0, 2.0}
        assert mask.mean().item() == pytest.approx(1.0, abs=0.02)


def test_learned_placeholder_replaces_missing_entries_only():
    model = net(learned_placeholder=True)
    with torch.no_grad():
        model.placeholder.fill_(7.0)
    values, observed = torch.zeros(K, B, D), torch.rand(K, B, D) > 0.5
    plain = net()
    expected = plain(torch.where(observed, values, torch.tensor(7.0)))[1]
    assert torch.allclose(model(values, observed)[1], expected)
    with pytest.raises(ValueError, match="which entries are observed"):
        model(values)


def test_gate_multiplies_the_input():
    model = net(gate_sizes=(5,))
    values = torch.randn(K, B, D)
    plain = net()
    plain.load_state_dict(model.state_dict(), strict=False)
    assert torch.allclose(model(values)[1], plain(values * model.gate(values))[1])


def test_networks_are_rebuilt_from_their_shape_and_weights():
    model = net(linear_path=True, learned_placeholder=True, gate_sizes=(5,))
    again = Predictor(generator=torch.Generator(), **model.shape)
    again.load_state_dict(model.state_dict())
    values, observed = torch.randn(K, B, D), torch.rand(K, B, D) > 0.5
    assert torch.equal(again(values, observed)[1], model(values, observed)[1])
    gate = MemberMlp.of(model.gate.state_dict())
    assert torch.equal(gate(values), model.gate(values))


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_bernoulli_mask_has_its_probability(probability):
    mask = bernoulli_mask((501, 401), probability, torch.Generator().manual_seed(0))
    assert mask.shape == (501, 401)
    assert mask.float().mean().item() == pytest.approx(probability, abs=0.004)


def test_denormals_are_zero_inside_the_block_only():
    tiny = torch.tensor([1e-40])
    with denormals_as_zero():
        assert (tiny * 1.0).item() == 0
    assert (tiny * 1.0).item() > 0


def test_cross_entropy_is_the_negative_log_probability_of_the_target():
    raw = torch.randn(2, 5, 3, dtype=torch.float64)
    target = torch.randint(0, 3, (2, 5))
    loss = CrossEntropy(3)
    probability = raw.exp() / raw.exp().sum(-1, keepdim=True)
    expected = -probability.gather(-1, target[..., None]).squeeze(-1).log()
    assert (loss.errors(raw, target) - expected).abs().max() < 1e-12
    assert torch.allclose(loss.predict(raw), probability)


def test_two_classes_have_one_logit_and_the_same_loss_as_two():
    raw = torch.randn(2, 5, 1, dtype=torch.float64)
    target = torch.randint(0, 2, (2, 5))
    loss = CrossEntropy(2)
    both = torch.cat([torch.zeros_like(raw), raw], -1)
    expected = torch.nn.functional.cross_entropy(
        both.flatten(0, 1), target.flatten(), reduction="none"
    ).view(2, 5)
    assert loss.outputs == 1
    assert (loss.errors(raw, target) - expected).abs().max() < 1e-12
    assert torch.allclose(loss.predict(raw), both.softmax(-1))
    assert np.allclose(loss.predict_few(raw.numpy()), both.softmax(-1), rtol=1e-14)
    four = torch.randn(2, 5, 4, dtype=torch.float64)
    assert np.allclose(CrossEntropy(4).predict_few(four.numpy()), four.softmax(-1), rtol=1e-14)


def test_squared_error():
    raw, target = torch.randn(2, 5, 1), torch.randn(2, 5)
    expected = (raw[..., 0] - target) ** 2
    assert torch.equal(SquaredError().errors(raw, target), expected)
    assert torch.equal(SquaredError().predict(raw), raw)


@pytest.mark.parametrize("inputs", [0, 25])
def test_weights_of_a_layer_start_uniform_around_zero(inputs):
    """Between ±1 / √inputs, as PyTorch's do, or within the bound that is asked for."""
    for bound, expected in ((None, 1 / max(inputs, 1) ** 0.5), (0.003, 0.003)):
        layer = MemberLinear(2, inputs, 200, torch.Generator().manual_seed(0), bound)
        assert layer.weight.shape == (2, 200, inputs)
        for part in (layer.bias, layer.weight) if inputs else (layer.bias,):
            assert 0.98 * expected < part.abs().max() <= expected
            assert abs(part.mean()) < 0.1 * expected
