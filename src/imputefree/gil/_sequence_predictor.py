"""The networks for series: a recurrent encoder and summaries, then the same layers as for tables.

A recurrent layer would have to learn to carry a minimum or a mean through time, and how long ago
it was. So the output layers also get such statistics, in one of two forms. If there is one label
per series, these are summaries of the whole series, encoded as a table is, which enter through a
first layer and a linear path of their own. If there is one per step, `running_summary` follows the
series.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ._importance import ImportanceTap
from ._predictors import MemberLinear, Predictor
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
    hidden : the first is the width H of the cell, the others are dense layers after it
    per_step : predict at every step, not once per series (from its last valid step)
    summarised : per step: number of leading inputs whose running summaries also go to the output
        layers
    summary_inputs : once per series: the number S of inputs that summarise it; their first layer is
        as wide as the last hidden one
    others : as for `Predictor`

    All weights for summaries learn by the ordinary gradient.

    Shapes: values (K, B·T, D), lengths (K, B), summaries (K, B, S) -> features (K, B·T, H), raw
    output (K, B, O) or, per step, (K, B·T, O).

    >>> g = torch.Generator().manual_seed(0)
    >>> net = SequencePredictor(2, 4, 3, hidden=(8,), generator=g)
    >>> features, raw = net(torch.zeros(2, 5 * 6, 4), lengths=torch.full((2, 5), 6))
    >>> features.shape, raw.shape
    (torch.Size([2, 30, 8]), torch.Size([2, 5, 3]))
    """

    summary: MemberLinear | None

    def __init__(
        self,
        members: int,
        inputs: int,
        outputs: int,
        hidden: Sequence[int],
        *,
        generator: torch.Generator,
        cell: str = "lstm",
        per_step: bool = False,
        summarised: int = 0,
        summary_inputs: int = 0,
        **options: Any,
    ) -> None:
        if summary_inputs if per_step else summarised:
            raise ValueError(
                "running summaries are for a label per step, others for one per series"
            )
        self._cell_name = cell  # needed by _make_encoder, called in super().__init__
        self.n_extra = hidden[-1] if summary_inputs else STATISTICS * summarised
        super().__init__(members, inputs, outputs, hidden, generator=generator, **options)
        self.shape |= {
            "cell": cell,
            "per_step": per_step,
            "summarised": summarised,
            "summary_inputs": summary_inputs,
        }
        self.summarised, self.per_step = summarised, per_step
        self.summary = None
        if summary_inputs:  # its last rows are the linear path
            width = self.n_extra + outputs
            self.summary = MemberLinear(members, summary_inputs, width, generator)

    def _make_encoder(self, generator: torch.Generator) -> nn.Module:
        return MemberRecurrent(
            self._cell_name, self.members, self.inputs, self.n_features, generator
        )

    @property
    def paced(self) -> nn.Parameter:
        """The weight for summaries; there must be some."""
        assert self.summary is not None
        return self.summary.weight

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
        summaries: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Hidden states of every step, and the raw output."""
        if lengths is None:
            raise ValueError("series need lengths")
        values = self._filled(values, observed)
        features = self.encoder(values.unflatten(1, (lengths.shape[1], -1)), tap).flatten(1, 2)
        at = self.labelled(features, lengths)
        if self.summarised:
            at = torch.cat([at, self._running(values, observed, lengths)], -1)
        straight = None
        if self.summary is not None:
            extra, straight = self._summary_features(summaries)
            at = torch.cat([at, extra], -1)
        return features, self.infer(at, straight, generator)

    def _summary_features(self, summaries: Tensor | None) -> tuple[Tensor, Tensor]:
        """What the summaries add to the features, and straight to the output; (K, B, ·)."""
        if summaries is None or self.summary is None:
            raise ValueError("this network needs summaries of the series")
        hidden, straight = self.summary(summaries).split([self.n_extra, self.outputs], -1)
        return self.activation(hidden), straight

    def _running(self, values: Tensor, observed: Tensor | None, lengths: Tensor) -> Tensor:
        """Summaries of the first inputs, up to each step; (K, B·T, ·)."""
        if observed is None:
            raise ValueError("a summary needs to know which entries are observed")
        rows = (lengths.shape[1], -1)
        x = values[..., : self.summarised].unflatten(1, rows)
        seen = observed[..., : self.summarised].unflatten(1, rows)
        return running_summary(x, seen).flatten(1, 2)

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
        """Raw output for every step, from its hidden state alone.

        A summary of the whole series knows what comes after the step, so it is replaced by 0.
        """
        if self.per_step:
            return raw
        straight = None
        if self.summary is not None:
            nothing = features.new_zeros(self.members, 1, self.summary.weight.shape[2])
            extra, straight = self._summary_features(nothing)
            features = torch.cat([features, extra.expand(-1, features.shape[1], -1)], -1)
        return self.infer(features, straight)


def running_summary(values: Tensor, observed: Tensor) -> Tensor:
    """Seven statistics of the observed entries up to each step, 0 for columns without any.

    Mean, standard deviation, maximum, minimum, last, last minus first, and the number n of
    observations as log(1 + n) / 2, which is on the scale of the others.
    Shapes: values and observed (..., T, D) -> (..., T, 7 D).

    >>> x = torch.tensor([[1.0], [9.0], [3.0]])
    >>> seen = torch.tensor([[True], [False], [True]])
    >>> running_summary(x, seen)[-1].round(decimals=2)
    tensor([2.0000, 1.0000, 3.0000, 1.0000, 3.0000, 2.0000, 0.5500])
    >>> running_summary(x, seen)[:, 0]
    tensor([1., 1., 2.])
    """
    dim, dtype = values.ndim - 2, values.dtype
    values = values.double()  # the spread is a difference of squares, which float32 would lose
    step = torch.arange(values.shape[dim], device=values.device, dtype=torch.int32)[:, None]
    above = torch.where(observed, values, -torch.inf)
    below = torch.where(observed, values, torch.inf)
    zeroed = values * observed  # 0 where missing, whatever the placeholder
    count = observed.to(values.dtype).cumsum(dim)
    sums, squares = zeroed.cumsum(dim), zeroed.square().cumsum(dim)
    highest, lowest = above.cummax(dim).values, below.cummin(dim).values
    last = zeroed.gather(dim, torch.where(observed, step, 0).cummax(dim).values.long())
    # The first observed value: a running sum over the step where it was observed.
    first = (zeroed * (observed & (count == 1))).cumsum(dim)
    some = count > 0
    mean = sums / count.clamp_min(1)
    spread = (squares / count.clamp_min(1) - mean.square()).clamp_min(1e-12).sqrt()
    extremes = [torch.where(some, extreme, 0.0) for extreme in (highest, lowest)]
    parts = [mean, spread * some, *extremes, last, last - first, count.log1p() / 2]
    return torch.cat(parts, -1).to(dtype)
