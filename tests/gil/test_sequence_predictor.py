"""Networks for series of unequal length: padding has no effect; summaries by their definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree.gil._predictors import CrossEntropy
from imputefree.gil._sequence_predictor import STATISTICS, SequencePredictor, summary
from imputefree.gil._training_data import Batch

K, B, D, H = 2, 5, 4, 6
LENGTHS = torch.tensor([[3, 1, 7, 4, 7], [2, 6, 1, 5, 3]])
BOTH = pytest.mark.parametrize("cell", ["lstm", "gru"])


OBSERVED = torch.rand(K, B, 7, D, generator=torch.Generator().manual_seed(3)) > 0.5
OBSERVED_OF = {
    steps: torch.cat([OBSERVED, torch.rand(K, B, steps - 7, D) > 0.5], 2).flatten(1, 2)
    for steps in (7, 8, 30)
}


def predictor(**options):
    g = torch.Generator().manual_seed(0)
    return SequencePredictor(K, D, 1, (H, 3), generator=g, **options).double()


def padded(steps, filler):
    g = torch.Generator().manual_seed(1)
    x = torch.randn(K, B, 7, D, generator=g, dtype=torch.double)
    x = torch.cat([x, torch.zeros(K, B, steps - 7, D, dtype=torch.double)], 2)
    padding = torch.arange(steps) >= LENGTHS[..., None]
    x[padding] = filler * torch.randn(int(padding.sum()), D, generator=g, dtype=torch.double)
    return x.flatten(1, 2), padding.flatten(1)


def loss_and_gradients(net, steps, filler, importance, early):
    values, padding = padded(steps, filler)
    tap = net.make_tap()
    tap.early = early
    g = torch.Generator().manual_seed(2)
    weight = torch.rand(K, B, 7, 3, generator=g, dtype=torch.double)
    more = torch.rand(K, B, steps - 7, 3, dtype=torch.double)
    given = torch.cat([weight, more], 2).flatten(1, 2) if importance else None
    if early:
        tap.importance = given
    _, raw = net(values, OBSERVED_OF[steps], tap, lengths=LENGTHS)
    tap.importance = given
    target = (torch.arange(B) % 2).expand(K, B)
    if net.per_step:
        target = target.repeat_interleave(steps, 1)
    errors = CrossEntropy(2).errors(raw, target)
    if net.per_step:
        errors = errors * ~padding
    net.zero_grad()
    errors.sum().backward()
    found = raw[~padding] if net.per_step else raw
    return found.detach(), errors.sum().detach(), [p.grad.clone() for p in net.parameters()]


@BOTH
@pytest.mark.parametrize("per_step", [False, True])
@pytest.mark.parametrize("summarised", [0, 3])
@pytest.mark.parametrize(("importance", "early"), [(False, True), (True, True), (True, False)])
def test_padding_contributes_exactly_nothing(cell, per_step, summarised, importance, early):
    net = predictor(cell=cell, per_step=per_step, summarised=summarised)
    short = loss_and_gradients(net, 7, 1.0, importance, early)
    for steps, filler in ((8, 1.0), (30, 100.0), (7, 1e3)):
        longer = loss_and_gradients(net, steps, filler, importance, early)
        assert (short[0] - longer[0]).abs().max() < 1e-12
        assert (short[1] - longer[1]).abs() < 1e-12
        for one, other in zip(short[2], longer[2], strict=True):
            assert (one - other).abs().max() < 1e-12


@BOTH
@pytest.mark.parametrize("summarised", [0, 3])
def test_a_series_alone_gets_the_same_prediction(cell, summarised):
    net = predictor(cell=cell, summarised=summarised)
    values, _ = padded(7, 0.0)
    whole = net(values, OBSERVED_OF[7], lengths=LENGTHS)[1]
    rows = values.view(K, B, 7, D)
    for b in range(B):
        for k in range(K):
            steps = LENGTHS[k, b]
            alone = rows[:, b, :steps]  # cuts the other member's series too, which is ignored
            raw = net(alone, OBSERVED[:, b, :steps], lengths=torch.full((K, 1), int(steps)))[1]
            assert (raw[k, 0] - whole[k, b]).abs().max() < 1e-12


@pytest.mark.parametrize("summarised", [0, 3])
def test_one_step_output_is_the_last_of_the_per_step_outputs(summarised):
    once = predictor(summarised=summarised)
    every = predictor(summarised=summarised, per_step=True)
    values, _ = padded(7, 0.0)
    inputs = values, OBSERVED_OF[7]
    outputs = every(*inputs, lengths=LENGTHS)[1]
    last = outputs.view(K, B, 7, 1).gather(2, (LENGTHS - 1)[..., None, None])[:, :, 0]
    features, raw = once(*inputs, lengths=LENGTHS)
    assert (raw - last).abs().max() < 1e-7  # a variance from sums of squares
    everywhere = once.everywhere(features, raw, Batch(*inputs, None, None, LENGTHS))
    assert (everywhere - outputs).abs().max() < 1e-7


def test_members_are_independent():
    net = predictor()
    values, _ = padded(7, 0.0)
    values.requires_grad_()
    net(values, lengths=LENGTHS)[1][0].sum().backward()
    assert values.grad[0].any()
    assert not values.grad[1].any()


def test_learned_placeholder_and_gate_get_gradients():
    net = predictor(learned_placeholder=True, gate_sizes=(3,))
    values, _ = padded(7, 0.0)
    observed = torch.rand(values.shape, generator=torch.Generator().manual_seed(3)) > 0.5
    net(values, observed, net.make_tap(), lengths=LENGTHS)[1].sum().backward()
    assert net.placeholder.grad.any()
    assert all(p.grad.any() for p in net.gate.parameters())


def test_series_without_lengths_are_refused():
    with pytest.raises(ValueError, match="lengths"):
        predictor()(torch.zeros(K, B, D, dtype=torch.double))


def made_columns():
    g = torch.Generator().manual_seed(0)
    values = torch.randn(3, 9, 4, generator=g, dtype=torch.double)
    observed = torch.rand(values.shape, generator=g) < 0.4
    observed[0, :, 2] = False  # a column never observed
    observed[1, 0, 1] = True
    return values, observed


def seven_numbers(column):
    """(observed values of one column, in order) -> its statistics."""
    if not len(column):
        return [0.0] * STATISTICS
    spread = np.sqrt(max(np.var(column), 1e-12))
    ends = [column.max(), column.min(), column[-1], column[-1] - column[0]]
    return [column.mean(), spread, *ends, np.log1p(len(column)) / 2]


def test_summary_equals_the_definition_for_the_series_and_up_to_each_step():
    values, observed = made_columns()
    whole, running = summary(values, observed), summary(values, observed, running=True)
    for n in range(3):
        for d in range(4):
            for t in range(9):
                seen = values[n, : t + 1, d][observed[n, : t + 1, d]].numpy()
                expected = torch.tensor(seven_numbers(seen))
                found = running[n, t].view(STATISTICS, 4)[:, d]
                assert (found - expected).abs().max() < 1e-7  # a variance from sums of squares
            assert (whole[n].view(STATISTICS, 4)[:, d] - expected).abs().max() < 1e-7


def test_summary_ignores_the_values_of_gaps():
    values, observed = made_columns()
    other = torch.where(observed, values, 1e6)
    assert torch.equal(summary(values, observed), summary(other, observed))


@pytest.mark.parametrize("running", [False, True])
def test_gradients_of_a_summary_are_finite_even_without_observations(running):
    """They flow into a learned placeholder and an input gate."""
    values, observed = made_columns()
    values.requires_grad_()
    summary(values, observed, running).square().sum().backward()
    assert torch.isfinite(values.grad).all()
    assert not values.grad[~observed].any()
