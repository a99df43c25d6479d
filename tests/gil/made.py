"""Synthetic tasks and shortcuts shared by the tests of the method."""

from __future__ import annotations

import numpy as np
import torch

from imputefree import GILClassifier
from imputefree.gil._importance import ImportanceTap
from imputefree.gil._policies import State, Task, Transition
from imputefree.gil._train import Step, Trainer
from imputefree.gil._training_data import TrainingData

USEFUL, MISLEADING = slice(0, 4), slice(4, 24)


def misleading_table(rows: int, seed: int, misled: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Four columns always tell the class; twenty tell it in some rows and are loud noise in the
    others, a fraction `misled`. A 25th column is missing exactly in those rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    noisy = rng.random(rows) < misled
    X = rng.normal(size=(rows, 25)) + 0.4 * (2 * y - 1)[:, None]
    X[noisy, MISLEADING] = 2 * rng.normal(size=(noisy.sum(), 20))
    X[:, 24] = np.where(noisy, np.nan, 0.0)
    return X, y


def fit_on_misleading_table(policy, seed: int) -> GILClassifier:
    """A network as in the paper: one member, no indicator, a fixed number of epochs."""
    return GILClassifier(
        policy=policy,
        n_members=1,
        hidden_layer_sizes=(32,),
        linear_path=False,
        dropout=0.0,
        weight_decay=0.0,
        indicator=False,
        numeric_encoding="plain",
        hide=0.0,
        early_stopping=False,
        learning_rate_init=1e-3,
        batch_size=64,
        max_iter=150,
        random_state=seed,
    ).fit(*misleading_table(200, seed))


def task_of(rows=50, inputs=3, features=2, outputs=2, members=1, seed=0) -> Task:
    g = torch.Generator().manual_seed(seed)
    values = torch.randn(rows, inputs, generator=g)
    observed = torch.rand(rows, inputs, generator=g) > 0.3
    data = TrainingData(values, observed, torch.empty(0))
    return Task(data, features, outputs, members, g)


def state_of(task: Task, batch: int, seed: int = 0) -> State:
    g = torch.Generator().manual_seed(seed)
    rows = torch.randint(0, len(task.values), (task.members, batch), generator=g)
    shape = (task.members, batch)
    return State(
        task,
        rows,
        task.values[rows],
        torch.randn(*shape, task.features, generator=g),
        torch.rand(*shape, task.outputs, generator=g),
    )


def transition_of(state: State, action, reward, next_state: State) -> Transition:
    return Transition(state, action, reward, next_state, ImportanceTap(), 1e-3)


def look(trainer: Trainer, data: TrainingData, rows: torch.Tensor) -> Step:
    """The forward pass of a trainer whose policy has started."""
    task = Task.of(data, trainer.predictor, trainer.loss, trainer.policy_generator)
    trainer.policy.start(task)
    return trainer._look(task, rows)
