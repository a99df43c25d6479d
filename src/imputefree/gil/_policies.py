"""Policies decide the importance of each entry of each training row.

A policy is an object with the methods of `Policy`; only `importance` must be defined. Policies
work while a network trains, not at prediction time.

A custom policy that trusts columns with few gaps more than others:

>>> class TrustFullColumns(Policy):
...     def start(self, task):
...         self.share = task.observed.float().mean(0)               # (D,)
...     def importance(self, state):
...         return self.share.expand_as(state.values)                # (K, B, D)
>>> import numpy as np
>>> from imputefree import GILClassifier
>>> X = np.random.default_rng(0).normal(size=(60, 3)); X[::3, 1] = np.nan
>>> clf = GILClassifier(policy=TrustFullColumns(), numeric_encoding="plain", max_iter=2)
>>> clf.fit(X, X[:, 0] > 0).policy_.share.round(decimals=2)
tensor([1.0000, 0.6700, 1.0000])

To make a policy available by name, add it to `POLICIES` in `imputefree.gil`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from ._importance import ImportanceTap
from ._predictors import Loss, MemberMlp, Predictor, bernoulli_mask
from ._training_data import TrainingData


@dataclass(frozen=True)
class Task:
    """What a policy knows before training starts.

    values (n, D) and observed (n, D) are the entries of the training table as network inputs,
    without indicators (for series: one row per step, all series one after the other); `at` gives
    them for some rows, which takes less memory. width is D, features E and outputs O are the widths
    of ζ and ŷ, members is K, generator the policy's own random generator (on the CPU).
    """

    data: TrainingData
    features: int
    outputs: int
    members: int
    generator: torch.Generator

    @classmethod
    def of(
        cls, data: TrainingData, predictor: Predictor, loss: Loss, generator: torch.Generator
    ) -> Task:
        """The task of training this predictor on these rows."""
        widths = predictor.n_features, loss.predictions
        return cls(data, *widths, predictor.members, generator)

    def at(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Values and observed mask of some rows; (…) -> (…, D) each."""
        values, observed = self.data.inputs(rows)
        assert observed is not None
        return values[..., : self.data.entries], observed[..., : self.data.entries]

    @cached_property
    def _everything(self) -> tuple[Tensor, Tensor]:
        return self.at(torch.arange(len(self.data.values), device=self.device))

    @property
    def values(self) -> Tensor:
        """Entries of all rows, the placeholder where missing; (n, D)."""
        return self._everything[0]

    @property
    def observed(self) -> Tensor:
        """Which entries are observed; (n, D) bool."""
        return self._everything[1]

    @property
    def width(self) -> int:
        """How many inputs hold entries of the table."""
        return self.data.width if self.data.entries is None else self.data.entries

    @property
    def placeholder(self) -> float:
        """The value of missing entries."""
        return self.data.placeholder

    @property
    def series(self) -> bool:
        """Whether rows are steps of series."""
        return self.data.lengths is not None

    @property
    def device(self) -> torch.device:
        """Where the rows are."""
        return self.data.values.device

    @property
    def dtype(self) -> torch.dtype:
        """The type of inputs and weights."""
        return self.data.values.dtype

    @property
    def state_size(self) -> int:
        """Width of the joined state (x, m, ζ, ŷ)."""
        return 2 * self.width + self.features + self.outputs


@dataclass(frozen=True)
class State:
    """What a policy sees of one batch: s = (x, m, ζ, ŷ), without gradients.

    Shapes: rows (K, B) indices in the training table, values (K, B, D) (a learned placeholder
    shows as 0), features (K, B, E), prediction (K, B, O), hidden (K, B, D) the entries hidden
    from the network in this batch. For series, B counts the steps of all rows, and `valid` (K, B)
    is False at padding, where importance has no effect. A `blind` policy gets features and
    predictions of width 0.
    """

    task: Task
    rows: Tensor
    values: Tensor
    features: Tensor
    prediction: Tensor
    hidden: Tensor | None = None
    valid: Tensor | None = None

    @cached_property
    def observed(self) -> Tensor:
        """m, True = observed; (K, B, D). Gathered only on demand."""
        observed = self.task.at(self.rows)[1]
        return observed if self.hidden is None else observed & ~self.hidden

    @cached_property
    def joined(self) -> Tensor:
        """The four parts side by side; (K, B, 2D + E + O)."""
        observed = self.observed.to(self.values.dtype)
        return torch.cat([self.values, observed, self.features, self.prediction], -1)

    def at(self, places: Tensor) -> State:
        """The state at some places of the batch; (K, b) -> a State of (K, b, ·)."""

        def pick(tensor: Tensor) -> Tensor:
            return tensor.gather(1, places[..., None].expand(-1, -1, tensor.shape[2]))

        return State(
            self.task,
            self.rows.gather(1, places),
            pick(self.values),
            pick(self.features),
            pick(self.prediction),
            None if self.hidden is None else pick(self.hidden),
        )


@dataclass(frozen=True)
class Transition:
    """One training step as the policy experienced it: (s, a, r, s').

    reward (K, B) is None unless the policy `wants_reward`. The tap holds what the encoder saw at
    s (`inputs`, placeholder filled in) and the gradient Δ at its output (`delta`). `judge` says
    from row numbers (K, B) how the loss on these rows, with the updated weights W', changes per
    learning rate and unit of gradient that the step takes: ∂E/∂W' times Adam's scale of the step;
    (K, E, D).
    """

    state: State
    importance: Tensor | None
    reward: Tensor | None
    next_state: State
    tap: ImportanceTap
    learning_rate: float
    judge: Callable[[Tensor], Tensor] | None = None


class Policy:
    """Base class of all policies; the whole interface."""

    wants_reward = False  # True: a second forward pass after each update measures the reward
    sees_gaps = True  # False: needs to know neither what is missing nor what training hides
    blind = False  # True: decides without features and predictions, which is faster for series
    fixed = False  # True: remembers nothing of a member, so that members may leave when done
    after_preconditioner = False  # True: importance weights the step, not the gradient Adam scales
    gate_sizes: tuple[int, ...] | None = None  # widths of an input gate, for the ablation only
    network: MemberMlp | None = None  # used by `expected`, if any; kept in model files

    def start(self, task: Task) -> None:
        """Called before the first step, and again when training continues on other rows."""

    def importance(self, state: State) -> Tensor | None:
        """a = β(s): (K, B, D) in [0, 1]; None means 1 everywhere. Line 6 of Algorithm 1.

        Indicators have importance 1, unless it is (K, B, all inputs).
        """
        raise NotImplementedError(f"{type(self).__name__} must define importance(state)")

    def expected(self, state: State) -> Tensor | None:
        """Importance without randomness, for inspection; may be called after `stop`, and for
        rows that were not in the training table."""
        return self.importance(state)

    def learn(self, transition: Transition) -> dict[str, float]:
        """Learn from one transition (line 14); the returned figures are averaged in `history_`."""
        return {}

    def stop(self) -> None:
        """Called after training: release training rows, keep what was learned."""

    def state(self) -> dict[str, Any]:
        """All it has learned, in tensors, numbers and strings; needed for checkpoints."""
        raise NotImplementedError(f"{type(self).__name__} must define state() and restore(state)")

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of `state`, called after `start`."""


class FixedPolicy(Policy):
    """Base class of policies that learn nothing."""

    blind = fixed = True

    def state(self) -> dict[str, Any]:
        return {}


class NoPolicy(FixedPolicy):
    """`none`: importance 1 everywhere, ordinary training."""

    sees_gaps = False

    def importance(self, state: State) -> None:
        return None


class ObservedPolicy(FixedPolicy):
    """`observed`: a = m, the paper's GIL-H. The encoder learns nothing from missing entries."""

    def importance(self, state: State) -> Tensor:
        return state.observed.to(state.values.dtype)


class RandomPolicy(FixedPolicy):
    """`random`: a fair coin per entry. The control that a learned policy has to beat."""

    def start(self, task: Task) -> None:
        self._generator = task.generator  # the trainer saves its state

    def importance(self, state: State) -> Tensor:
        return bernoulli_mask(state.values.shape, 0.5, self._generator).to(state.values)

    def expected(self, state: State) -> Tensor:
        return torch.full_like(state.values, 0.5)


class GatePolicy(NoPolicy):
    """`gate`: the ablation of Appendix G. h(x) multiplies the *input*, trained by backprop.

    Unlike importance, the gate is part of the network and also acts at prediction time.
    """

    def __init__(self, hidden_sizes: tuple[int, ...] = (400, 300)) -> None:
        self.gate_sizes = hidden_sizes
