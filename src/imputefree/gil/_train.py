"""Algorithm 1 of the paper. The numbers in the comments are its line numbers."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..errors import ParameterError
from ._batches import Batches
from ._checkpoint import Checkpoint
from ._importance import ImportanceTap
from ._losses import Loss
from ._noise import denormals_as_zero, switches
from ._policies import Policy, State, Task, Transition
from ._predictors import Predictor
from ._rewards import LossReward
from ._standing import chance, put_back, set_chance, standing
from ._training_data import Batch, TrainingData
from ._validation import Keeper

Progress = Callable[[int, dict[str, float]], None]


@dataclass(frozen=True)
class Settings:
    """How to train; the estimators' docstring explains each."""

    learning_rate: float = 1e-3
    decay_rate: float = 1.0
    decay_steps: int = 1000
    weight_decay: float = 0.0
    batch_size: int = 128
    max_epochs: int = 200
    patience: int = 10
    patience_steps: int = 80  # small tables have short epochs: at least so many steps as well
    tol: float = 0.0
    hide: float = 0.0
    averaging: float = 0.0


@dataclass(frozen=True)
class Step:
    """One batch between its forward and its backward pass."""

    state: State
    batch: Batch  # what the network gets: entries, then indicators
    target: Tensor  # (K, B), or one a step
    loss: Tensor  # E, with the graph behind it
    tap: ImportanceTap  # where the importance goes in and Δ comes out


class Trainer:
    """Trains the K networks of a predictor under a policy; `run` again to go on.

    The policy draws from a generator of its own, so that under one seed all policies see the
    same batches, the same dropout and the same initial weights.
    """

    def __init__(
        self,
        predictor: Predictor,
        policy: Policy,
        reward: LossReward,
        loss: Loss,
        settings: Settings,
        generator: torch.Generator,
        policy_generator: torch.Generator,
    ) -> None:
        self.predictor, self.policy, self.reward, self.loss = predictor, policy, reward, loss
        self.settings = settings
        self.generator, self.policy_generator = generator, policy_generator
        named = list(predictor.named_parameters())
        groups: list[dict[str, Any]] = [  # weights decay; biases and placeholders do not
            {"params": [p for name, p in named if name.endswith("weight")]},
            {"params": [p for name, p in named if not name.endswith("weight")], "weight_decay": 0},
        ]
        self.optimizer = torch.optim.AdamW(
            groups, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )
        self.average: Predictor | None = None
        self.steps = 0
        self.history: dict[str, list[float]] = defaultdict(list)
        self.interrupted = False
        self._saved: dict[str, Any] | None = None  # of a checkpoint that training goes on from

    def run(
        self,
        data: TrainingData,
        train_rows: Sequence[Tensor],
        held_out: Sequence[Tensor] | None = None,
        epochs: int | None = None,
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Train; member k learns from train_rows[k] and is judged on held_out[k].

        Each member ends with the weights that did best on its held-out rows, and training ends
        when no member has improved for `patience` epochs. Ctrl-C ends it too, keeping the best
        so far. Without held-out rows training takes all its epochs and keeps the last weights.
        From a checkpoint it goes on as if it had never stopped.
        """
        self.interrupted = False
        labels, as_given = None, data
        if self.policy.wants_reward and self.reward.balanced:
            labels, data = data.target.cpu(), _restore_shares(data, self.loss.classes)
        lengths = None if data.lengths is None else data.lengths.cpu()
        batches = Batches(
            train_rows, self.settings.batch_size, self.generator, labels, self.loss.classes, lengths
        )
        keeper = None
        if held_out is not None:
            judged = self.predictor
            if self.settings.averaging:
                judged = self.average = copy.deepcopy(self.predictor)
            patience = max(
                self.settings.patience, math.ceil(self.settings.patience_steps / batches.steps)
            )
            keeper = Keeper(judged, self.loss, as_given, held_out, patience, self.settings.tol)
        try:
            self._saved, first = checkpoint.read() if checkpoint else None, 0
            if self._saved is not None:
                first = put_back(self, self._saved, batches, keeper)
            steps = self.algorithm_1(data, batches)
            for epoch in range(first, epochs or self.settings.max_epochs):
                with denormals_as_zero():
                    figures = _means(islice(steps, batches.steps))
                _check_finite(figures["loss"], epoch)
                go_on = True
                if keeper is not None:
                    figures["validation_loss"], go_on = keeper.watch(epoch)
                for name, figure in figures.items():
                    self.history[name].append(figure)
                if progress is not None:
                    progress(epoch, figures)
                if not go_on:
                    break
                if checkpoint is not None:
                    checkpoint.keep(partial(standing, self, epoch, batches, keeper))
        except KeyboardInterrupt:
            self.interrupted = True
            if keeper is not None and keeper.best_loss.isinf().all():
                keeper.watch(0)  # within the first epoch: what there is beats untrained weights
        self.policy.stop()
        self.average = None
        if keeper is not None:
            keeper.restore(self.predictor)
        if checkpoint is not None and not self.interrupted:
            checkpoint.remove()

    def algorithm_1(self, data: TrainingData, batches: Batches) -> Iterator[dict[str, float]]:
        """The paper's Algorithm 1, without end; yields the figures of each iteration."""
        policy, task = self.policy, self._task(data)
        policy.start(task)  # line 1
        step = self._first_look(task, data, batches)  # lines 2-4
        while True:  # line 5
            importance = self._importance(step)  # line 6
            rate = self._update(step, importance)  # lines 7-8
            reward = self._reward(step) if policy.wants_reward else None  # lines 9-10
            next_step = self._look(task, data, next(batches))  # lines 11-13
            experience = Transition(step.state, importance, reward, next_step.state, step.tap, rate)
            learned = policy.learn(experience)  # line 14
            yield {"loss": step.loss.item() / task.members, **learned}
            step = next_step  # line 15

    def _look(self, task: Task, data: TrainingData, rows: Tensor) -> Step:
        """Forward pass on a batch: features ζ, prediction ŷ, state s = (x, m, ζ, ŷ), error E."""
        self.looked_at = {"rows": rows, **chance(self)}  # should it have to look again
        batch = data.batch(rows, with_observed=self.predictor.wants_observed)
        target, tap, hidden = data.target[batch.labelled], self.predictor.make_tap(), None
        if self.settings.hide and data.columns is not None:
            batch, hidden = self._hide(data, batch)
        entries = batch.values[..., : data.entries]
        nothing = entries[..., :0]
        state = State(task, batch.steps, entries, nothing, nothing, hidden, batch.valid)
        if self.policy.blind:
            tap.importance, tap.early = self._decide(state), True
        features, raw = self._forward(batch, tap, self.generator)
        errors = self.loss.errors(raw, target)
        weight = data.weights(batch)
        if weight is not None:
            errors = errors * weight
        # A mean over rows, a sum over members: they share no weights, so each sees its own mean.
        loss = errors.sum() / rows.shape[1]
        if not self.policy.blind:
            features = features.detach()
            prediction = self._every_prediction(batch, features, raw.detach())
            state = replace(state, features=features, prediction=prediction)
        return Step(state, batch, target, loss, tap)

    def _first_look(self, task: Task, data: TrainingData, batches: Batches) -> Step:
        """The first batch or, after a kill, the one that was last looked at, once more."""
        saved, self._saved = self._saved, None
        if saved is None:
            return self._look(task, data, next(batches))
        self.policy.restore(saved["policy"])
        set_chance(self, saved["looked_at"])
        step = self._look(task, data, saved["looked_at"]["rows"])
        set_chance(self, saved["chance"])  # the policy drew more between that look and the kill
        return step

    def _forward(
        self, batch: Batch, tap: ImportanceTap | None, generator: torch.Generator | None
    ) -> tuple[Tensor, Tensor]:
        return self.predictor(batch.values, batch.observed, tap, generator, batch.lengths)

    @torch.no_grad()
    def _every_prediction(self, batch: Batch, features: Tensor, raw: Tensor) -> Tensor:
        """ŷ of every row, and of every step of series, even where only the last has a label."""
        inputs = batch.values, batch.observed, batch.lengths
        return self.loss.predict(self.predictor.everywhere(features, raw, *inputs))

    def _hide(self, data: TrainingData, batch: Batch) -> tuple[Batch, Tensor]:
        """Hide whole columns of single rows at random: the network gets used to gaps."""
        assert data.columns is not None
        assert data.blank is not None
        values, observed = batch.values, batch.observed
        shape = (*values.shape[:2], data.n_columns)
        hidden = switches(shape, self.settings.hide, self.generator).to(values.device)
        hidden = hidden[..., data.columns]
        entries = hidden[..., : data.entries]
        if observed is not None:
            observed = observed & ~F.pad(entries, (0, values.shape[2] - entries.shape[2]))
        gappy, others = values[..., : len(data.columns)], values[..., len(data.columns) :]
        gappy = torch.where(hidden, data.blank, gappy)
        values = torch.cat([gappy, others], -1) if others.shape[2] else gappy
        return replace(batch, values=values, observed=observed), entries

    def _importance(self, step: Step) -> Tensor | None:
        """a = β(s); a policy that needs no features has decided before the forward pass."""
        return step.tap.importance if self.policy.blind else self._decide(step.state)

    def _decide(self, state: State) -> Tensor | None:
        """What the first batch gets is checked, for policies written by users."""
        importance = self.policy.importance(state)
        if self.steps == 0 and importance is not None:
            _check_importance(importance, state.values)
        return importance

    def _update(self, step: Step, importance: Tensor | None) -> float:
        """W_enc by the weighted gradient, all other weights by the ordinary one."""
        settings = self.settings
        rate = settings.learning_rate * settings.decay_rate ** (self.steps / settings.decay_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        step.tap.importance = importance
        self.optimizer.zero_grad()
        step.loss.backward()
        self.optimizer.step()
        self.steps += 1
        if self.average is not None:
            pace = max(1 - settings.averaging, 1 / (1 + self.steps / 2))  # a plain mean at first
            with torch.no_grad():
                torch._foreach_lerp_(
                    list(self.average.parameters()), list(self.predictor.parameters()), pace
                )
        return rate

    @torch.no_grad()
    def _reward(self, step: Step) -> Tensor:
        """Per-row reward from ŷ recomputed with the updated weights; (K, B).

        The steps of a series that has one label share its reward; (K, B·T).
        """
        features, raw = self._forward(step.batch, None, None)
        features = self.predictor.labelled(features, step.batch.lengths)
        reward = self.reward(self.loss.errors(raw, step.target), features, self.loss.classes)
        return reward.repeat_interleave(step.state.rows.shape[1] // reward.shape[1], 1)

    def _task(self, data: TrainingData) -> Task:
        net = self.predictor
        widths = net.n_features, self.loss.predictions, net.members
        entries = slice(data.entries)
        placeholder = 0.0 if data.blank is None else data.blank[0].item()
        table = data.values[:, entries], data.observed[:, entries]
        series = data.lengths is not None
        return Task(*table, *widths, self.policy_generator, placeholder, series)


def _means(steps: Iterable[dict[str, float]]) -> dict[str, float]:
    """Mean of each figure over the steps of an epoch that reported it."""
    figures: dict[str, list[float]] = defaultdict(list)
    for step in steps:
        for name, figure in step.items():
            figures[name].append(figure)
    return {name: sum(values) / len(values) for name, values in figures.items()}


def _restore_shares(data: TrainingData, classes: int) -> TrainingData:
    """Row weights that undo balanced batches in the loss, so that probabilities stay honest."""
    share = torch.bincount(data.target, minlength=classes) / len(data.target)
    weight = classes * share[data.target]
    return replace(data, weight=weight if data.weight is None else weight * data.weight)


def _check_finite(loss: float, epoch: int) -> None:
    if not math.isfinite(loss):
        raise ParameterError(
            f"the training loss became {loss} in epoch {epoch + 1}",
            "Training must stay finite",
            "Lower learning_rate_init, or choose a placeholder closer to 0",
        )


def _check_importance(importance: Tensor, values: Tensor) -> None:
    if importance.shape != values.shape or not (0 <= importance.min() <= importance.max() <= 1):
        raise ParameterError(
            f"the policy gave an importance of shape {tuple(importance.shape)} between"
            f" {importance.min():.3g} and {importance.max():.3g}",
            f"It must have the shape of the batch, {tuple(values.shape)}, and lie in [0, 1]",
            "Mend importance(state) of the policy",
        )
