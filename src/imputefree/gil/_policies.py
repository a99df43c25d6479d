"""Policies: who decides the importance of each entry of each training row.

A policy is an object with the methods of `Policy` below; only `importance` has to do something.
Policies work while a network trains and are gone at prediction time.

An own policy that trusts columns with few gaps more than others:

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
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from ._importance import ImportanceTap
from ._noise import switches
from ._predictors import MemberMlp


@dataclass(frozen=True)
class Task:
    """What a policy may know before training starts.

    values (n, D) and observed (n, D) are the entries of the training table as network inputs
    (of series: one row a step, all series one after the other); indicators are not among them.
    features E and outputs O are the widths of ζ and ŷ, members is K, generator the policy's own
    source of randomness (on the CPU).
    """

    values: Tensor
    observed: Tensor
    features: int
    outputs: int
    members: int
    generator: torch.Generator
    placeholder: float = 0.0  # what stands for a missing entry in values
    series: bool = False  # whether rows are steps of series

    @property
    def state_size(self) -> int:
        """Width of the joined state (x, m, ζ, ŷ)."""
        return 2 * self.values.shape[1] + self.features + self.outputs


@dataclass(frozen=True)
class State:
    """What a policy sees of one batch: s = (x, m, ζ, ŷ).

    Shapes: rows (K, B) row numbers in the training table, values (K, B, D) as stored (a learned
    placeholder shows as 0), features (K, B, E), prediction (K, B, O), hidden (K, B, D) entries
    that training hides from the network in this batch; none carries gradients. Of series, B counts
    the steps of all rows, and `valid` (K, B) is False where a step is padding: importance there
    has no effect. A `blind` policy gets features and predictions of width 0.
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
        """m, True = observed; (K, B, D). Gathered only when a policy asks."""
        observed = self.task.observed[self.rows]
        return observed if self.hidden is None else observed & ~self.hidden

    @cached_property
    def joined(self) -> Tensor:
        """The four parts side by side; (K, B, 2D + E + O)."""
        observed = self.observed.to(self.values.dtype)
        return torch.cat([self.values, observed, self.features, self.prediction], -1)

    def at(self, places: Tensor) -> State:
        """The state at some places of the batch; (K, b) -> a State of (K, b, ·)."""

        def picked(of: Tensor) -> Tensor:
            return of.gather(1, places[..., None].expand(-1, -1, of.shape[2]))

        return State(
            self.task,
            self.rows.gather(1, places),
            picked(self.values),
            picked(self.features),
            picked(self.prediction),
            None if self.hidden is None else picked(self.hidden),
        )


@dataclass(frozen=True)
class Transition:
    """One step of training as the policy experienced it: (s, a, r, s').

    reward (K, B) is None unless the policy `wants_reward`. The tap holds what the encoder saw at
    s (`inputs`, placeholder filled in) and the gradient Δ at its output (`delta`).
    """

    state: State
    importance: Tensor | None
    reward: Tensor | None
    next_state: State
    tap: ImportanceTap
    learning_rate: float


class Policy:
    """Base of all policies; the whole interface."""

    wants_reward = False  # True: a second forward pass after each update measures the reward
    blind = False  # True: decides without features and predictions, which saves series a pass
    gate_sizes: tuple[int, ...] | None = None  # widths of an input gate, for the ablation only
    network: MemberMlp | None = None  # what `expected` asks, if anything: model files keep it

    def start(self, task: Task) -> None:
        """Called once before the first step, and again when training continues on other rows."""

    def importance(self, state: State) -> Tensor | None:
        """a = β(s): (K, B, D) in [0, 1]; None means 1 everywhere. Line 6 of Algorithm 1."""
        raise NotImplementedError(f"{type(self).__name__} must define importance(state)")

    def expected(self, state: State) -> Tensor | None:
        """What `importance` gives when nothing is left to chance, for looking at afterwards; it
        may be asked after `stop`, and of other rows than those of training."""
        return self.importance(state)

    def learn(self, transition: Transition) -> dict[str, float]:
        """Learn from one transition (line 14); what it returns is averaged into `history_`."""
        return {}

    def stop(self) -> None:
        """Called after training: let go of training rows, keep what was learned."""

    def state(self) -> dict[str, Any]:
        """All it has learned, in tensors, numbers and texts: for a fit with a checkpoint."""
        raise NotImplementedError(f"{type(self).__name__} must define state() and restore(state)")

    def restore(self, state: dict[str, Any]) -> None:
        """The reverse of `state`, called after `start`."""


class NoPolicy(Policy):
    """`none`: importance 1 everywhere, ordinary training."""

    blind = True

    def importance(self, state: State) -> None:
        return None

    def state(self) -> dict[str, Any]:
        return {}


class ObservedPolicy(Policy):
    """`observed`: a = m, the paper's GIL-H. A missing entry teaches the encoder nothing."""

    blind = True

    def importance(self, state: State) -> Tensor:
        return state.observed.to(state.values.dtype)

    def state(self) -> dict[str, Any]:
        return {}


class RandomPolicy(Policy):
    """`random`: a fair coin per entry. The control that a learned policy has to beat."""

    blind = True

    def start(self, task: Task) -> None:
        self._generator = task.generator

    def importance(self, state: State) -> Tensor:
        return switches(state.values.shape, 0.5, self._generator).to(state.values)

    def expected(self, state: State) -> Tensor:
        return torch.full_like(state.values, 0.5)

    def state(self) -> dict[str, Any]:
        return {}  # its generator is the trainer's to keep


class GatePolicy(NoPolicy):
    """`gate`: the ablation of Appendix G. h(x) multiplies the *input*, trained by backprop.

    Unlike importance the gate is part of the network, so it is there at prediction time too.
    """

    def __init__(self, hidden_sizes: tuple[int, ...] = (400, 300)) -> None:
        self.gate_sizes = hidden_sizes
