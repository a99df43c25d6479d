"""The networks for series: a recurrent encoder, then the inference layers of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ._importance import ImportanceTap
from ._predictors import Predictor
from ._recurrent import MemberRecurrent, RecurrentTap
from ._summary import STATISTICS, summary


class SequencePredictor(Predictor):
    """A recurrent encoder whose hidden states h_t are the features, and a dense output.

    A batch comes flat, B rows of T steps one after the other: policies then see steps as a table
    sees rows. Rows shorter than T are padded at their end, `lengths` says where.

    Parameters
    ----------
    cell : "lstm" or "gru"
    summarised : so many of the first inputs also reach the output layers directly, as summaries of
        what was observed (see `summary.py`); their weights learn by the ordinary gradient
    hidden : the first is the width H of the cell, the others of dense layers behind it
    per_step : predict at every step, not once a series (from its last valid step)
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
        self._cell_name = cell  # the encoder is built within the next but one line
        self.n_beside = STATISTICS * summarised
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
            raise ValueError("series need their lengths")
        values = self._filled(values, observed)
        features = self.encoder(values.unflatten(1, (lengths.shape[1], -1)), tap).flatten(1, 2)
        beside = self._beside(values, observed, lengths, self.per_step)
        at = self.labelled(features, lengths)
        at = at if beside is None else torch.cat([at, beside], -1)
        return features, self.infer(at, None, generator)

    def _beside(
        self, values: Tensor, observed: Tensor | None, lengths: Tensor, running: bool
    ) -> Tensor | None:
        """Summaries of the first inputs, of each series or up to each step."""
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

    def labelled(self, of_rows: Tensor, lengths: Tensor | None) -> Tensor:
        """What belongs to each series' last valid step (or to all steps); -> (K, B, ·)."""
        assert lengths is not None
        if self.per_step:
            return of_rows
        rows = lengths.shape[1]
        steps = of_rows.shape[1] // rows
        last = torch.arange(rows, device=lengths.device) * steps + lengths - 1
        return of_rows.gather(1, last[..., None].expand(-1, -1, of_rows.shape[2]))

    def everywhere(
        self,
        features: Tensor,
        raw: Tensor,
        values: Tensor,
        observed: Tensor | None,
        lengths: Tensor | None,
    ) -> Tensor:
        """Raw output for every step, as if the series ended there."""
        assert lengths is not None
        if self.per_step:
            return raw
        beside = self._beside(self._filled(values, observed), observed, lengths, running=True)
        return self.infer(features if beside is None else torch.cat([features, beside], -1))
