"""Algorithm 1 of the paper. The numbers in the comments are its line numbers."""

from __future__ import annotations

import copy
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, repeat
from typing import Any

import torch
from torch import Tensor

from .._progress import EpochReport
from ..errors import ParameterError
from ._adamw import AdamW, denormals_as_zero
from ._checkpoint import Checkpoint, digest, load_state, rng_state, set_rng_state, training_state
from ._importance import ImportanceTap
from ._policies import Policy, State, Task, Transition
from ._predictors import Loss, Predictor, bernoulli_mask
from ._rewards import LossReward
from ._team import Team
from ._training_data import Batch, Batches, TrainingData
from ._validation import EarlyStopping, HeldOut, update_average


@dataclass(frozen=True)
class Settings:
    """Training settings; the docstrings of the estimators explain each."""

    learning_rate: float = 1e-3
    decay_rate: float = 1.0
    decay_steps: int = 1000
    weight_decay: float = 0.0
    batch_size: int = 128
    max_epochs: int = 200
    patience: int = 10
    patience_steps: int = 80  # patience is at least this many steps: small tables, short epochs
    tol: float = 0.0
    hide: float = 0.0
    averaging: float = 0.0


@dataclass(frozen=True)
class Step:
    """One batch between its forward and its backward pass."""

    state: State
    batch: Batch  # what the network gets: entries, then indicators
    loss: Tensor  # E, with its graph
    tap: ImportanceTap  # carries the importance in and Δ out


@dataclass(frozen=True)
class Course:
    """What one run trains with: batches of rows and, if some are held out, what they decide."""

    data: TrainingData
    batches: Batches
    deadline: float | None  # `time.monotonic`
    held_out: HeldOut | None = None
    stopping: EarlyStopping | None = None  # of the networks, or the running mean of their weights


class Trainer:
    """Trains the K networks of a predictor under a policy; `run` again to continue.

    The policy has its own random generator, so that under one seed all policies see the same
    batches, dropout and initial weights. Where several ranks train together, each has some members
    and rows (see `Team`).

    pace : by input, what the steps of `Predictor.paced` are multiplied by; (K, 1, D)
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
        pace: Tensor | None = None,
    ) -> None:
        self.predictor, self.policy, self.reward, self.loss = predictor, policy, reward, loss
        if policy.after_preconditioner and type(predictor.make_tap()) is not ImportanceTap:
            raise ParameterError(
                f"the policy {type(policy).__name__} has after_preconditioner, and X holds series",
                "Steps of recurrent networks cannot be weighted after Adam has scaled them",
                "Choose another policy, or summarise the series into a table",
            )
        self.settings = settings
        self.team = Team(predictor.members)
        self.generator = self.team.generator(generator)
        self.policy_generator = self.team.generator(policy_generator)
        named = list(predictor.named_parameters())
        self._weights: list[Tensor] = [weight for _, weight in named]
        self._averages: list[Tensor] = []
        weights = [p for name, p in named if name.endswith("weight")]
        others = [p for name, p in named if not name.endswith("weight")]  # do not decay
        paces = [] if pace is None else [(predictor.paced, pace)]
        self.optimizer = AdamW([(weights, settings.weight_decay), (others, 0.0)], paces)
        self.average: Predictor | None = None
        self.steps = 0
        self.history: dict[str, list[float]] = defaultdict(list)
        self.interrupted = False
        self._resumed: dict[str, Any] | None = None  # the state of a checkpoint, until used

    def run(
        self,
        data: TrainingData,
        train_rows: Sequence[Tensor],
        held_out: Sequence[Tensor] | None = None,
        epochs: int | None = None,
        progress: EpochReport | None = None,
        checkpoint: Checkpoint | None = None,
        deadline: float | None = None,
    ) -> None:
        """Train member k on train_rows[k] and validate it on held_out[k].

        Each member ends with the weights that did best on its held-out rows, and training ends
        when no member has improved for `patience` epochs. Ctrl-C ends it too, keeping the best
        so far. Without held-out rows training takes all its epochs and keeps the last weights.
        From a checkpoint it continues as if it had never stopped. After `deadline`
        (`time.monotonic`) no new step begins.
        """
        members = self.predictor.members
        self.interrupted, self.predictor.lone = False, None
        self.team.begin(members)
        course = self._course(data, train_rows, held_out, deadline)
        if len(self.team.mine) < members:
            self._keep_here(course, self.team.mine)
        try:
            with checkpoint.blamed() if checkpoint else nullcontext():
                self._train(course, epochs or self.settings.max_epochs, progress, checkpoint)
        except KeyboardInterrupt:
            if not self.team.alone:
                raise  # other ranks may be elsewhere
            self.interrupted = True
            rows, stopping = course.held_out, course.stopping
            if rows and stopping and stopping.best_loss.isinf().all():
                # Within the first epoch: any learned weights beat untrained ones.
                stopping.update(rows.losses(stopping.network), 0)
        self.policy.stop()
        self._restore_best(course.stopping, members)
        if checkpoint is not None and not self.interrupted:
            checkpoint.remove()

    def _course(
        self,
        data: TrainingData,
        train_rows: Sequence[Tensor],
        held_out: Sequence[Tensor] | None,
        deadline: float | None,
    ) -> Course:
        """Which rows teach and which judge; balanced if the reward needs it."""
        settings, labels, unbalanced = self.settings, None, data
        if self.policy.wants_reward and self.reward.balanced:
            labels, data = data.target.cpu(), _restore_shares(data, self.loss.classes)
        lengths = None if data.lengths is None else data.lengths.cpu()
        batches = Batches(
            train_rows, settings.batch_size, self.generator, labels, self.loss.classes, lengths
        )
        if not self.team.alone:
            self._check_team(data, train_rows, batches.size)
        if held_out is None:
            return Course(data, batches, deadline)
        network = self.predictor
        if settings.averaging:
            network = self.average = copy.deepcopy(self.predictor)
            self._averages = list(network.parameters())
        rows = HeldOut(self.loss, unbalanced, held_out, self.team.rows)
        patience = max(settings.patience, math.ceil(settings.patience_steps / batches.steps))
        stopping = EarlyStopping(network, len(held_out), patience=patience, tol=settings.tol)
        return Course(data, batches, deadline, rows, stopping)

    def _train(
        self,
        course: Course,
        epochs: int,
        progress: EpochReport | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        """Epochs of Algorithm 1, until no member improves any more or it is too late."""
        data, batches, stopping = course.data, course.batches, course.stopping
        ranks, late = self.team.ranks, partial(self._is_late, course.deadline)
        states, first = checkpoint.read() if checkpoint else None, 0
        if states is not None:
            self._resumed = states[ranks.rank]
            first = load_state(self, course, self._resumed)
        steps = self._iterations(data, batches)
        for epoch in range(first, epochs):
            with denormals_as_zero():
                figures = _means(_until(late, islice(steps, batches.steps)))
            figures["loss"] = ranks.total(figures["loss"])
            _check_finite(figures["loss"], epoch)
            go_on = True
            if course.held_out is not None and stopping is not None:
                losses = self.team.everyone(course.held_out.losses(stopping.network))
                figures["validation_loss"] = losses.mean().item()
                go_on = stopping.update(losses, epoch)
            for name, figure in figures.items():
                self.history[name].append(figure)
            if progress is not None:
                progress(epoch, figures)
            if not go_on or late():
                break
            kept = stopping.still_searching() if stopping and self.policy.fixed else None
            if kept is not None and len(kept) < self.team.members:
                self.keep_members(course, kept)
                steps = self._look_again(data, batches, kept)
            if checkpoint is not None:
                checkpoint.save_if_due(partial(self._states, course, epoch))

    def _is_late(self, deadline: float | None) -> bool:
        """Whether the deadline is over for any rank."""
        return deadline is not None and self.team.ranks.total(time.monotonic() > deadline) > 0

    def keep_members(self, course: Course, kept: Tensor) -> None:
        """Go on with some members only; the others are done."""
        for part in (course.batches, course.stopping):
            if part is not None:
                part.keep_members(kept)
        self._keep_here(course, self.team.keep_members(kept))

    def _keep_here(self, course: Course, kept: Tensor) -> None:
        """Go on with some of the members of this rank."""
        for part in (self.predictor, self.average, self.optimizer, course.held_out):
            if part is not None:
                part.keep_members(kept)
        if course.stopping is not None:
            course.stopping.here = self.team.mine

    def _restore_best(self, stopping: EarlyStopping | None, members: int) -> None:
        """All members again, each with its best weights; with its last if no row was held out."""
        self.average = None
        self.team.begin(members)
        if stopping is not None:
            stopping.best = self.team.collect(stopping.best)
            stopping.restore(self.predictor)
        elif not self.team.alone:
            weights = list(self.predictor.parameters())
            for weight, whole in zip(weights, self.team.collect(weights), strict=True):
                weight.data = whole
            self.predictor.members = members

    def algorithm_1(self, data: TrainingData, batches: Batches) -> Iterator[dict[str, Any]]:
        """The paper's Algorithm 1, without end; yields the figures of each iteration."""
        policy, task = self.policy, Task.of(data, self.predictor, self.loss, self.policy_generator)
        policy.start(task)  # line 1
        step = self._first_look(task, batches)  # lines 2-4
        while True:  # line 5
            importance = self._importance(step)  # line 6
            rate = self._update(step, importance)  # lines 7-8
            reward = self._reward(step) if policy.wants_reward else None  # lines 9-10
            next_step = self._look(task, next(batches))  # lines 11-13
            states = step.state, importance, reward, next_step.state
            judge = partial(self._judge, data)
            learned = policy.learn(Transition(*states, step.tap, rate, judge))  # line 14
            yield {"loss": step.loss.detach() / self.team.members, **learned}
            step = next_step  # line 15

    def _iterations(self, data: TrainingData, batches: Batches) -> Iterator[dict[str, Any]]:
        """Algorithm 1, or nothing if this rank's members are done and those of others are not."""
        if self.predictor.members:
            return self.algorithm_1(data, batches)
        return repeat({"loss": 0.0})

    def _look_again(
        self, data: TrainingData, batches: Batches, kept: Tensor
    ) -> Iterator[dict[str, Any]]:
        """Algorithm 1 for the members that are left, from the batch that was looked at last."""
        self.looked_at["rows"] = self.looked_at["rows"][kept]
        self._resumed = {"policy": {}, "looked_at": self.looked_at, "rng": rng_state(self)}
        return self._iterations(data, batches)

    def _look(self, task: Task, rows: Tensor) -> Step:
        """Forward pass on a batch: features ζ, prediction ŷ, state s = (x, m, ζ, ŷ), error E."""
        data = task.data
        self.looked_at = {"rows": rows, **rng_state(self)}  # for resuming from a checkpoint
        hide = self._draw_hidden if self.settings.hide and data.columns is not None else None
        share = self.team.share(rows.shape[1])
        donors = None
        if data.donors is not None:
            donors = data.donors.draw(rows, torch.rand(rows.shape, generator=self.generator))
        batch = data.batch(rows, self.predictor.wants_observed, hide, share, donors)
        tap, hidden = self.predictor.make_tap(), None
        if batch.hidden is not None and self.policy.sees_gaps:
            assert data.columns is not None
            hidden = batch.hidden[..., data.columns[: data.entries]]
        entries = batch.values[..., : data.entries]
        nothing = entries[..., :0]
        state = State(task, batch.steps, entries, nothing, nothing, hidden, batch.valid)
        if self.policy.blind:
            tap.importance, tap.early = self._decide(state), True
        features, raw = self.predictor.see(batch, tap, self.generator)
        # `rows` are those of the whole team, so that its gradients add up to that of the mean.
        loss = self._loss_of(data, batch, raw) / rows.shape[1]
        if not self.policy.blind:
            features = features.detach()
            # ŷ of every step of a series, even if only the last has a label
            raw = self.predictor.everywhere(features, raw.detach(), batch)
            state = replace(state, features=features, prediction=self.loss.predict(raw))
        return Step(state, batch, loss, tap)

    def _first_look(self, task: Task, batches: Batches) -> Step:
        """Look at the first batch or, when resuming, again at the one looked at last."""
        state, self._resumed = self._resumed, None
        if state is None:
            return self._look(task, next(batches))
        self.policy.restore(state["policy"])
        set_rng_state(self, state["looked_at"])
        step = self._look(task, state["looked_at"]["rows"])
        set_rng_state(self, state["rng"])  # the policy had drawn more by the time of the write
        return step

    def _loss_of(self, data: TrainingData, batch: Batch, raw: Tensor) -> Tensor:
        """The sum of weighted errors over rows and members.

        Members share no weights, so each gets the gradient of its own sum.
        """
        errors, weight = self.loss.errors(raw, data.target[batch.labelled]), data.weights(batch)
        return (errors if weight is None else errors * weight).sum()

    def _draw_hidden(self, *shape: int) -> Tensor:
        """Which entries a step hides at random: networks get used to gaps."""
        return bernoulli_mask(shape, self.settings.hide, self.generator)

    def _importance(self, step: Step) -> Tensor | None:
        """a = β(s); a blind policy has already decided, before the forward pass."""
        return step.tap.importance if self.policy.blind else self._decide(step.state)

    def _decide(self, state: State) -> Tensor | None:
        """Ask the policy, and check its first answer: it may be a custom one."""
        importance = self.policy.importance(state)
        if self.steps == 0 and importance is not None:
            _check_importance(importance, state)
        return importance

    def _update(self, step: Step, importance: Tensor | None) -> float:
        """Update W_enc by the weighted gradient, all other weights by the ordinary one."""
        settings = self.settings
        rate = settings.learning_rate * settings.decay_rate ** (self.steps / settings.decay_steps)
        later = importance if self.policy.after_preconditioner else None
        step.tap.importance = None if later is not None else importance
        self.optimizer.clear()
        step.loss.backward()
        if not self.team.alone:
            self.team.rows.sum_([p.grad for p in self._weights if p.grad is not None])
        self.optimizer.step(rate)
        if later is not None:
            change = step.tap.change(later)
            self.team.rows.sum_([change])
            self.optimizer.add_to_step(self.predictor.encoder.weight, change, rate)
        self.steps += 1
        if self.average is not None:
            update_average(self._averages, self._weights, settings.averaging, self.steps)
        return rate

    def _judge(self, data: TrainingData, rows: Tensor) -> Tensor:
        """See `Transition`: ∂E/∂W on other rows, without dropout, times Adam's scale; (K, E, D)."""
        batch = data.batch(rows, self.predictor.wants_observed)
        weight = self.predictor.encoder.weight
        loss = self._loss_of(data, batch, self.predictor.see(batch)[1]) / rows.shape[1]
        (gradient,) = torch.autograd.grad(loss, weight)
        return gradient * self.optimizer.per_gradient(weight)

    def _states(self, course: Course, epoch: int) -> list[dict[str, Any]]:
        """What all ranks need to resume, by rank."""
        return self.team.ranks.gather(training_state(self, course, epoch))

    def _check_team(self, data: TrainingData, train_rows: Sequence[Tensor], size: int) -> None:
        """Check that ranks can train together, on batches of this size."""
        some = slice(None, None, max(len(data.values) // 10_000, 1))
        parts = data.values[some], data.target, data.weight, data.lengths, *train_rows
        seen = digest([*parts, *self.predictor.parameters(), repr(self.settings)])
        self.team.check(size, self.policy.fixed, seen)

    @torch.no_grad()
    def _reward(self, step: Step) -> Tensor:
        """Reward per row, from ŷ recomputed with the updated weights; (K, B).

        All steps of a series with one label share its reward; (K, B·T).
        """
        features, raw = self.predictor.see(step.batch)
        features = self.predictor.labelled(features, step.batch.lengths)
        target = step.state.task.data.target[step.batch.labelled]
        reward = self.reward(self.loss.errors(raw, target), features, self.loss.classes)
        return reward.repeat_interleave(step.state.rows.shape[1] // reward.shape[1], 1)


def _until(late: Callable[[], bool], steps: Iterable[Any]) -> Iterable[Any]:
    """The steps that begin before it is too late, but at least one."""
    for step in steps:
        yield step
        if late():
            return


def _means(steps: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Mean of each figure over the steps of an epoch that reported it.

    Only the means leave the device, so that no step waits for another.
    """
    totals: dict[str, Any] = defaultdict(int)
    counts: dict[str, int] = defaultdict(int)
    for step in steps:
        for name, figure in step.items():
            totals[name] = totals[name] + figure  # a figure kept per step would fragment the heap
            counts[name] += 1
    return {name: float(total / counts[name]) for name, total in totals.items()}


def _restore_shares(data: TrainingData, classes: int) -> TrainingData:
    """Row weights that undo the balancing of batches in the loss: probabilities stay calibrated."""
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


def _check_importance(importance: Tensor, state: State) -> None:
    shape = state.values.shape
    shapes = shape, (*shape[:2], state.task.data.width)
    if importance.shape not in shapes or not (0 <= importance.min() <= importance.max() <= 1):
        raise ParameterError(
            f"the policy gave an importance of shape {tuple(importance.shape)} between"
            f" {importance.min():.3g} and {importance.max():.3g}",
            f"It must have the shape of the batch, {tuple(shape)}, and lie in [0, 1]",
            "Fix importance(state) of the policy",
        )
