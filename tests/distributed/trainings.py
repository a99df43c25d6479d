"""Trainings in double precision, each run in one process and by several ranks."""

from __future__ import annotations

import torch

from imputefree.gil import (
    CrossEntropy,
    LossReward,
    Predictor,
    SequencePredictor,
    Settings,
    Trainer,
    TrainingData,
    make_policy,
)

ROWS, D, COLUMNS = 45, 6, 4
SETTINGS = {"batch_size": 7, "learning_rate": 0.01, "max_epochs": 6}
SETTINGS |= {"patience": 2, "patience_steps": 1}
TABLES = {
    "plain": {},
    "hide and dropout": {"hide": 0.3, "dropout": 0.4},
    "observed": {"policy": "observed", "hide": 0.2},
    "random": {"policy": "random", "dropout": 0.2},
    "gate": {"policy": "gate"},
    # of four members, both of the first rank are done epochs before the last of the second
    "early stopping": {
        **{"averaging": 0.9, "held_out": True, "learning_rate": 0.1, "max_epochs": 12},
    },
    "weights": {"weighted": True, "weight_decay": 0.1, "decay_rate": 0.5, "decay_steps": 5},
}
SERIES = {
    "series": {"hide": 0.2, "dropout": 0.3, "held_out": True},
    "series, observed": {"policy": "observed"},
    "series, per step": {"per_step": True, "hide": 0.2, "dropout": 0.3, "held_out": True},
}


def draw(seed=0):
    return torch.Generator().manual_seed(seed)


def table(weighted=False, lengths=None, per_step=False):
    rows = ROWS if lengths is None else int(lengths.sum())
    g = draw()
    observed = torch.rand(rows, D, generator=g, dtype=torch.double) > 0.3
    observed[:, COLUMNS:] = True  # indicators
    blank = torch.zeros(D, dtype=torch.double)
    blank[COLUMNS:] = 1
    values = torch.where(observed, torch.randn(rows, D, generator=g, dtype=torch.double), blank)
    labels = rows if per_step else ROWS
    target = torch.randint(0, 2, (labels,), generator=g)
    weight = torch.rand(labels, generator=g, dtype=torch.double) if weighted else None
    columns = torch.arange(D) % COLUMNS
    about = {"lengths": lengths, "per_step": per_step}
    return TrainingData(values, observed, target, weight, COLUMNS, columns, COLUMNS, **about)


def prepare(members, name, device="cpu"):
    """Trainer, data, training rows and held-out rows of a training by its name."""
    options = (TABLES | SERIES)[name] | {}
    dropout, held_out = options.pop("dropout", 0.0), options.pop("held_out", False)
    weighted, per_step = options.pop("weighted", False), options.pop("per_step", False)
    policy = make_policy(options.pop("policy", "none"))
    if name in SERIES:
        lengths = torch.randint(1, 9, (ROWS,), generator=draw(3))
        data = table(weighted, lengths, per_step)
        net = SequencePredictor(
            members, D, 1, (5, 4), generator=draw(1), dropout=dropout, per_step=per_step
        )
    else:
        data = table(weighted)
        gate = policy.gate_sizes and (8,)
        net = Predictor(members, D, 1, (8, 5), generator=draw(1), dropout=dropout, gate_sizes=gate)
    settings = Settings(**SETTINGS | options)
    net = net.double().to(device)
    trainer = Trainer(net, policy, LossReward(), CrossEntropy(2), settings, draw(1), draw(2))
    shuffled = [torch.randperm(ROWS, generator=draw(member)) for member in range(members)]
    # members hold out unequal numbers of rows, as folds of groups do
    cuts = [10 + member for member in range(members)] if held_out else [0] * members
    train_rows = [rows[cut:] for rows, cut in zip(shuffled, cuts, strict=True)]
    held = [rows[:cut] for rows, cut in zip(shuffled, cuts, strict=True)] if held_out else None
    return trainer, data.to(device), train_rows, held


def train(members, name):
    """The weights and the history of a training by its name."""
    trainer, *rows = prepare(members, name)
    trainer.run(*rows)
    weights = dict(trainer.predictor.state_dict())
    return {"weights": weights, "history": dict(trainer.history)}
