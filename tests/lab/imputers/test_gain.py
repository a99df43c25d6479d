"""GAIN: hint and losses by the formulas of the paper, choice of settings, quality."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit
from sklearn.base import clone

from imputefree.lab.imputers._gain import (
    GAIN,
    Generator,
    adversarial_loss,
    discriminator_loss,
    make_hint,
    reconstruction_loss,
)
from tests.lab.imputers.made import hide, low_rank, scaled_rmse

QUICK = {"max_steps": 60, "check_every": 20}
rng = np.random.default_rng(0)
OBSERVED = (rng.random((6, 5)) < 0.6).astype(float)
REVEALED = (rng.random((6, 5)) < 0.7).astype(float)
LOGIT = rng.normal(size=(6, 5)) * 3
VALUES, GUESS = rng.random((6, 5)), rng.random((6, 5))


def entries():
    """All (row, column) pairs."""
    return [(i, j) for i in range(6) for j in range(5)]


def tensors(*arrays):
    return [torch.from_numpy(a) for a in arrays]


def test_the_hint_is_the_mask_where_b_is_one_and_one_half_elsewhere():
    hint = make_hint(*tensors(OBSERVED, REVEALED)).numpy()
    for i, j in entries():
        assert hint[i, j] == (OBSERVED[i, j] if REVEALED[i, j] else 0.5)


def test_discriminator_loss_by_the_formula():
    unrevealed = [(i, j) for i, j in entries() if REVEALED[i, j] == 0]
    d = expit(LOGIT)
    sum_ = sum(
        OBSERVED[p] * np.log(d[p]) + (1 - OBSERVED[p]) * np.log(1 - d[p]) for p in unrevealed
    )
    actual = discriminator_loss(*tensors(LOGIT, OBSERVED, REVEALED))
    assert float(actual) == pytest.approx(-sum_ / len(unrevealed), rel=1e-12)


def test_adversarial_loss_by_the_formula():
    unrevealed = [(i, j) for i, j in entries() if REVEALED[i, j] == 0]
    sum_ = sum((1 - OBSERVED[p]) * np.log(expit(LOGIT[p])) for p in unrevealed)
    actual = adversarial_loss(*tensors(LOGIT, OBSERVED, REVEALED))
    assert float(actual) == pytest.approx(-sum_ / len(unrevealed), rel=1e-12)


def test_reconstruction_loss_by_the_formula():
    seen = [(i, j) for i, j in entries() if OBSERVED[i, j] == 1]
    sum_ = sum((VALUES[p] - GUESS[p]) ** 2 for p in seen)
    actual = reconstruction_loss(*tensors(GUESS, VALUES, OBSERVED))
    assert float(actual) == pytest.approx(sum_ / len(seen), rel=1e-12)


def test_losses_over_no_entries_are_zero():
    one = torch.ones(2, 2)
    assert float(discriminator_loss(one, one, one)) == 0
    assert float(adversarial_loss(one, one, one)) == 0
    assert float(reconstruction_loss(one, one, 0 * one)) == 0


def test_the_generator_starts_near_the_mean_of_each_column():
    mean = torch.tensor([0.1, 0.5, 0.8])
    net = Generator(mean, (16,), torch.Generator().manual_seed(0))
    values = net(torch.rand(50, 3, generator=torch.Generator().manual_seed(1)), torch.ones(50, 3))
    np.testing.assert_allclose(values.mean(0).detach(), mean, atol=0.1)


def test_filled_entries_stay_within_the_range_of_training():
    table, _ = hide(low_rank(0, n=80, d=5), 0.4, 0)
    filled = GAIN(random_state=0, **QUICK).fit_transform(table)
    assert (filled >= np.nanmin(table, 0) - 1e-6).all()
    assert (filled <= np.nanmax(table, 0) + 1e-6).all()


@pytest.mark.slow
def test_alpha_and_rate_are_chosen_on_hidden_entries():
    table, _ = hide(low_rank(0, n=100, d=5), 0.3, 0)
    grid = {"alpha": (0.1, 100.0), "learning_rate_init": (1e-7, 3e-3)}
    imputer = GAIN(**grid, random_state=0, **QUICK).fit(table)
    assert (imputer.alpha_, imputer.learning_rate_) == (100.0, 3e-3)
    alone = clone(imputer).set_params(alpha=100.0, learning_rate_init=3e-3).fit(table)
    assert alone.validation_error_ == imputer.validation_error_
    assert imputer.validation_error_ == min(imputer.history_["validation_error"])


@pytest.mark.slow
def test_it_beats_the_mean_by_a_factor_of_two():
    x = low_rank(5)
    table, missing = hide(x, 0.3, 0)
    means = np.broadcast_to(np.nanmean(table, 0), x.shape)
    error = scaled_rmse(GAIN(max_steps=500, random_state=0).fit_transform(table), x, missing)
    assert 2 * error < scaled_rmse(means, x, missing)
