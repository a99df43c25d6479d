"""Algorithm 1 on tables: order, exact updates, hiding, averaging, interruption."""

from __future__ import annotations

import copy
import math
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from imputefree.errors import ImputefreeError
from imputefree.gil import _train as train_module
from imputefree.gil._policies import NoPolicy, ObservedPolicy, Policy
from imputefree.gil._predictors import CrossEntropy, Predictor
from imputefree.gil._rewards import ContrastiveReward, LossReward
from imputefree.gil._train import Settings, Trainer, _means
from imputefree.gil._training_data import Batches, TrainingData
from tests.gil.made import look

ROWS, D, K = 40, 6, 2


def data(indicators=0):
    g = torch.Generator().manual_seed(0)
    values = torch.randn(ROWS, D, generator=g)
    observed = torch.rand(ROWS, D, generator=g) > 0.3
    observed[:, D - indicators :] = True
    target = torch.randint(0, 2, (ROWS,), generator=g)
    columns = torch.arange(D) % (D - indicators)
    blank = torch.zeros(D)
    blank[D - indicators :] = 1.0
    values = torch.where(observed, values, blank)
    own = D - indicators
    return TrainingData(values, observed, target, None, own, columns, own)


def trainer(policy=None, reward=None, **settings):
    net = Predictor(K, D, 1, (8,), generator=torch.Generator().manual_seed(0))
    generators = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    settings = Settings(**{"batch_size": 10, "learning_rate": 0.01} | settings)
    reward = reward or LossReward()
    return Trainer(net, policy or NoPolicy(), reward, CrossEntropy(2), settings, *generators)


def every_row():
    return [torch.arange(ROWS)] * K


def test_one_iteration_is_the_weighted_gradient_through_adam():
    """Against the row-by-row definition and the formula of Adam's first step."""
    table, made = data(), trainer(ObservedPolicy())
    net = copy.deepcopy(made.predictor).double()
    batches = Batches(every_row(), 10, torch.Generator().manual_seed(5))
    rows = next(copy.deepcopy(batches))
    next(made.algorithm_1(table, batches))
    gradient = torch.zeros_like(net.encoder.weight)
    for k in range(K):
        for row in rows[k]:
            raw = net(table.values[row].double().expand(K, 1, D))[1]
            sign = 2.0 * table.target[row] - 1
            loss = torch.log1p(torch.exp(-sign * raw[k, 0, 0]))
            (g,) = torch.autograd.grad(loss / rows.shape[1], net.encoder.weight)
            gradient[k] += g[k] * table.observed[row]
    expected = net.encoder.weight - 0.01 * gradient / (gradient.abs() + 1e-8)
    moved = (gradient.abs() > 1e-6) | (gradient == 0)  # elsewhere float32 decides Adam's sign
    assert (made.predictor.encoder.weight - expected)[moved].abs().max() < 1e-4


def test_reward_is_measured_after_the_update_and_next_state_on_the_next_batch():
    class Listener(Policy):
        wants_reward = True
        heard = ()

        def importance(self, state):
            return None

        def learn(self, transition):
            self.heard = (*self.heard, transition)
            return {}

    made, table = trainer(Listener()), data()
    batches = Batches(every_row(), 10, torch.Generator().manual_seed(5))
    plan = copy.deepcopy(batches)
    steps = made.algorithm_1(table, batches)
    next(steps)
    (heard,) = made.policy.heard
    rows, next_rows = next(plan), next(plan)
    assert torch.equal(heard.state.rows, rows)
    assert torch.equal(heard.next_state.rows, next_rows)
    with torch.no_grad():  # the weights have been updated by now
        features, raw = made.predictor(table.values[rows])
        errors = made.loss.errors(raw, table.target[rows])
        next_features, _ = made.predictor(table.values[next_rows])
    assert torch.allclose(heard.reward, -errors)
    assert not torch.allclose(heard.state.features, features)
    assert torch.allclose(heard.next_state.features, next_features)
    assert torch.equal(heard.next_state.observed, table.observed[next_rows])


def test_policies_see_entries_and_indicators_always_have_importance_one():
    class Nothing(Policy):
        def importance(self, state):
            assert state.values.shape[2] == state.task.values.shape[1] == D - 2
            return torch.zeros_like(state.values)

    made = trainer(Nothing())
    before = made.predictor.encoder.weight.detach().clone()
    made.run(data(indicators=2), every_row(), epochs=1)
    change = (made.predictor.encoder.weight - before).abs().amax((0, 1))
    assert (change[: D - 2] == 0).all()
    assert (change[D - 2 :] > 0).all()


def test_hiding_blanks_whole_columns_and_switches_indicators_on():
    made, table = trainer(ObservedPolicy(), hide=0.5), data(indicators=2)
    batches = Batches(every_row(), ROWS, torch.Generator())
    step = look(made, table, next(batches))
    hidden = step.state.hidden
    assert 0.4 < hidden.float().mean() < 0.6
    original = table.values[step.state.rows]
    assert (step.state.values[hidden] == 0).all()
    assert torch.equal(step.state.values[~hidden], original[..., : D - 2][~hidden])
    assert not step.state.observed[hidden].any()
    for indicator, column in ((D - 2, 0), (D - 1, 1)):
        assert (step.batch.values[..., indicator][hidden[..., column]] == 1).all()


def test_hidden_entries_use_the_learned_placeholder():
    table = data()
    made = trainer(ObservedPolicy(), hide=0.5)
    made.predictor = Predictor(
        K, D, 1, (8,), generator=torch.Generator().manual_seed(0), learned_placeholder=True
    )
    with torch.no_grad():
        made.predictor.placeholder.fill_(9.0)
    batches = Batches(every_row(), ROWS, torch.Generator())
    step = look(made, table, next(batches))
    assert (step.tap.inputs[step.state.hidden] == 9).all()


def test_averaged_weights_are_validated_and_kept():
    table, rows = data(), [torch.arange(0, 30)] * K
    held_out = [torch.arange(30, ROWS)] * K
    plain, averaged = trainer(max_epochs=3), trainer(max_epochs=3, averaging=0.9)
    path = []
    original = averaged._update

    def update(step, importance):
        rate = original(step, importance)
        path.append(averaged.predictor.encoder.weight.detach().clone())
        return rate

    averaged._update = update
    start = averaged.predictor.encoder.weight.detach().clone()
    for made in (plain, averaged):
        made.run(table, rows, held_out)
    mean, means = start, []
    for t, weight in enumerate(path, start=1):
        mean = mean + max(0.1, 1 / (1 + t / 2)) * (weight - mean)
        means.append(mean)
    kept = averaged.predictor.encoder.weight
    ends_of_epochs = means[2::3]  # 30 rows in batches of 10
    for k in range(K):
        assert any(torch.allclose(kept[k], mean[k], atol=1e-6) for mean in ends_of_epochs)
    assert not torch.equal(kept, plain.predictor.encoder.weight)


def test_learning_rate_decays_smoothly_and_only_weights_shrink():
    made = trainer(decay_rate=0.5, decay_steps=4, weight_decay=0.1)
    steps = made.algorithm_1(data(), Batches(every_row(), 10, torch.Generator()))
    rates, step = [], made.optimizer.step
    made.optimizer.step = lambda rate: (rates.append(rate), step(rate))
    for _ in range(5):
        next(steps)
    assert rates == pytest.approx([0.01 * 0.5 ** (number / 4) for number in range(5)])
    names = {id(p): name for name, p in made.predictor.named_parameters()}
    decays = {
        names[id(p)].rsplit(".")[-1]: decay for ps, decay in made.optimizer.groups for p in ps
    }
    assert decays == {"weight": 0.1, "bias": 0.0}


def test_sample_weights_scale_each_rows_gradient():
    table = data()
    weight = torch.rand(ROWS) + 0.5
    weighted = TrainingData(table.values, table.observed, table.target, weight)
    made = trainer()
    step = look(made, weighted, torch.arange(ROWS).expand(K, -1))
    raw = made.predictor(table.values.expand(K, -1, -1))[1]
    errors = made.loss.errors(raw, table.target.expand(K, -1))
    assert torch.allclose(step.loss, (errors * weight).mean(1).sum())


def test_contrastive_reward_gets_balanced_batches():
    class Listener(Policy):
        wants_reward = True

        def importance(self, state):
            self.rows = state.rows
            return None

    made, table = trainer(Listener(), ContrastiveReward()), data()
    made.run(table, every_row(), epochs=1)
    labels = table.target[made.policy.rows]
    half = labels.shape[1] // 2
    assert (labels[:, :half] == 0).all()
    assert (labels[:, half:] == 1).all()


def test_balanced_batches_leave_the_shares_of_classes_in_the_loss():
    class Rewarded(NoPolicy):
        wants_reward = True

    table = replace(data(), target=(torch.arange(ROWS) % 4 == 0).long())
    made = trainer(Rewarded(), ContrastiveReward(), learning_rate=1e-12)
    with torch.no_grad():  # logit 1 for every row
        for parameter in made.predictor.parameters():
            parameter.zero_()
        made.predictor.layers[-1].bias.fill_(1.0)
    made.run(table, every_row(), epochs=1)
    expected = 0.75 * math.log1p(math.e) + 0.25 * math.log1p(1 / math.e)
    assert made.history["loss"] == [pytest.approx(expected, rel=1e-5)]


class Impatient(Policy):
    """Ctrl-C at this step."""

    def __init__(self, stop_at):
        self.left = stop_at

    def importance(self, state):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return None


def same_weights(one, other):
    pairs = zip(one.predictor.parameters(), other.predictor.parameters(), strict=True)
    return all(torch.equal(left, right) for left, right in pairs)


def test_interruption_keeps_the_best_weights_so_far():
    rows, held_out = [torch.arange(0, 30)] * K, [torch.arange(30, ROWS)] * K
    stopped, whole = trainer(Impatient(14)), trainer(max_epochs=4)
    stopped.run(data(), rows, held_out)
    whole.run(data(), rows, held_out)
    assert stopped.interrupted
    assert len(stopped.history["validation_loss"]) == 4  # 13 steps are four epochs of three
    assert same_weights(stopped, whole)
    early = trainer(Impatient(3))  # within the first epoch
    early.run(data(), rows, held_out)
    assert not same_weights(early, trainer())


def test_training_stops_after_patience_but_not_before_enough_steps():
    made = trainer(max_epochs=200, patience=3, patience_steps=30, learning_rate=1e-12)
    made.run(data(), [torch.arange(0, 30)] * K, [torch.arange(30, ROWS)] * K)
    assert 10 <= len(made.history["loss"]) <= 14  # 30 steps are ten epochs of three


def test_gradients_of_all_ranks_are_added_before_the_step():
    """Two ranks that see the same rows: every gradient twice."""

    class Twins:
        def sum_(self, tensors):
            for tensor in tensors:
                tensor *= 2

    table, rows, gradients = data(), torch.arange(10).expand(K, -1), []
    for alone in (True, False):
        made = trainer()
        step = look(made, table, rows)
        made.team = SimpleNamespace(alone=alone, rows=Twins())
        made._update(step, None)
        gradients.append([parameter.grad for parameter in made.predictor.parameters()])
    for one, two in zip(*gradients, strict=True):
        assert torch.equal(2 * one, two)
        assert one.abs().max() > 0


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        (lambda ones: ones, True),
        (lambda ones: 0 * ones, True),
        (lambda ones: ones[..., :1], False),
        (lambda ones: ones.index_fill(1, torch.tensor([3]), -0.01), False),
        (lambda ones: ones.index_fill(1, torch.tensor([3]), 1.01), False),
        (lambda ones: ones * math.nan, False),
    ],
)
def test_the_first_answer_of_a_custom_policy_is_checked(answer, accepted):
    class Custom(Policy):
        def importance(self, state):
            return answer(torch.ones_like(state.values))

    refused = nullcontext() if accepted else pytest.raises(ImputefreeError, match="importance")
    with refused:
        trainer(Custom(), batch_size=ROWS).run(data(), every_row(), epochs=1)  # of one step


@pytest.mark.parametrize(("stop_at", "kept"), [(4, True), (10**6, False)])
def test_a_checkpoint_is_removed_unless_training_was_interrupted(stop_at, kept):
    class Kept:
        removed = False

        def remove(self):
            self.removed = True

        def __getattr__(self, name):
            return lambda *args, **how: nullcontext() if name == "blamed" else None

    checkpoint = Kept()
    trainer(Impatient(stop_at)).run(data(), every_row(), epochs=2, checkpoint=checkpoint)
    assert checkpoint.removed != kept


def test_figures_of_an_epoch_are_means_of_the_steps_that_told_them():
    steps = [{"loss": torch.tensor(1.0)}, {"loss": torch.tensor(3.0), "q": 5.0}, {"loss": 2.0}]
    assert _means(steps) == {"loss": 2.0, "q": 5.0}


@pytest.mark.parametrize(("deadline", "steps"), [(None, 12), (109.0, 12), (105.0, 6), (99.0, 1)])
def test_no_step_begins_after_the_deadline(deadline, steps, monkeypatch):
    """A step takes a second; four make an epoch."""
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(train_module, "time", clock)
    made, update = trainer(), Trainer._update

    def slowly(self, *how):
        clock.now += 1.0 if self.steps < 9 or deadline != 109.0 else 0.0
        return update(self, *how)

    monkeypatch.setattr(Trainer, "_update", slowly)
    made.run(data(), every_row(), epochs=3, deadline=deadline)
    assert made.steps == steps
    assert len(made.history["loss"]) == math.ceil(steps / 4)


class Waiting(Policy):
    """Does nothing, but is not `fixed`: all members stay until the last one is done."""

    def importance(self, state):
        return None


@pytest.mark.parametrize(("policy", "left"), [(NoPolicy, 1), (Waiting, 2)])
def test_members_that_are_done_leave_if_the_policy_allows_it(policy, left):
    """The first member is judged on wrong labels, which it does worse and worse."""
    table = replace(data(), target=(data().values[:, 0] > 0).long())
    table.target[15:20] = 1 - table.target[15:20]
    rows = [torch.arange(0, 15), torch.arange(20, 35)]
    held_out = [torch.arange(15, 20), torch.arange(35, 40)]
    options = {"max_epochs": 12, "patience": 3, "patience_steps": 1, "learning_rate": 0.03}
    made, members = trainer(policy(), **options), []
    made.run(table, rows, held_out, progress=lambda *_: members.append(made.predictor.members))
    assert members[0] == K
    assert members[-1] == left
    assert made.predictor.members == K
    assert all(len(parameter) == K for parameter in made.predictor.parameters())


@pytest.mark.parametrize("alone", [True, False])
def test_ranks_are_compared_where_there_are_several(alone, monkeypatch):
    compared = []
    monkeypatch.setattr(Trainer, "_check_team", lambda *given: compared.append(given[-1]))
    made = trainer()
    made.team = SimpleNamespace(alone=alone)
    made._course(data(), every_row(), None, None)
    assert compared == ([] if alone else [10])  # rows of a batch
