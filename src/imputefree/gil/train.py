"""Algorithm 1 of the paper. The numbers in the comments are its line numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import ParameterError
from .batches import Batches
from .importance import ImportanceTap
from .losses import Loss
from .policies import Policy, State, Task, Transition
from .predictors import Predictor
from .rewards import LossReward
from .validation import Keeper, TrainingData

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
    patience: int = 20
    tol: float = 0.0


@dataclass(frozen=True)
class Step:
    """One batch between its forward and its backward pass."""

    state: State
    target: Tensor  # (K, B)
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
        self.optimizer = torch.optim.AdamW(
            predictor.parameters(),
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self.steps = 0
        self.history: dict[str, list[float]] = defaultdict(list)
        self.interrupted = False

    def run(
        self,
        data: TrainingData,
        train_rows: Sequence[Tensor],
        held_out: Sequence[Tensor] | None = None,
        epochs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Train; member k learns from train_rows[k] and is judged on held_out[k].

        Each member ends with the weights that did best on its held-out rows, and training ends
        when no member has improved for `patience` epochs. Ctrl-C ends it too, keeping the best
        so far. Without held-out rows training takes all its epochs and keeps the last weights.
        """
        keeper = None
        if held_out is not None:
            patience, tol = self.settings.patience, self.settings.tol
            keeper = Keeper(self.predictor, self.loss, data, held_out, patience, tol)
        try:
            self._algorithm_1(data, train_rows, keeper, epochs, progress)
        except KeyboardInterrupt:
            self.interrupted = True
        self.policy.stop()
        if keeper is not None:
            keeper.restore()

    def _algorithm_1(
        self,
        data: TrainingData,
        train_rows: Sequence[Tensor],
        keeper: Keeper | None,
        epochs: int | None,
        progress: Progress | None,
    ) -> None:
        policy, task = self.policy, self._task(data)
        policy.start(task)  # line 1
        labels = data.target.cpu() if self.reward.balanced else None
        batches = Batches(train_rows, self.settings.batch_size, self.generator, labels)
        step = self._look(task, data, next(batches))  # lines 2-4
        for epoch in range(epochs or self.settings.max_epochs):  # line 5
            figures: dict[str, list[float]] = defaultdict(list)
            for _ in range(batches.steps):
                importance = self._importance(step.state)  # line 6
                rate = self._update(step, importance)  # lines 7-8
                reward = self._reward(data, step) if policy.wants_reward else None  # lines 9-10
                next_step = self._look(task, data, next(batches))  # lines 11-13
                experience = Transition(
                    step.state, importance, reward, next_step.state, step.tap, rate
                )
                learned = policy.learn(experience)  # line 14
                for name, figure in {"loss": step.loss.item(), **learned}.items():
                    figures[name].append(figure)
                step = next_step  # line 15
            means = {name: sum(values) / len(values) for name, values in figures.items()}
            means["loss"] /= task.members
            go_on = True
            if keeper is not None:
                means["validation_loss"], go_on = keeper.watch(epoch)
            for name, mean in means.items():
                self.history[name].append(mean)
            if progress is not None:
                progress(epoch, means)
            if not go_on:
                break

    def _look(self, task: Task, data: TrainingData, rows: Tensor) -> Step:
        """Forward pass on a batch: features ζ, prediction ŷ, state s = (x, m, ζ, ŷ), error E."""
        rows = rows.to(data.values.device)
        values, target, tap = data.values[rows], data.target[rows], ImportanceTap()
        observed = data.observed[rows] if self.predictor.placeholder is not None else None
        features, raw = self.predictor(values, observed, tap, self.generator)
        errors = self.loss.errors(raw, target) * data.weight[rows]
        # Members share no weights, so the sum over members trains each on its own mean.
        loss = errors.mean(1).sum()
        state = State(task, rows, values, features.detach(), self.loss.predict(raw.detach()))
        return Step(state, target, loss, tap)

    def _importance(self, state: State) -> Tensor | None:
        """a = β(s); what the first batch gets is checked, for policies written by users."""
        importance = self.policy.importance(state)
        if self.steps == 0 and importance is not None:
            _check_importance(importance, state.values)
        return importance

    def _update(self, step: Step, importance: Tensor | None) -> float:
        """W_enc by the weighted gradient, all other weights by the ordinary one."""
        settings = self.settings
        rate = settings.learning_rate * settings.decay_rate ** (self.steps / settings.decay_steps)
        self.optimizer.param_groups[0]["lr"] = rate
        step.tap.importance = importance
        self.optimizer.zero_grad()
        step.loss.backward()
        self.optimizer.step()
        self.steps += 1
        return rate

    @torch.no_grad()
    def _reward(self, data: TrainingData, step: Step) -> Tensor:
        """Per-row reward from ŷ recomputed with the updated weights; (K, B)."""
        observed = step.state.observed if self.predictor.placeholder is not None else None
        features, raw = self.predictor(step.state.values, observed)
        return self.reward(self.loss.errors(raw, step.target), features, self.loss.classes)

    def _task(self, data: TrainingData) -> Task:
        net = self.predictor
        widths = net.n_features, self.loss.outputs, net.members
        return Task(data.values, data.observed, *widths, self.policy_generator)


def _check_importance(importance: Tensor, values: Tensor) -> None:
    if importance.shape != values.shape or not (0 <= importance.min() <= importance.max() <= 1):
        raise ParameterError(
            f"the policy gave an importance of shape {tuple(importance.shape)} between"
            f" {importance.min():.3g} and {importance.max():.3g}",
            f"It must have the shape of the batch, {tuple(values.shape)}, and lie in [0, 1]",
            "Mend importance(state) of the policy",
        )
