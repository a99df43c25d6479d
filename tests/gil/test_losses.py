"""Losses against their definitions."""

from __future__ import annotations

import torch

from imputefree.gil.losses import CrossEntropy, SquaredError


def test_cross_entropy_is_minus_the_log_probability_of_the_target():
    raw = torch.randn(2, 5, 3, dtype=torch.float64)
    target = torch.randint(0, 3, (2, 5))
    loss = CrossEntropy(3)
    probability = raw.exp() / raw.exp().sum(-1, keepdim=True)
    expected = -probability.gather(-1, target[..., None]).squeeze(-1).log()
    assert (loss.errors(raw, target) - expected).abs().max() < 1e-12
    assert torch.allclose(loss.predict(raw), probability)


def test_squared_error():
    raw, target = torch.randn(2, 5, 1), torch.randn(2, 5)
    expected = (raw[..., 0] - target) ** 2
    assert torch.equal(SquaredError().errors(raw, target), expected)
    assert torch.equal(SquaredError().predict(raw), raw)
