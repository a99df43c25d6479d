"""GAIN: hint and losses by the formulas of the paper, and the range of what it fills in."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit

from imputefree.lab.imputers._deep_imputers import (
    GAIN,
    adversarial_loss,
    discriminator_loss,
    make_generator,
    make_hint,
    reconstruction_loss,
)
from tests.lab.imputers.made import hide, low_rank

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


def cross_entropy(p):
    d = expit(LOGIT[p])
    return -OBSERVED[p] * np.log(d) - (1 - OBSERVED[p]) * np.log(1 - d)


@pytest.mark.parametrize(
    ("loss", "arguments", "term", "where"),
    [
        (discriminator_loss, (LOGIT, OBSERVED, REVEALED), cross_entropy, REVEALED == 0),
        (
            adversarial_loss,
            (LOGIT, OBSERVED, REVEALED),
            lambda p: -(1 - OBSERVED[p]) * np.log(expit(LOGIT[p])),
            REVEALED == 0,
        ),
        (
            reconstruction_loss,
            (GUESS, VALUES, OBSERVED),
            lambda p: (VALUES[p] - GUESS[p]) ** 2,
            OBSERVED == 1,
        ),
    ],
)
def test_losses_by_the_formulas(loss, arguments, term, where):
    terms = [term(p) for p in entries() if where[p]]
    assert float(loss(*tensors(*arguments))) == pytest.approx(np.mean(terms), rel=1e-12)


def test_losses_over_no_entries_are_zero():
    one = torch.ones(2, 2)
    assert float(discriminator_loss(one, one, one)) == 0
    assert float(adversarial_loss(one, one, one)) == 0
    assert float(reconstruction_loss(one, one, 0 * one)) == 0


def test_the_generator_starts_near_the_mean_of_each_column():
    mean = torch.tensor([0.1, 0.5, 0.8])
    net = make_generator(mean, (16,), torch.Generator().manual_seed(0))
    rows = torch.rand(50, 3, generator=torch.Generator().manual_seed(1))
    values = net(torch.cat([rows, torch.ones(50, 3)], -1))
    np.testing.assert_allclose(values.mean(0).detach(), mean, atol=0.1)


def test_filled_entries_stay_within_the_range_of_training():
    table, _ = hide(low_rank(0, n=80, d=5), 0.4, 0)
    filled = GAIN(random_state=0, **QUICK).fit_transform(table)
    assert (filled >= np.nanmin(table, 0) - 1e-6).all()
    assert (filled <= np.nanmax(table, 0) + 1e-6).all()
