"""The networks: members apart, dropout only in training, gate and placeholder where asked."""

from __future__ import annotations

import pytest
import torch

from imputefree.gil._noise import denormals_as_zero, switches
from imputefree.gil._predictors import ACTIVATIONS, MemberMlp, Predictor

K, B, D, C = 3, 5, 4, 2


def net(**options):
    options = {"hidden": (8, 6), "generator": torch.Generator().manual_seed(0)} | options
    return Predictor(K, D, C, **options)


def one_by_one(model, values, activation=torch.relu):
    """Each member written out as an ordinary network, without batching."""
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
    expected = one_by_one(model, values, ACTIVATIONS[activation])
    assert (model(values)[1] - expected).abs().max() < 1e-12


def test_members_start_from_different_weights():
    weight = net().encoder.weight
    assert not torch.equal(weight[0], weight[1])


def test_dropout_needs_a_generator_and_keeps_the_mean():
    model = net(dropout=0.5)
    features = torch.ones(K, 4000, 8)
    assert torch.equal(model._drop(features, None), features)
    dropped = model._drop(features, torch.Generator().manual_seed(0))
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.02)


def test_learned_placeholder_stands_for_missing_entries_only():
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


def test_member_mlp_with_sigmoid_stays_in_the_unit_interval():
    out = MemberMlp(K, [D, 8, 3], torch.Generator().manual_seed(0), sigmoid=True)(
        100 * torch.randn(K, B, D)
    )
    assert out.shape == (K, B, 3)
    assert ((out >= 0) & (out <= 1)).all()


def test_shape_builds_an_equal_network():
    model = net(linear_path=True, learned_placeholder=True, gate_sizes=(5,))
    again = Predictor(generator=torch.Generator(), **model.shape)
    again.load_state_dict(model.state_dict())
    values, observed = torch.randn(K, B, D), torch.rand(K, B, D) > 0.5
    assert torch.equal(again(values, observed)[1], model(values, observed)[1])


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_switches_have_their_probability(probability):
    flips = switches((501, 401), probability, torch.Generator().manual_seed(0))
    assert flips.shape == (501, 401)
    assert flips.float().mean().item() == pytest.approx(probability, abs=0.004)


def test_denormals_are_zero_inside_and_as_before_outside():
    tiny = torch.tensor([1e-40])
    with denormals_as_zero():
        assert (tiny * 1.0).item() == 0
    assert (tiny * 1.0).item() > 0
