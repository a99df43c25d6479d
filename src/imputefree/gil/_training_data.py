"""Training rows, how a batch of them is gathered, and which rows make up each batch.

Series are stored flat, one step after the other, so a step is to the method what a row is to a
table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..data import SAMPLE_ROWS, Expansion, RowParts
from ._donors import Donors

NEIGHBOURS, WINDOW = 256, SAMPLE_ROWS  # rows of a table so large that it may be on disk
LONG = 2  # times the mean length: longer series have batches of their own


@dataclass(frozen=True)
class Batch:
    """What K networks see at once: B rows, or the steps of B series padded to T steps.

    Shapes, with R = B for a table and R = B·T for series: values (K, R, D); observed (K, R, D), or
    None if not needed; steps (K, R), the index of each row in the training data; labelled (K, B)
    or (K, R), the index of each label. For series also lengths (K, B) and valid (K, R): a padded
    step repeats the last valid one and is False in `valid`; summaries (K, B, S), if there are any.
    hidden (K, R, columns) says which entries training hides.
    """

    values: Tensor
    observed: Tensor | None
    steps: Tensor
    labelled: Tensor
    lengths: Tensor | None = None
    valid: Tensor | None = None
    summaries: Tensor | None = None
    hidden: Tensor | None = None


@dataclass(frozen=True)
class TrainingData:
    """Training rows: values (n, D) filled, observed (n, D), target (n,), weight (n,) or None.

    With an `expansion`, values are the parts (n, M) of the inputs with NaN where missing, observed
    is None, and inputs are made batch by batch; without, they are the inputs themselves. Parts of
    a large table are made batch by batch as well.

    The first `entries` inputs hold entries of the table, the rest are indicators and times
    (None: all are entries). `columns` maps the first inputs to the `n_columns` columns of the
    table; needed only to hide entries. A missing entry holds the `placeholder`.

    Series have `lengths` (N,): n then counts the steps of all series together, and there is one
    target and weight per series or, with `per_step`, per step. `summaries` (N, S) are what a
    network reads of whole series, besides their steps; with a `summary_expansion`, their parts.

    With `donors`, rows also get the gaps of others: new ones in every batch, and where they are
    held out those of `judged`.

    >>> values = torch.arange(5.0)[:, None]                    # a series of 2 and one of 3 steps
    >>> data = TrainingData(values, values > -1, torch.tensor([0, 1]), lengths=torch.tensor([2, 3]))
    >>> data.batch(torch.tensor([[0, 1]])).values.flatten()    # the first is padded
    tensor([0., 1., 1., 2., 3., 4.])
    """

    values: Tensor | RowParts
    observed: Tensor | None
    target: Tensor
    weight: Tensor | None = None
    entries: int | None = None
    columns: Tensor | None = None
    n_columns: int = 0
    placeholder: float = 0.0
    lengths: Tensor | None = None
    per_step: bool = False
    summaries: Tensor | None = None
    expansion: Expansion | None = None
    summary_expansion: Expansion | None = None
    donors: Donors | None = None
    judged: TrainingData | None = None

    def to(self, device: torch.device) -> TrainingData:
        """The same on another device."""
        if self.values.device == device:
            return self
        moved: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor | Expansion | RowParts)
        }
        return replace(self, **moved)

    @property
    def n_rows(self) -> int:
        """Number of rows of the table, or of series."""
        return len(self.values if self.lengths is None else self.lengths)

    @property
    def width(self) -> int:
        """How many inputs there are."""
        return self.values.shape[1] if self.expansion is None else self.expansion.n_inputs

    @cached_property
    def starts(self) -> Tensor:
        """Index of each series' first step; (N,)."""
        assert self.lengths is not None
        return self.lengths.cumsum(0) - self.lengths

    def batch(
        self,
        rows: Tensor,
        with_observed: bool = False,
        hide: Callable[..., Tensor] | None = None,
        share: Any = ...,
        donors: Tensor | None = None,
    ) -> Batch:
        """Gather the rows (or series) with these indices, (K, B).

        hide : from a shape (K, R, columns), draws which entries are hidden
        share : an index for some of the rows; series are padded as all would be
        donors : (K, B) rows whose gaps these rows get as well
        """
        rows = rows.to(self.values.device)
        longest = 0 if self.lengths is None else int(self.lengths[rows].max())
        rows = rows[share]
        steps, lengths, valid, summaries = rows, None, None, None
        if self.lengths is not None:
            lengths = self.lengths[rows]
            t = torch.arange(longest, device=rows.device)
            steps = self.starts[rows][..., None] + torch.minimum(t, lengths[..., None] - 1)
            steps, valid = steps.flatten(1), (t < lengths[..., None]).flatten(1)
        hidden = None if hide is None else hide(*steps.shape, self.n_columns).to(rows.device)
        if donors is not None:
            donors = donors[share]
            theirs = self.gaps[self.steps_like(steps, rows, donors)]
            hidden = theirs if hidden is None else hidden | theirs
        values, observed = self.inputs(steps, with_observed, hidden)
        if self.summaries is not None:
            summaries = self._summaries_of(rows, donors)
            if self.summary_expansion is not None:
                summaries = self.summary_expansion.inputs(summaries)
        labelled = steps if self.per_step else rows
        return Batch(values, observed, steps, labelled, lengths, valid, summaries, hidden)

    @cached_property
    def gaps(self) -> Tensor:
        """Which columns are missing; (n, columns) bool."""
        assert self.expansion is not None
        return self.expansion.missing(self.values[:])

    def steps_like(self, steps: Tensor, rows: Tensor, donors: Tensor) -> Tensor:
        """The steps of donors that are as far along as these steps; of a table, the donors.

        steps (…, B·T); rows and donors (…, B)
        """
        if self.lengths is None:
            return donors
        within = steps.unflatten(-1, (rows.shape[-1], -1)) - self.starts[rows][..., None]
        share = within * self.lengths[donors][..., None] // self.lengths[rows][..., None]
        return (self.starts[donors][..., None] + share).flatten(-2)

    def _summaries_of(self, rows: Tensor, donors: Tensor | None) -> Tensor:
        assert self.summaries is not None
        summaries = self.summaries[rows]
        if donors is None or self.summary_expansion is None:
            return summaries
        gaps = self.summary_expansion.missing(self.summaries[donors])
        return self.summary_expansion.hidden(summaries, gaps)

    def ignoring_gaps(self, donors: Donors, fixed: Tensor) -> TrainingData:
        """The same rows, trained on with gaps of others; fixed (n,) : of whom, when held out."""
        assert self.expansion is not None
        rows, like = torch.arange(self.n_rows, device=self.values.device), fixed
        if self.lengths is not None:  # every step as a series of one
            of = rows.repeat_interleave(self.lengths)
            like = self.steps_like(torch.arange(len(of), device=of.device), of, fixed[of])
        values = self.expansion.hidden(self.values[:], self.gaps[like])
        summaries = None if self.summaries is None else self._summaries_of(rows, fixed)
        judged = replace(self, values=values, summaries=summaries)
        return replace(self, donors=donors, judged=judged)

    def inputs(
        self, rows: Tensor, with_observed: bool = True, hidden: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Inputs of rows (or steps) and which are observed, if wanted; rows (…) -> (…, D) each.

        hidden : (…, columns) bool, entries that are hidden
        """
        values, observed = self.values[rows], None
        if self.expansion is not None:
            parts = values if hidden is None else self.expansion.hidden(values, hidden)
            if with_observed:
                observed = self.expansion.observed(parts)
            return self.expansion.inputs(parts, self.placeholder), observed
        if with_observed and self.observed is not None:
            observed = self.observed[rows]
        if hidden is not None:
            values, observed = self._hide(values, observed, hidden)
        return values, observed

    def _hide(
        self, values: Tensor, observed: Tensor | None, hidden: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The same inputs with some entries hidden and their indicators on."""
        assert self.columns is not None
        gaps = hidden[..., self.columns]
        blank = values.new_full(self.columns.shape, self.placeholder)
        blank[self.entries :] = 1.0  # an indicator says "missing"
        values[..., : len(blank)] = torch.where(gaps, blank, values[..., : len(blank)])
        if observed is not None:
            gaps[..., self.entries :] = False
            observed = observed & ~F.pad(gaps, (0, values.shape[-1] - gaps.shape[-1]))
        return values, observed

    def weights(self, batch: Batch) -> Tensor | None:
        """Weight of each label of a batch; None if all count the same."""
        weight = None if self.weight is None else self.weight[batch.labelled]
        if self.per_step and batch.valid is not None:  # padding carries no loss
            valid = batch.valid.to(self.values.dtype)
            return valid if weight is None else weight * valid
        return weight


def shuffled(n: int, generator: torch.Generator) -> Tensor:
    """The numbers 0, 1, …, n - 1 in random order; (n,) int32.

    Rows of a large table may be on disk, where neighbours are cheap to read together: blocks of
    neighbours are shuffled, and then rows within windows of many blocks.

    >>> order = shuffled(5, torch.Generator().manual_seed(0))
    >>> sorted(order.tolist())
    [0, 1, 2, 3, 4]
    """
    if n <= WINDOW:
        return torch.randperm(n, generator=generator).int()
    blocks = torch.randperm(math.ceil(n / NEIGHBOURS), generator=generator).int()
    order = (blocks[:, None] * NEIGHBOURS + torch.arange(NEIGHBOURS, dtype=torch.int32)).flatten()
    order = order[order < n]
    for window in order.split(WINDOW):  # in place
        window.copy_(window[torch.randperm(len(window), generator=generator)])
    return order


class Batches:
    """Endless epochs of row indices, (K, B) per step; each member draws from its own rows.

    An epoch shows every row at least once; members with fewer rows repeat some. Given `classes`
    (n,) and their number, batches are balanced: class after class, an equal and even number of
    rows each, as the contrastive reward needs. Given `lengths` (n,) of series, those of more than
    twice the mean length share batches, which bounds the padding of the others.

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
        rows = [member.int() for member in rows]  # half the memory
        if classes is None:
            self._decks = [[member] for member in rows]
        else:  # one deck of cards per class
            self._decks = [
                # If groups keep a class out of a member's rows, its other rows stand in.
                [
                    of_class if len(of_class := member[classes[member] == c]) else member
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
        """Row indices of the next step, (K, B); every epoch is shuffled."""
        if self._at == len(self._plan):
            plans = [self._member_plan(decks) for decks in self._decks]
            self._plan, self._at = torch.stack(plans, 1), 0  # (steps, K, B)
            if self._lengths is not None:  # the steps are sorted by length
                self._plan = self._plan[torch.randperm(self.steps, generator=self._generator)]
        self._at += 1
        return self._plan[self._at - 1].long()

    def keep_members(self, kept: Tensor) -> None:
        """Draw for the members with these numbers only."""
        self._decks = [self._decks[member] for member in kept.tolist()]
        self._plan = self._plan[:, kept] if len(self._plan) else self._plan

    def state_dict(self) -> dict[str, Any]:
        """The position within the epoch."""
        return {"plan": self._plan, "at": self._at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`; the generator's owner restores the generator."""
        self._plan, self._at = state["plan"], int(state["at"])

    def _member_plan(self, decks: list[Tensor]) -> Tensor:
        share = self.size // len(decks)
        parts = []
        for deck in decks:
            cards = deck[shuffled(len(deck), self._generator)]
            while len(cards) < self.steps * share:
                cards = torch.cat([cards, cards])
            cards = cards[: self.steps * share]
            if self._lengths is not None:
                cards = self._by_length(cards, share)
            parts.append(cards.view(self.steps, share))
        return torch.cat(parts, 1)

    def _by_length(self, cards: Tensor, share: int) -> Tensor:
        """The long series last, by length; the others as they come.

        Batches of similar length would take less memory, but where length reveals the label, all
        series of a batch would have the same one: that cost 0.01 of AUROC on PhysioNet 2019.
        """
        assert self._lengths is not None
        lengths = self._lengths[cards]
        limit = LONG * self._lengths.double().mean()
        cards = cards[torch.where(lengths > limit, lengths, 0).argsort(stable=True)]
        # Shuffle within each batch: the contrastive reward compares its halves.
        shuffle = torch.rand(self.steps, share, generator=self._generator).argsort(1)
        return cards.view(self.steps, share).gather(1, shuffle).flatten()
