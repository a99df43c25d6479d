"""What one rank does of a training: some members, and some rows of their batches.

Members share nothing, so they are divided among ranks first, which takes no messages while they
train. If there are more ranks than that uses, those with the same members are a team: each looks at
its share of the rows of a batch, and gradients are summed. Random numbers are drawn for all members
and rows on every rank, of which each takes its part. So the weights do not depend on the ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .._ranks import current_ranks
from ..errors import InputError, ParameterError


class Team:
    """The members and rows of one rank; alone, everything.

    members : K, how many train together

    Attributes
    ----------
    ranks, rows : all ranks, and those with the same members, who divide rows
    batch_size : rows of a batch, of all ranks of the team; known once they are checked
    members : how many are present, on all ranks together
    mine : (k,) which of these are this rank's

    >>> team = Team(4)
    >>> team.mine, team.rows.size
    (tensor([0, 1, 2, 3]), 1)
    """

    batch_size = 0

    def __init__(self, members: int) -> None:
        self.ranks = current_ranks()
        self._count = math.gcd(members, self.ranks.size)
        self._number, self.rows = self.ranks.teams(self._count)
        self.begin(members)

    def begin(self, members: int) -> None:
        """All members are present."""
        self.members = members
        self.mine = torch.arange(members).tensor_split(self._count)[self._number]

    @property
    def alone(self) -> bool:
        """Whether there is one process."""
        return self.ranks.size == 1

    def keep_members(self, kept: Tensor) -> Tensor:
        """Members leave; the numbers, among this rank's, of those that stay."""
        here = torch.isin(self.mine, kept.cpu()).nonzero().flatten()
        self.mine = torch.searchsorted(kept.cpu(), self.mine[here])
        self.members = len(kept)
        return here

    def share(self, batch_size: int) -> Any:
        """An index for this rank's part of a batch (K, B)."""
        return ... if self.alone else (self.mine, self.rows.part(batch_size))

    def everyone(self, figures: Tensor) -> Tensor:
        """A figure of each present member, from those of this rank's members; (k,) -> (K,)."""
        if self.alone:
            return figures
        total = figures.new_zeros(self.members)
        total[self.mine.to(total.device)] = figures
        self._from_leaders([total])
        return total

    @torch.no_grad()
    def collect(self, weights: Sequence[Tensor]) -> list[Tensor]:
        """Weights (K, …) of all members, when all are present again, from (K, …) or (k, …)."""
        if self.alone:
            return list(weights)
        whole = [weight.new_zeros(self.members, *weight.shape[1:]) for weight in weights]
        for every, weight in zip(whole, weights, strict=True):
            mine = self.mine.to(weight.device)
            every[mine] = weight if len(weight) == len(mine) else weight[mine]
        self._from_leaders(whole)
        return whole

    def _from_leaders(self, tensors: Sequence[Tensor]) -> None:
        """Sums over teams, of the first rank of each: its ranks have the same members."""
        if self.rows.rank:
            for tensor in tensors:
                tensor.zero_()
        self.ranks.sum_(tensors)

    def generator(self, generator: torch.Generator) -> torch.Generator:
        """A generator that draws this rank's part of what `generator` would draw for a batch."""
        return generator if self.alone else TeamGenerator(self, generator)

    def check(self, batch_size: int, fixed: bool, seen: str) -> None:
        """Refuse what ranks cannot train together; `seen` must be the same on all."""
        self.batch_size = batch_size
        if not fixed:
            raise ParameterError(
                f"the policy learns, and there are {self.ranks.size} ranks",
                "Ranks see different rows of a batch, so that each would learn another policy",
                "Choose the policy none, observed, random or gate, or fit in one process",
            )
        if batch_size < self.rows.size:
            raise ParameterError(
                f"{self.rows.size} ranks would share batches of {batch_size}",
                "Each needs at least one row",
                "Start fewer ranks, or raise batch_size",
            )
        others = [rank for rank, other in enumerate(self.ranks.gather(seen)) if other != seen]
        if self.ranks.total(len(others)):
            raise InputError(
                "not all ranks have the same rows, parameters and first weights",
                "They train one model, from the same table, parameters and seed",
                "Read the same files in every process, and pass a number as random_state",
            )


class TeamGenerator(torch.Generator):
    """Draws for all members and the whole batch, from which a rank takes its part."""

    def __new__(cls, *_: object) -> TeamGenerator:
        return super().__new__(cls)

    def __init__(self, team: Team, generator: torch.Generator) -> None:
        self.team = team
        self.set_state(generator.get_state())

    def whole(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape for all, from that for this rank: (members, rows or their steps, …)."""
        batch_size = self.team.batch_size
        part = self.team.rows.part(batch_size)
        steps = shape[1] // (part.stop - part.start)
        return (self.team.members, steps * batch_size, *shape[2:])

    def take(self, drawn: Tensor, shape: Sequence[int]) -> Tensor:
        """This rank's part, of this shape, of what was drawn for all."""
        batch_size = self.team.batch_size
        start = drawn.shape[1] // batch_size * self.team.rows.part(batch_size).start
        return drawn[self.team.mine, start : start + shape[1]]
