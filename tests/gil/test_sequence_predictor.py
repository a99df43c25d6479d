"""Networks for series of unequal length: padding has no effect; summaries by their definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree.gil._predictors import CrossEntropy
from imputefree.gil._sequence_predictor import STATISTICS, SequencePredictor, running_summary
from imputefree.gil._training_data import Batch

K, B, D, H = 2, 5, 4, 6
LENGTHS = torch.tensor([[3, 1, 7, 4, 7], [2, 6, 1, 5, 3]])
BOTH = pytest.mark.parametrize("cell", ["lstm", "gru"])


OBSERVED = torch.rand(K, B, 7, D, generator=torch.Generator().manual_seed(3)) > 0.5
OBSERVED_OF = {
    steps: torch.cat([OBSERVED, torch.rand(K, B, steps - 7, D) > 0.5], 2).flatten(1, 2)
    for steps in (7, 8, 30)
}
S = 9
SUMMARIES = torch.randn(K, B, S, generator=torch.Generator().manual_seed(4), dtype=torch.double)
SUMMARISED = pytest.mark.parametrize(
    "options",
    [
        {},
        {"summary_inputs": S},
        {"per_step": True},
        {"per_step": True, "summarised": 3},
    ],
)


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
    _, raw = net(values, OBSERVED_OF[steps], tap, lengths=LENGTHS, summaries=SUMMARIES)
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
@SUMMARISED
@pytest.mark.parametrize(("importance", "early"), [(False, True), (True, True), (True, False)])
def test_padding_contributes_exactly_nothing(cell, options, importance, early):
    net = predictor(cell=cell, **options)
    short = loss_and_gradients(net, 7, 1.0, importance, early)
    for steps, filler in ((8, 1.0), (30, 100.0), (7, 1e3)):
        longer = loss_and_gradients(net, steps, filler, importance, early)
        assert (short[0] - longer[0]).abs().max() < 1e-12
        assert (short[1] - longer[1]).abs() < 1e-12
        for one, other in zip(short[2], longer[2], strict=True):
            assert (one - other).abs().max() < 1e-12


@BOTH
@pytest.mark.parametrize("summary_inputs", [0, S])
def test_a_series_alone_gets_the_same_prediction(cell, summary_inputs):
    net = predictor(cell=cell, summary_inputs=summary_inputs)
    values, _ = padded(7, 0.0)
    whole = net(values, lengths=LENGTHS, summaries=SUMMARIES)[1]
    rows = values.view(K, B, 7, D)
    for b in range(B):
        for k in range(K):
            steps = LENGTHS[k, b]
            alone = rows[:, b, :steps]  # cuts the other member's series too, which is ignored
            summaries = SUMMARIES[:, b : b + 1]
            raw = net(alone, lengths=torch.full((K, 1), int(steps)), summaries=summaries)[1]
            assert (raw[k, 0] - whole[k, b]).abs().max() < 1e-12


def test_one_step_output_is_the_last_of_the_per_step_outputs():
    once, every = predictor(), predictor(per_step=True)
    values, _ = padded(7, 0.0)
    outputs = every(values, lengths=LENGTHS)[1]
    last = outputs.view(K, B, 7, 1).gather(2, (LENGTHS - 1)[..., None, None])[:, :, 0]
    features, raw = once(values, lengths=LENGTHS)
    assert (raw - last).abs().max() < 1e-12
    everywhere = once.everywhere(features, raw, Batch(values, None, None, None, LENGTHS))
    assert (everywhere - outputs).abs().max() < 1e-12


def test_summaries_enter_through_a_layer_and_a_line_of_their_own():
    net = predictor(summary_inputs=S)
    values, _ = padded(7, 0.0)
    batch = Batch(values, None, None, None, LENGTHS, summaries=SUMMARIES)
    features, raw = net.see(batch)
    weight, bias = net.summary.weight, net.summary.bias
    for k in range(K):
        for b in range(B):
            through = weight[k] @ SUMMARIES[k, b] + bias[k, 0]
            state = features[k].view(B, 7, H)[b, LENGTHS[k, b] - 1]
            hidden = torch.cat([state, through[:3].relu()])
            hidden = (net.layers[0].weight[k] @ hidden + net.layers[0].bias[k, 0]).relu()
            expected = net.layers[1].weight[k] @ hidden + net.layers[1].bias[k, 0] + through[3:]
            assert (raw[k, b] - expected).abs().max() < 1e-12
    unknown = Batch(values, None, None, None, LENGTHS, summaries=torch.zeros_like(SUMMARIES))
    last = net.everywhere(features, raw, batch).view(K, B, 7, 1)
    last = last.gather(2, (LENGTHS - 1)[..., None, None])[:, :, 0]
    assert (last - net.see(unknown)[1]).abs().max() < 1e-12


@pytest.mark.parametrize("options", [{"summarised": 3}, {"summary_inputs": 2, "per_step": True}])
def test_summaries_of_the_other_kind_are_refused(options):
    with pytest.raises(ValueError, match="running summaries"):
        predictor(**options)


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


def test_running_summary_equals_the_definition_up_to_each_step():
    values, observed = made_columns()
    running = running_summary(values, observed)
    for n in range(3):
        for d in range(4):
            for t in range(9):
                seen = values[n, : t + 1, d][observed[n, : t + 1, d]].numpy()
                expected = torch.tensor(seven_numbers(seen))
                found = running[n, t].view(STATISTICS, 4)[:, d]
                assert (found - expected).abs().max() < 1e-7  # a variance from sums of squares


def test_summary_ignores_the_values_of_gaps():
    values, observed = made_columns()
    other = torch.where(observed, values, 1e6)
    assert torch.equal(running_summary(values, observed), running_summary(other, observed))


def test_gradients_of_a_summary_are_finite_even_without_observations():
    """They flow into a learned placeholder and an input gate."""
    values, observed = made_columns()
    values.requires_grad_()
    running_summary(values, observed).square().sum().backward()
    assert torch.isfinite(values.grad).all()
    assert not values.grad[~observed].any()
