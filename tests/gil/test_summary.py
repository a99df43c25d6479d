"""The summary of a series against its plain definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree.gil._summary import STATISTICS, summary


def made(seed):
    g = torch.Generator().manual_seed(seed)
    values = torch.randn(3, 9, 4, generator=g, dtype=torch.double)
    observed = torch.rand(values.shape, generator=g) < 0.4
    observed[0, :, 2] = False  # a column never observed
    observed[1, 0, 1] = True
    return values, observed


def plainly(column):
    """(observed values of one column in order) -> seven numbers."""
    if not len(column):
        return [0.0] * STATISTICS
    spread = np.sqrt(max(np.var(column), 1e-12))
    ends = [column.max(), column.min(), column[-1], column[-1] - column[0]]
    return [column.mean(), spread, *ends, np.log1p(len(column)) / 2]


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_definition_over_the_whole_and_up_to_each_step(seed):
    values, observed = made(seed)
    whole, running = summary(values, observed), summary(values, observed, running=True)
    for n in range(3):
        for d in range(4):
            for t in range(9):
                seen = values[n, : t + 1, d][observed[n, : t + 1, d]].numpy()
                expected = torch.tensor(plainly(seen))
                found = running[n, t].view(STATISTICS, 4)[:, d]
                assert (found - expected).abs().max() < 1e-7  # a variance from sums of squares
            assert (whole[n].view(STATISTICS, 4)[:, d] - expected).abs().max() < 1e-7


def test_what_stands_in_a_gap_does_not_matter():
    values, observed = made(0)
    other = torch.where(observed, values, 1e6)
    assert torch.equal(summary(values, observed), summary(other, observed))


@pytest.mark.parametrize("running", [False, True])
def test_gradients_are_finite_even_where_nothing_or_one_thing_was_observed(running):
    """They flow on into a learned placeholder and an input gate."""
    values, observed = made(0)
    values.requires_grad_()
    summary(values, observed, running).square().sum().backward()
    assert torch.isfinite(values.grad).all()
    assert not values.grad[~observed].any()
