"""Algorithm 1 on series: importance per step, rewards per series, the replay of valid steps."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch

from imputefree.gil import make_policy
from imputefree.gil._ddpg import DDPG
from imputefree.gil._meta import importance_gradient
from imputefree.gil._policies import Policy
from imputefree.gil._predictors import CrossEntropy
from imputefree.gil._rewards import ContrastiveReward, LossReward
from imputefree.gil._sequence_predictor import SequencePredictor
from imputefree.gil._train import Settings, Trainer
from imputefree.gil._training_data import Batches, TrainingData
from tests.gil.made import look
from tests.gil.unrolled import weighted_gradients

N, D, ENTRIES, K, H = 24, 5, 3, 2, 6


def data(per_step=False, placeholder=1.5):
    g = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 8, (N,), generator=g)
    steps = int(lengths.sum())
    observed = torch.rand(steps, D, generator=g) > 0.4
    observed[:, ENTRIES:] = True
    values = torch.where(observed, torch.randn(steps, D, generator=g), placeholder)
    target = torch.arange(steps if per_step else N) % 2
    weight = torch.full((steps,), N / steps) if per_step else None
    return TrainingData(
        values, observed, target, weight, ENTRIES, lengths=lengths, per_step=per_step
    )


def trainer(policy, reward=None, per_step=False, double=False, **settings):
    g = torch.Generator().manual_seed(0)
    gate = (8,) if policy == "gate" else None
    net = SequencePredictor(K, D, 1, (H,), generator=g, per_step=per_step, gate_sizes=gate)
    generators = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    settings = Settings(**{"batch_size": 8, "learning_rate": 0.01} | settings)
    policy = make_policy(policy)
    return Trainer(
        net.double() if double else net,
        policy,
        reward or LossReward(),
        CrossEntropy(2),
        settings,
        *generators,
    )


def every_row():
    return [torch.arange(N)] * K


class Listener(Policy):
    """Remembers every transition."""

    wants_reward = True

    def start(self, task):
        self.heard = []
        self.task = task

    def importance(self, state):
        g = torch.Generator().manual_seed(7)
        return torch.rand(state.values.shape, generator=g, dtype=state.values.dtype)

    def learn(self, transition):
        self.heard.append(transition)
        return {}


def in_double(series):
    weight = None if series.weight is None else series.weight.double()
    return replace(series, values=series.values.double(), weight=weight)


def batches_of(series, labels=None):
    g = torch.Generator().manual_seed(5)
    return Batches(every_row(), 8, g, labels, 0 if labels is None else 2, series.lengths)


@pytest.mark.parametrize("per_step", [False, True])
def test_one_iteration_is_the_definition_series_by_series(per_step):
    """Loss, weighted gradient of W, ordinary gradient of all other weights."""
    given = in_double(data(per_step))
    made = trainer(Listener(), per_step=per_step, double=True)
    net = copy.deepcopy(made.predictor)
    batches = batches_of(given)
    rows = next(copy.deepcopy(batches))
    next(made.algorithm_1(given, batches))
    step = made.policy.heard[0]
    width = step.importance.shape[1] // rows.shape[1]
    importance = step.importance.view(K, rows.shape[1], width, ENTRIES)
    for k in range(K):
        expected = [torch.zeros_like(p[k]) for p in net.encoder.parameters()]
        for b, row in enumerate(rows[k]):
            first, length = int(given.starts[row]), int(given.lengths[row])
            span = slice(first, first + length)
            whole = torch.ones(1, length, D, dtype=torch.double)
            whole[0, :, :ENTRIES] = importance[k, b, :length]

            def loss_of(hidden, k=k, row=row, span=span):
                layer = net.layers[0]
                raw = hidden[0] @ layer.weight[k].T + layer.bias[k]
                target = given.target[span] if per_step else given.target[row].view(1)
                raw = raw[:, 0] if per_step else raw[-1:, 0]
                errors = torch.log1p(torch.exp(-(2.0 * target - 1) * raw))
                weight = given.weight[span] if per_step else 1.0
                return (errors * weight).sum() / rows.shape[1]

            weights = [p[k].squeeze(0) for p in net.encoder.parameters()]
            found, _ = weighted_gradients("lstm", given.values[None, span], whole, weights, loss_of)
            for total, one in zip(expected, found, strict=True):
                total += one.view(total.shape)
        for parameter, one in zip(made.predictor.encoder.parameters(), expected, strict=True):
            assert (parameter.grad[k] - one).abs().max() < 1e-10


def test_policy_sees_every_step_with_its_features_and_prediction():
    given, made = data(), trainer(Listener())
    net = copy.deepcopy(made.predictor)
    batches = batches_of(given)
    rows = next(copy.deepcopy(batches))
    next(made.algorithm_1(given, batches))
    state, task = made.policy.heard[0].state, made.policy.task
    batch = given.batch(rows)
    assert task.series
    assert torch.equal(task.values, given.values[:, :ENTRIES])
    assert torch.equal(state.rows, batch.steps)
    assert torch.equal(state.valid, batch.valid)
    assert torch.equal(state.values, batch.values[..., :ENTRIES])
    assert torch.equal(state.observed, given.observed[batch.steps][..., :ENTRIES])
    features, _ = net(batch.values, lengths=batch.lengths)
    assert torch.allclose(state.features, features, atol=1e-6)
    every = CrossEntropy(2).predict(net.infer(features))  # ŷ_t from h_t
    assert torch.allclose(state.prediction, every, atol=1e-6)


@pytest.mark.parametrize("reward", [LossReward(), ContrastiveReward(2.0)])
def test_steps_of_a_series_share_its_reward_after_the_update(reward):
    given, made = data(), trainer(Listener(), reward)
    batches = batches_of(given, given.target if reward.balanced else None)
    rows = next(copy.deepcopy(batches))
    next(made.algorithm_1(given, batches))
    batch = given.batch(rows)
    with torch.no_grad():
        features, raw = made.predictor(batch.values, lengths=batch.lengths)
    errors = CrossEntropy(2).errors(raw, given.target[rows])
    last = made.predictor.labelled(features, batch.lengths)
    expected = reward(errors, last, 2)
    found = made.policy.heard[0].reward.view(K, rows.shape[1], -1)
    assert torch.allclose(found, expected[..., None].expand_as(found), atol=1e-6)


def test_meta_gradient_on_series_equals_autograd_through_one_gradient_step():
    """∂E_next/∂a by differentiating through the update itself, in double precision."""
    made = trainer(Listener(), double=True)
    given, encoder, rate = in_double(data()), made.predictor.encoder, 0.05
    rows = torch.arange(2 * 8).view(2, 1, 8).expand(2, K, 8)
    first, second = (given.batch(some) for some in rows)
    target = [given.target[some] for some in rows]
    importance = torch.rand(*first.steps.shape, ENTRIES, dtype=torch.double)

    def loss(batch, labels, tap=None, weight=None):
        weights = [p.clone() for p in encoder.parameters()]
        if weight is not None:
            weights[0] = weight
        values = batch.values.unflatten(1, (8, -1))
        hidden = encoder._run(values, weights) if tap is None else encoder(values, tap)
        last = made.predictor.labelled(hidden.flatten(1, 2), batch.lengths)
        return CrossEntropy(2).errors(made.predictor.infer(last), labels).sum()

    taps = []
    for batch, labels in zip((first, second), target, strict=True):
        tap = made.predictor.make_tap()
        error = loss(batch, labels, tap)
        tap.importance = importance if batch is first else torch.rand_like(batch.values[..., :3])
        encoder.zero_grad()
        error.backward()
        taps.append(tap)
        if batch is first:  # one plain gradient step on W alone
            before = encoder.input_weight.detach().clone()
            encoder.input_weight.data -= rate * encoder.input_weight.grad
    found = importance_gradient(taps[0], taps[1], rate)

    # The same by autograd: Δ per step from the cell written out, W'(a), then E_next.
    a = importance.clone().requires_grad_()
    moved = []
    for k in range(K):
        width = first.values.shape[1] // 8
        weights = [before[k], *(p[k].squeeze(0).detach() for p in list(encoder.parameters())[1:])]
        own = first.values[k].view(8, width, D)

        def loss_of(hidden, k=k):
            places = (first.lengths[k] - 1)[:, None, None].expand(-1, 1, H)
            layer = made.predictor.layers[0]
            raw = hidden.gather(1, places)[:, 0] @ layer.weight[k].T + layer.bias[k]
            return CrossEntropy(2).errors(raw[None], target[0][k][None]).sum()

        _, delta = weighted_gradients("lstm", own, torch.ones_like(own), weights, loss_of)
        taught = torch.cat([own[..., :3] * a[k].view(8, width, 3), own[..., 3:]], -1)
        moved.append(before[k] - rate * torch.einsum("btg,btd->gd", delta, taught))
    (expected,) = torch.autograd.grad(loss(second, target[1], weight=torch.stack(moved)), a)
    assert (found - expected).abs().max() < 1e-10
    assert expected.abs().max() > 1e-6


class TestReplay:
    def test_a_bounded_sample_of_valid_steps_is_stored(self):
        made = trainer(DDPG(batch_size=16, replay_bytes=60_000))
        steps = made.algorithm_1(data(), batches_of(data()))
        for _ in range(12):
            next(steps)
        policy, replay = made.policy, made.policy.replay
        stored = replay.rows[: replay.written]
        assert stored.shape == (12, K, 32)  # two per sampled transition, however long series are
        assert stored.max() < data().lengths.sum()
        assert replay.bytes_per_transition == 4 + 2 * (H + 2 + ENTRIES) + 4
        assert replay.nbytes <= 60_000
        # The paper's exploration for series.
        assert policy.behaviour.random == pytest.approx(0.6 * 0.95**12)
        assert policy.behaviour.mask == pytest.approx(0.15 * 0.95**12)

    def test_padding_is_never_stored(self):
        """Padded steps repeat the last valid one, which would be sampled too often."""
        made = trainer(DDPG(batch_size=512))
        batch = data().batch(torch.arange(8).expand(K, 8))
        state = look(made, data(), torch.arange(8).expand(K, 8)).state
        places = made.policy._places(state)
        assert batch.valid.gather(1, places).all()
        assert set(places[0].tolist()) == set(batch.valid[0].nonzero().flatten().tolist())
        assert torch.equal(places, made.policy._places(state))  # drawn once per batch

    def test_state_action_reward_and_next_state_belong_together(self):
        """What the replay holds was at one place of one batch, and of the next one."""

        class Remembering(DDPG):
            def start(self, task):
                super().start(task)
                self.seen = []

            def learn(self, transition):
                self.seen.append(transition)
                return super().learn(transition)

        made = trainer(Remembering(batch_size=16))
        steps = made.algorithm_1(data(), batches_of(data()))
        for _ in range(6):
            next(steps)
        replay, seen = made.policy.replay, made.policy.seen

        for slot, transition in enumerate(seen):
            for k in range(K):
                action = replay.halves[slot, k, :, H + 2 :].float().abs()
                parts = [replay.rows[slot, k][:, None], replay.reward[slot, k][:, None], action]
                known = [transition.state.rows[k][:, None], transition.reward[k][:, None]]
                known = torch.cat([*known, transition.importance[k]], 1)
                for row in torch.cat(parts, 1):
                    assert ((known - row).abs() < 2e-3).all(1).any()
        for slot, transition in enumerate(seen[:-1]):  # s' of a place is in the next slot
            following = transition.next_state
            kept = replay.halves[slot + 1, :, :, :H].float()
            for k in range(K):
                rows = replay.rows[slot + 1, k].long()
                for i in range(0, 32, 7):
                    same = following.rows[k] == rows[i]
                    apart = (following.features[k][same] - kept[k, i]).abs().amax(1)
                    assert apart.min() < 2e-3


@pytest.mark.parametrize("policy", ["none", "observed", "random", "ddpg", "meta", "gate"])
@pytest.mark.parametrize("per_step", [False, True])
def test_every_policy_trains_series_and_lowers_the_loss(policy, per_step):
    given = data(per_step)
    made = trainer(policy, per_step=per_step)
    made.run(given, every_row(), every_row(), epochs=12)
    assert made.history["loss"][-1] < made.history["loss"][0]
    assert made.history["validation_loss"][-1] < made.history["validation_loss"][0]


def test_a_blind_policy_decides_before_the_forward_pass():
    class Blind(Listener):
        blind = True
        wants_reward = False

        def importance(self, state):
            assert state.features.shape[2] == state.prediction.shape[2] == 0
            return super().importance(state)

    class Late(Listener):
        wants_reward = False

    weights = []
    for policy in (Blind(), Late()):
        made = trainer(policy)
        made.run(data(), every_row(), epochs=3)
        weights.append([p.detach().clone() for p in made.predictor.parameters()])
    for early, late in zip(*weights, strict=True):
        assert torch.allclose(early, late, atol=1e-6)


def test_hiding_leaves_the_inputs_after_the_indicators_alone():
    given = data()
    columns = torch.tensor([0, 1, 2, 0])  # three entries, an indicator; the fifth is a time
    given = replace(given, columns=columns, n_columns=3, placeholder=1.5)
    made = trainer(Listener(), hide=0.5)
    rows = torch.arange(8).expand(K, 8)
    step = look(made, given, rows)
    before = given.batch(rows).values
    hidden = step.state.hidden
    assert 0.3 < hidden.float().mean() < 0.7
    assert torch.equal(step.batch.values[..., 4], before[..., 4])
    assert (step.batch.values[..., 3][hidden[..., 0]] == 1).all()
    assert (step.batch.values[..., :3][hidden] == 1.5).all()
    assert not (step.state.observed & hidden).any()
