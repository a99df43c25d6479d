"""The networks for series: a recurrent encoder and summaries, then the same layers as for tables.

A recurrent layer would have to learn to carry a minimum or a mean through time. `summary` gives
such statistics of the observed entries to the output layers, besides the last hidden state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ._importance import ImportanceTap
from ._predictors import Predictor
from ._recurrent import MemberRecurrent, RecurrentTap
from ._training_data import Batch

STATISTICS = 7  # mean, standard deviation, maximum, minimum, last, last - first, number


class SequencePredictor(Predictor):
    """A recurrent encoder whose hidden states h_t are the features, and a dense output.

    A batch is flat, B series of T steps one after the other, so that policies see steps as they
    see rows of a table. Series shorter than `T` are padded at the end, according to `lengths`.

    Parameters
    ----------
    cell : "lstm" or "gru"
    summarised : number of leading inputs whose summaries (see `summary`) also go to the output
        layers; these weights learn by the ordinary gradient
    hidden : the first is the width H of the cell, the others are dense layers after it
    per_step : predict at every step, not once per series (from its last valid step)
    others : as for `Predictor`

    Shapes: values (K, B·T, D), lengths (K, B) -> features (K, B·T, H), raw output (K, B, O) or,
    per step, (K, B·T, O).

    >>> g = torch.Generator().manual_seed(0)
    >>> net = SequencePredictor(2, 4, 3, hidden=(8,), generator=g)
    >>> features, raw = net(torch.zeros(2, 5 * 6, 4), lengths=torch.full((2, 5), 6))
    >>> features.shape, raw.shape
    (torch.Size([2, 30, 8]), torch.Size([2, 5, 3]))
    """

    def __init__(
        self,
        members: int,
        inputs: int,
        outputs: int,
        hidden: Sequence[int],
        *,
        cell: str = "lstm",
        summarised: int = 0,
        per_step: bool = False,
        **options: Any,
    ) -> None:
        self._cell_name = cell  # needed by _make_encoder, called in super().__init__
        self.n_extra = STATISTICS * summarised
        super().__init__(members, inputs, outputs, hidden, **options)
        self.shape |= {"cell": cell, "summarised": summarised, "per_step": per_step}
        self.summarised, self.per_step = summarised, per_step

    def _make_encoder(self, generator: torch.Generator) -> nn.Module:
        return MemberRecurrent(
            self._cell_name, self.members, self.inputs, self.n_features, generator
        )

    def make_tap(self) -> ImportanceTap:
        return RecurrentTap()

    @property
    def wants_observed(self) -> bool:
        return self.placeholder is not None or self.summarised > 0

    def forward(
        self,
        values: Tensor,
        observed: Tensor | None = None,
        tap: ImportanceTap | None = None,
        generator: torch.Generator | None = None,
        lengths: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Hidden states of every step, and the raw output."""
        if lengths is None:
            raise ValueError("series need lengths")
        values = self._filled(values, observed)
        features = self.encoder(values.unflatten(1, (lengths.shape[1], -1)), tap).flatten(1, 2)
        extra = self._extra(values, observed, lengths, self.per_step)
        at = self.labelled(features, lengths)
        at = at if extra is None else torch.cat([at, extra], -1)
        return features, self.infer(at, None, generator)

    def _extra(
        self, values: Tensor, observed: Tensor | None, lengths: Tensor, running: bool
    ) -> Tensor | None:
        """Summaries of the first inputs, per series or up to each step."""
        if not self.summarised:
            return None
        if observed is None:
            raise ValueError("a summary needs to know which entries are observed")
        rows = (lengths.shape[1], -1)
        x = values[..., : self.summarised].unflatten(1, rows)
        seen = observed[..., : self.summarised].unflatten(1, rows)
        if running:
            return summary(x, seen, running=True).flatten(1, 2)
        valid = torch.arange(x.shape[2], device=x.device) < lengths[..., None]
        return summary(x, seen & valid[..., None])

    def labelled(self, features: Tensor, lengths: Tensor | None) -> Tensor:
        """Features at the last valid step of each series (or at all steps); -> (K, B, ·)."""
        assert lengths is not None
        if self.per_step:
            return features
        rows = lengths.shape[1]
        steps = features.shape[1] // rows
        last = torch.arange(rows, device=lengths.device) * steps + lengths - 1
        return features.gather(1, last[..., None].expand(-1, -1, features.shape[2]))

    @torch.no_grad()
    def everywhere(self, features: Tensor, raw: Tensor, batch: Batch) -> Tensor:
        """Raw output for every step, as if the series ended there."""
        if self.per_step:
            return raw
        assert batch.lengths is not None
        values = self._filled(batch.values, batch.observed)
        extra = self._extra(values, batch.observed, batch.lengths, running=True)
        return self.infer(features if extra is None else torch.cat([features, extra], -1))


def summary(values: Tensor, observed: Tensor, running: bool = False) -> Tensor:
    """Seven statistics of the observed entries over time, 0 for columns without any.

    The number n of observations is given as log(1 + n) / 2, on the scale of the others. With
    `running`, statistics are over the steps up to and including each step.
    Shapes: values and observed (..., T, D) -> (..., 7 D), running (..., T, 7 D).

    >>> x = torch.tensor([[1.0], [9.0], [3.0]])
    >>> seen = torch.tensor([[True], [False], [True]])
    >>> summary(x, seen).round(decimals=2)
    tensor([2.0000, 1.0000, 3.0000, 1.0000, 3.0000, 2.0000, 0.5500])
    >>> summary(x, seen, running=True)[:, 0]
    tensor([1., 1., 2.])
    """
    dim, dtype = values.ndim - 2, values.dtype
    values = values.double()  # the spread is a difference of squares, which float32 would lose
    step = torch.arange(values.shape[dim], device=values.device, dtype=torch.int32)[:, None]
    above = torch.where(observed, values, -torch.inf)
    below = torch.where(observed, values, torch.inf)
    zeroed = values * observed  # 0 where missing, whatever the placeholder
    if running:
        count = observed.to(values.dtype).cumsum(dim)
        sums, squares = zeroed.cumsum(dim), zeroed.square().cumsum(dim)
        highest, lowest = above.cummax(dim).values, below.cummin(dim).values
        last = zeroed.gather(dim, torch.where(observed, step, 0).cummax(dim).values.long())
        # The first observed value: a running sum over the step where it was observed.
        first = (zeroed * (observed & (count == 1))).cumsum(dim)
    else:
        count = observed.to(values.dtype).sum(dim)
        sums, squares = zeroed.sum(dim), zeroed.square().sum(dim)
        highest, lowest = above.amax(dim), below.amin(dim)
        place = torch.where(observed, step, 0).amax(dim, keepdim=True).long()
        last = zeroed.gather(dim, place).squeeze(dim)
        place = torch.where(observed, step, values.shape[dim] - 1).amin(dim, keepdim=True).long()
        first = zeroed.gather(dim, place).squeeze(dim)
    some = count > 0
    mean = sums / count.clamp_min(1)
    spread = (squares / count.clamp_min(1) - mean.square()).clamp_min(1e-12).sqrt()
    extremes = [torch.where(some, extreme, 0.0) for extreme in (highest, lowest)]
    parts = [mean, spread * some, *extremes, last, last - first, count.log1p() / 2]
    return torch.cat(parts, -1).to(dtype)
