"""Which rows make up each batch: the same number for every member, at every step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

POOL = 32  # batches over which series are sorted by length


class Batches:
    """Endless epochs of row numbers, shape (K, B) a step, each member from rows of its own.

    An epoch shows every row at least once. Members whose rows do not fill it start over with the
    rows they began with. Given `classes` (n,) and their number, batches are balanced instead: they
    hold equally many rows of each class, class after class, an even number of each, as the
    contrastive reward wants them. Given `lengths` (n,) of series, a batch holds series of similar
    length (and so do the batches of all members at one step), which saves padding.

    >>> g = torch.Generator().manual_seed(0)
    >>> batches = Batches([torch.arange(5), torch.arange(4)], 2, g)
    >>> batches.steps, next(batches).shape
    (3, torch.Size([2, 2]))
    """

    def __init__(
        self,
        rows: Sequence[Tensor],
        batch_size: int,
        generator: torch.Generator,
        classes: Tensor | None = None,
        n_classes: int = 0,
        lengths: Tensor | None = None,
    ) -> None:
        self._generator = generator
        equal = lengths is None or bool((lengths == lengths[0]).all())
        self._lengths = None if equal else lengths
        self._plan, self._at = torch.empty(0), 0
        if classes is None:
            self._decks = [[member] for member in rows]
        else:  # one deck of cards a class
            self._decks = [
                # Where groups keep a class out of a member's rows, others of its rows stand in.
                [
                    own if len(own := member[classes[member] == c]) else member
                    for c in range(n_classes)
                ]
                for member in rows
            ]
        longest = max(sum(len(deck) for deck in decks) for decks in self._decks)
        self.steps = math.ceil(longest / batch_size)
        self.size = math.ceil(longest / self.steps)  # equal batches, no short one at the end
        if classes is not None:
            share = max(2 * (batch_size // (2 * n_classes)), 2)
            self.size, self.steps = share * n_classes, math.ceil(longest / (share * n_classes))

    def __iter__(self) -> Iterator[Tensor]:
        return self

    def __next__(self) -> Tensor:
        """Row numbers of the next step, (K, B); a new shuffle starts by itself."""
        if self._at == len(self._plan):
            plans = [self._member_plan(decks) for decks in self._decks]
            self._plan, self._at = torch.stack(plans, 1), 0  # (steps, K, B)
            if self._lengths is not None:  # they come sorted by length
                self._plan = self._plan[torch.randperm(self.steps, generator=self._generator)]
        self._at += 1
        return self._plan[self._at - 1]

    def state(self) -> dict[str, Any]:
        """Where in the epoch it is."""
        return {"plan": self._plan, "at": self._at}

    def set_state(self, state: dict[str, Any]) -> None:
        """The reverse of `state`; its generator is put back by whom it belongs to."""
        self._plan, self._at = state["plan"], int(state["at"])

    def _member_plan(self, decks: list[Tensor]) -> Tensor:
        share = self.size // len(decks)
        parts = []
        for deck in decks:
            shuffled = deck[torch.randperm(len(deck), generator=self._generator)]
            wrap = torch.arange(self.steps * share) % len(deck)
            cards = shuffled[wrap]
            if self._lengths is not None:
                cards = self._by_length(cards, share)
            parts.append(cards.view(self.steps, share))
        return torch.cat(parts, 1)

    def _by_length(self, cards: Tensor, share: int) -> Tensor:
        """Sort by length within pools of some batches, so that batches still differ by epoch."""
        assert self._lengths is not None
        pool = torch.arange(len(cards)) // (POOL * share)
        lengths = self._lengths[cards]
        cards = cards[(pool * (int(lengths.max()) + 1) + lengths).argsort(stable=True)]
        # In random order within a batch: the contrastive reward compares its halves.
        shuffle = torch.rand(self.steps, share, generator=self._generator).argsort(1)
        return cards.view(self.steps, share).gather(1, shuffle).flatten()
