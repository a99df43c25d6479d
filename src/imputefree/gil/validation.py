"""Early stopping, member by member: each keeps the weights that did best on its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .losses import Loss
from .predictors import Predictor

CHUNK_ENTRIES = 2**22  # entries of a (K, chunk, D) block: 16 MB in float32


@dataclass(frozen=True)
class TrainingData:
    """Training rows: values (n, D) filled, observed (n, D), target (n,), weight (n,) or None.

    The first `entries` inputs hold entries of the table, the others are indicators (None: all are
    entries). `columns` (D,) says which of `n_columns` columns of the table an input belongs to and
    `blank` (D,) what it holds where that column is missing; they are needed only to hide entries.
    """

    values: Tensor
    observed: Tensor
    target: Tensor
    weight: Tensor | None = None
    entries: int | None = None
    columns: Tensor | None = None
    n_columns: int = 0
    blank: Tensor | None = None


def predict_raw(predictor: Predictor, values: Tensor, observed: Tensor, rows: Tensor) -> Tensor:
    """Raw outputs for row numbers (K, V) of a table, without gradients; -> (K, V, O).

    Chunked over V, so that memory does not grow with the number of rows asked for.
    """
    parts = []
    chunk = max(CHUNK_ENTRIES // (len(rows) * values.shape[1]), 1)
    with torch.no_grad():
        for some in rows.split(chunk, dim=1):
            seen = observed[some] if predictor.placeholder is not None else None
            parts.append(predictor(values[some], seen)[1])
    return torch.cat(parts, 1)


class Keeper:
    """Watches the validation loss of each member and keeps its best weights.

    Parameters
    ----------
    held_out : per member the row numbers it does not train on
    patience : epochs without improvement by more than `tol` before a member is done; training
        ends when all are
    """

    def __init__(
        self,
        predictor: Predictor,
        loss: Loss,
        data: TrainingData,
        held_out: Sequence[Tensor],
        patience: int,
        tol: float,
    ) -> None:
        self.predictor, self.loss, self.data = predictor, loss, data
        device = data.values.device
        width = max(len(rows) for rows in held_out)
        # Members may hold out unequal numbers of rows: repeat the first, with weight 0.
        self.rows = torch.stack(
            [torch.cat([rows, rows[:1].expand(width - len(rows))]) for rows in held_out]
        ).to(device)
        real = torch.stack([torch.arange(width) < len(rows) for rows in held_out])
        self.target = data.target[self.rows]
        weight = real.to(device, data.values.dtype)
        if data.weight is not None:
            weight = weight * data.weight[self.rows]
        self.weight = weight / weight.sum(1, keepdim=True).clamp_min(1e-30)
        self.patience, self.tol = patience, tol
        members = len(held_out)
        self.best_loss = torch.full((members,), torch.inf, device=device)
        self.best_epoch = torch.zeros(members, dtype=torch.long, device=device)
        self.searching = torch.ones(members, dtype=torch.bool, device=device)
        self.best = [p.detach().clone() for p in predictor.parameters()]

    def losses(self) -> Tensor:
        """Weighted mean error of each member on its own held-out rows; (K,)."""
        raw = predict_raw(self.predictor, self.data.values, self.data.observed, self.rows)
        return (self.loss.errors(raw, self.target) * self.weight).sum(1)

    def watch(self, epoch: int) -> tuple[float, bool]:
        """Mean validation loss now, and whether training should go on."""
        losses = self.losses()
        better = (losses < self.best_loss - self.tol) & self.searching
        self.best_loss = torch.where(better, losses, self.best_loss)
        self.best_epoch[better] = epoch
        with torch.no_grad():
            for kept, now in zip(self.best, self.predictor.parameters(), strict=True):
                kept.copy_(torch.where(better.view(-1, 1, 1), now, kept))
        # A member that ran out of patience is done: looking on would only find lucky epochs.
        self.searching &= epoch - self.best_epoch < self.patience
        return losses.mean().item(), bool(self.searching.any())

    def restore(self, predictor: Predictor) -> None:
        """Give each member of `predictor` its best weights."""
        with torch.no_grad():
            for kept, now in zip(self.best, predictor.parameters(), strict=True):
                now.copy_(kept)
