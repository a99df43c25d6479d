"""Losses against their definitions."""

from __future__ import annotations

import torch

from imputefree.gil._losses import CrossEntropy, SquaredError


def test_cross_entropy_is_minus_the_log_probability_of_the_target():
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


def test_squared_error():
    raw, target = torch.randn(2, 5, 1), torch.randn(2, 5)
    expected = (raw[..., 0] - target) ** 2
    assert torch.equal(SquaredError().errors(raw, target), expected)
    assert torch.equal(SquaredError().predict(raw), raw)
