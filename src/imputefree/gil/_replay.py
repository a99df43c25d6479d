"""What `ddpg` remembers: the last batches of transitions, bounded in bytes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._policies import State, Task


class Replay:
    """The last batches of transitions, bounded in bytes.

    A batch keeps row *numbers* instead of x and m, and half-precision ζ, ŷ and a; the next state
    of a batch is the state of the batch after it, so nothing is kept twice. A transition takes
    4 + 2·(E + O + D) + 4 bytes: row number, (ζ, ŷ, a), reward. Which entries training had hidden
    in that batch sits in the sign of a, which is never negative otherwise. However small
    `max_bytes`, two batches are kept: a state and its next.
    """

    _HELD = ("rows", "halves", "reward")

    def __init__(self, task: Task, batch: int, max_bytes: int) -> None:
        inputs = task.values.shape[1]
        self.task, self.batch = task, batch
        self.widths = [task.features, task.outputs, inputs]
        self.bytes_per_transition = 4 + 2 * sum(self.widths) + 4
        per_batch = self.bytes_per_transition * batch * task.members
        self.capacity = max(max_bytes // per_batch, 2)  # 2: a state and its next
        shape, device = (self.capacity, task.members, batch), task.values.device
        self.rows = torch.empty(shape, dtype=torch.int32, device=device)
        self.halves = torch.empty(*shape, sum(self.widths), dtype=torch.float16, device=device)
        self.reward = torch.empty(shape, dtype=torch.float32, device=device)
        self.written = 0

    @property
    def nbytes(self) -> int:
        """Bytes the buffer takes when full."""
        return sum(t.numel() * t.element_size() for t in (self.rows, self.halves, self.reward))

    def __len__(self) -> int:
        """Transitions (per member) that can be sampled."""
        return min(self.written, self.capacity - 1) * self.batch

    def push(self, state: State, action: Tensor, reward: Tensor, next_state: State) -> None:
        """Keep a batch, dropping the oldest when full.

        The next state goes into the next slot, where the next push writes the same again.
        """
        self._write(self.written, state, action)
        self.reward[self.written % self.capacity] = reward
        self.written += 1
        self._write(self.written, next_state, torch.ones_like(action))

    def state(self) -> dict[str, Any]:
        """What it holds, without the empty part."""
        filled = min(self.written + 1, self.capacity)
        return {
            "written": self.written,
            "batch": self.batch,
            **{name: getattr(self, name)[:filled].clone() for name in self._HELD},
        }

    @classmethod
    def of(cls, task: Task, state: dict[str, Any], max_bytes: int) -> Replay:
        """The reverse of `state`."""
        replay = cls(task, int(state["batch"]), max_bytes)
        replay.written = int(state["written"])
        for name in cls._HELD:
            getattr(replay, name)[: len(state[name])] = state[name].to(task.values.device)
        return replay

    def _write(self, place: int, state: State, action: Tensor) -> None:
        if state.hidden is not None:
            action = torch.where(state.hidden, -action, action)
        whole = torch.cat([state.features, state.prediction, action], -1)
        self.rows[place % self.capacity] = state.rows
        self.halves[place % self.capacity] = whole.clamp_(-65504, 65504)  # float16's largest

    def sample(
        self, size: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """s (K, size, S), a (K, size, D), r (K, size, 1), s' (K, size, S), drawn with return."""
        members, device = self.task.members, self.reward.device
        newest = (self.written - 1) % self.capacity
        age = torch.randint(0, len(self) // self.batch, (members, size), generator=generator)
        place = torch.randint(0, self.batch, (members, size), generator=generator).to(device)
        slot = ((newest - age) % self.capacity).to(device)
        state, action, reward = self._read(slot, place)
        next_state, _, _ = self._read((slot + 1) % self.capacity, place)
        return state, action, reward, next_state

    def _read(self, slot: Tensor, place: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        member = torch.arange(self.task.members, device=slot.device)[:, None]
        rows = self.rows[slot, member, place].long()
        features, prediction, action = (
            self.halves[slot, member, place].to(self.task.values.dtype).split(self.widths, -1)
        )
        hidden = torch.signbit(action)
        values = torch.where(hidden, self.task.placeholder, self.task.values[rows])
        state = State(self.task, rows, values, features, prediction, hidden)
        return state.joined, action.abs(), self.reward[slot, member, place][..., None]
