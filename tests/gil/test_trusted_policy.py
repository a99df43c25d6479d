"""Importance after Adam's scale, and its gradient on trusted rows, against their definitions."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from imputefree.errors import ParameterError
from imputefree.gil._adamw import AdamW
from imputefree.gil._policies import FixedPolicy, Transition
from imputefree.gil._predictors import CrossEntropy, Predictor
from imputefree.gil._rewards import LossReward
from imputefree.gil._sequence_predictor import SequencePredictor
from imputefree.gil._train import Settings, Trainer
from imputefree.gil._training_data import TrainingData
from imputefree.gil._trusted_policy import FixedImportance, TrustedPolicy, agreement
from tests.gil.made import look

ROWS, D, ENTRIES, K, RATE, DECAY = 40, 6, 4, 2, 0.02, 0.5
BATCHES = [
    torch.stack([torch.arange(5 * t, 5 * t + 5) + 2 * k for k in range(K)]) for t in range(4)
]
JUDGES = torch.arange(30, ROWS)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def data() -> TrainingData:
    """Four columns; the last two inputs are indicators of the first two."""
    target = (draw(ROWS, seed=1) > 0).long()
    columns = torch.tensor([0, 1, 2, 3, 0, 1])
    return TrainingData(draw(ROWS, D), torch.ones(ROWS, D) > 0, target, None, ENTRIES, columns, 4)


class Given(FixedPolicy):
    """Importance of the rows of each step as it is listed; (K, B, D) or (K, B, entries) each."""

    after_preconditioner = True

    def __init__(self, *steps):
        self.steps = list(steps)

    def importance(self, state):
        return self.steps.pop(0)


def trained(*importance) -> tuple[Trainer, torch.Tensor, object]:
    """A small network after one step per importance; the weights before, and the last step."""
    net = Predictor(
        K, D, 1, (5,), generator=torch.Generator().manual_seed(0), linear_path=True
    ).double()
    before = net.encoder.weight.detach().clone()
    settings = Settings(learning_rate=RATE, weight_decay=DECAY)
    generators = torch.Generator(), torch.Generator()
    trainer = Trainer(net, Given(*importance), LossReward(), CrossEntropy(2), settings, *generators)
    for rows in BATCHES[: len(importance)]:
        step = look(trainer, data(), rows)
        trainer._update(step, trainer._importance(step))
    return trainer, before, step


def loss_on_judges(trainer: Trainer) -> torch.Tensor:
    """Mean error of the trusted rows, summed over members."""
    table = data()
    raw = trainer.predictor(table.values[JUDGES].expand(K, -1, -1))[1].squeeze(-1)
    sign = 2.0 * table.target[JUDGES] - 1
    return torch.log1p(torch.exp(-sign * raw)).mean(1).sum()


def random_importance(width=D):
    return [torch.rand(K, 5, width, generator=torch.Generator().manual_seed(t)).double()
            for t in range(3)]  # fmt: skip


@pytest.mark.parametrize("width", [D, ENTRIES])
def test_steps_are_adams_with_the_mean_of_weighted_and_the_square_of_plain_gradients(width):
    """Against the formula, row by row; what is not covered has importance 1."""
    steps = random_importance(width)
    trainer, weight, _ = trained(*steps)
    net = Predictor(K, D, 1, (5,), generator=torch.Generator().manual_seed(0), linear_path=True)
    net = net.double()
    others = torch.optim.AdamW(
        [
            {"params": [layer.weight for layer in net.layers], "weight_decay": DECAY},
            {"params": [layer.bias for layer in [*net.layers, net.encoder]], "weight_decay": 0.0},
        ],
        lr=RATE,
    )
    mean = square = torch.zeros_like(weight)
    table = data()
    for t, importance in enumerate(steps, start=1):
        full = torch.ones(K, 5, D).double()
        full[..., :width] = importance
        with torch.no_grad():
            net.encoder.weight.copy_(weight)
        plain, weighted = torch.zeros_like(weight), torch.zeros_like(weight)
        others.zero_grad()
        for k in range(K):
            for b, row in enumerate(BATCHES[t - 1][k]):
                raw = net(table.values[row].expand(K, 1, D))[1][k, 0, 0]
                loss = torch.log1p(torch.exp(-(2.0 * table.target[row] - 1) * raw)) / 5
                net.encoder.weight.grad = None
                loss.backward()
                plain += net.encoder.weight.grad
                weighted += net.encoder.weight.grad * full[k, b]
        mean = 0.9 * mean + 0.1 * weighted
        square = 0.999 * square + 0.001 * plain**2
        scaled = mean / (1 - 0.9**t) / ((square / (1 - 0.999**t)).sqrt() + 1e-8)
        weight = weight * (1 - RATE * DECAY) - RATE * scaled
        others.step()
    assert (trainer.predictor.encoder.weight - weight).abs().max() < 1e-12


def test_gradient_of_importance_equals_finite_differences_through_one_adamw_step():
    """∂E/∂a of the last step, where E is the loss on trusted rows after that step."""
    *first, last = random_importance()
    trainer, _, step = trained(*first, last)
    rows = JUDGES.expand(K, -1)
    pull = trainer._judge(data(), rows)
    by_entry = -RATE * step.tap.inputs * (step.tap.delta @ pull)

    def loss(change):
        return loss_on_judges(trained(*first, last + change)[0]).item()

    def slope(direction, by=1e-5):
        return (loss(by * direction) - loss(-by * direction)) / (2 * by)

    one = torch.zeros_like(last)
    for k, b, j in ((0, 0, 0), (1, 4, 3), (0, 2, 5), (1, 1, 4)):  # of entries and indicators
        one.zero_()[k, b, j] = 1.0
        assert slope(one) == pytest.approx(by_entry[k, b, j].item(), rel=1e-5, abs=1e-11)
    teaches = torch.tensor([[1.0, 0.0, 1.0, 1.0, 0.0]] * K).double()
    by_input = -RATE * agreement(step.tap, pull, teaches)
    for j in range(D):  # members and rows share an importance
        one.zero_()[..., j] = teaches
        assert slope(one) == pytest.approx(by_input[j].item(), rel=1e-5, abs=1e-11)
    assert by_input.abs().min() > 1e-7


@pytest.mark.parametrize("pace", [None, torch.tensor([0.5, 1.0, 2.0])])
def test_adding_to_a_step_leaves_the_square_alone(pace):
    weight = nn.Parameter(torch.ones(3))
    optimizer = AdamW([([weight], 0.0)], [] if pace is None else [(weight, pace)])
    weight.grad = torch.tensor([1.0, -2.0, 0.5])
    optimizer.step(0.1)
    optimizer.add_to_step(weight, -weight.grad, 0.1)  # importance 0
    (_, (square,)) = optimizer.moments[0]
    assert weight.detach() == pytest.approx(torch.ones(3), abs=1e-6)
    assert square == pytest.approx(0.001 * weight.grad**2)


def test_importance_zero_leaves_nothing_but_decay():
    importance = torch.ones(D).double()
    importance[[1, 5]] = 0.0
    trainer, before, _ = trained(*[importance.expand(K, 5, D)] * 3)
    change = trainer.predictor.encoder.weight - before * (1 - RATE * DECAY) ** 3
    assert change[..., [1, 5]].abs().max() < 1e-12
    assert change[..., [0, 2, 3, 4]].abs().amax((0, 1)).min() > 1e-3


def test_rows_of_the_judging_group_do_not_teach_and_the_importance_follows_the_loss():
    policy = TrustedPolicy(start_at=0.5, rate=0.1)
    policy.judges = torch.arange(ROWS) % 2  # two groups
    trainer, _, step = trained(random_importance()[0])
    asked = []

    def judge(rows):
        asked.append(rows)
        return trainer._judge(data(), rows)

    policy.start(step.state.task)
    transition = Transition(step.state, None, None, step.state, step.tap, RATE, judge)
    policy.learn(transition)
    (rows,) = asked
    number = int(policy.judges[rows].unique())  # one group judges, alone
    assert rows.shape == (K, ROWS // 2)
    teaches = (policy.judges[step.state.rows] != number).double()
    by_input = agreement(step.tap, trainer._judge(data(), rows), teaches)
    assert torch.equal(policy.logits[:D].detach().sign(), by_input.sign())  # one input per source
    assert (policy.logits[D:] == 0).all()  # columns 2 and 3 have no indicator
    assert policy.by_column().shape == (4, 2)
    assert policy.by_column()[2:, 1] == pytest.approx([float("nan")] * 2, nan_ok=True)
    assert policy.by_input().shape == (D,)


def test_series_are_refused():
    net = SequencePredictor(1, D, 1, (4,), generator=torch.Generator().manual_seed(0))
    generators = torch.Generator(), torch.Generator()
    with pytest.raises(ParameterError, match="recurrent"):
        Trainer(
            net,
            FixedImportance(torch.ones(D)),
            LossReward(),
            CrossEntropy(2),
            Settings(),
            *generators,
        )


def test_the_slope_of_a_logit_is_that_of_its_importance():
    """∂E/∂logit = ∂E/∂a · a (1 - a), all sources on the scale of their mean."""
    policy = TrustedPolicy()
    policy.judges = torch.zeros(ROWS, dtype=torch.long)
    policy.judges[:20] = 1
    trainer, _, step = trained(random_importance()[0])
    policy.start(step.state.task)
    with torch.no_grad():
        policy.logits.copy_(torch.linspace(-2.0, 3.0, 8))
    asked = []

    def judge(rows):
        asked.append(trainer._judge(data(), rows))
        return asked[0]

    a = policy.logits.detach().sigmoid()
    told = policy.learn(Transition(step.state, None, None, step.state, step.tap, RATE, judge))
    assert told["importance"] == pytest.approx(a.mean().item())
    slopes = []
    for number in (0, 1):  # whichever judged
        teaches = (policy.judges[step.state.rows] != number).double()
        by_source = torch.zeros(8).double()
        by_source[:D] = agreement(step.tap, asked[0], teaches)
        slope = -by_source * a * (1 - a)
        slopes.append(slope / slope.abs().mean().clamp_min(1e-30))
    assert any(torch.allclose(policy.logits.grad, slope) for slope in slopes)
    assert policy.logits.grad.abs().mean().item() == pytest.approx(1.0)
