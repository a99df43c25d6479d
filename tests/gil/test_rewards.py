"""Rewards against the paper's formula, written with slices."""

from __future__ import annotations

import torch

from imputefree.gil._rewards import ContrastiveReward, LossReward, contrast


def mse(left, right):
    return (left - right).pow(2).mean()


def paper(plus, minus):
    """D of Appendix D.1, with the paper's slices; b/2 rows of each class."""
    q = len(plus) // 2
    return (
        mse(plus[:q], minus[:q])
        + mse(plus[q:], minus[q:])
        - mse(plus[:q], plus[q:])
        - mse(minus[:q], minus[q:])
    )


def test_loss_reward_is_the_negative_error():
    errors = torch.rand(2, 4)
    assert torch.equal(LossReward()(errors, torch.zeros(2, 4, 3), 2), -errors)


def test_contrast_of_two_classes_is_the_papers_formula():
    features = torch.randn(3, 8, 5, dtype=torch.float64)
    for k in range(3):
        expected = paper(features[k, 4:], features[k, :4])
        assert abs(contrast(features, 2)[k] - expected) < 1e-12


def test_contrast_of_three_classes_is_the_mean_over_pairs():
    features = torch.randn(1, 12, 5, dtype=torch.float64)
    a, b, c = features[0, :4], features[0, 4:8], features[0, 8:]
    expected = (paper(a, b) + paper(a, c) + paper(b, c)) / 3
    assert abs(contrast(features, 3)[0] - expected) < 1e-12


def test_contrastive_reward_adds_c_times_d_to_every_row():
    features, errors = torch.randn(2, 8, 5), torch.rand(2, 8)
    reward = ContrastiveReward(weight=7.0)(errors, features, 2)
    assert torch.allclose(reward + errors, 7 * contrast(features, 2)[:, None].expand(2, 8))


def test_one_class_has_no_contrast():
    assert contrast(torch.randn(1, 4, 2), 1).item() == 0
