"""Prediction in bounded memory, and early stopping, member by member: each keeps the weights that
did best on its own rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from ._losses import Loss
from ._predictors import Predictor
from ._training_data import Batch, TrainingData

CHUNK_ENTRIES = 2**22  # numbers of a (K, chunk, width) block: 16 MB in float32


def chunks(
    predictor: Predictor, data: TrainingData, rows: Tensor, width: int = 0
) -> Iterator[tuple[slice, Batch]]:
    """Row numbers (K, V) in pieces that fit into memory: which of V, and their batch.

    width : how many numbers a row (or step) takes, if more than the network needs
    """
    width = max(predictor.inputs, predictor.n_features, width)
    budget = max(CHUNK_ENTRIES // (len(rows) * width), 1)  # rows, or steps
    at = 0
    while at < rows.shape[1]:
        steps = 1
        if data.lengths is not None:  # the longest of as many as would fit if it were typical
            first = int(data.lengths[rows[:, at]].max())
            likely = rows[:, at : at + max(budget // first, 1)]
            steps = int(data.lengths[likely].max())
        part = slice(at, min(at + max(budget // steps, 1), rows.shape[1]))
        yield part, data.batch(rows[:, part], predictor.wants_observed)
        at = part.stop


@torch.no_grad()
def predictions(
    predictor: Predictor, data: TrainingData, rows: Tensor
) -> Iterator[tuple[slice, Batch, Tensor]]:
    """Raw outputs for row numbers (K, V), chunk by chunk: which of V, their batch, its output.

    Memory does not grow with V; series should come sorted by length, or padding costs time.
    """
    for part, batch in chunks(predictor, data, rows):
        yield part, batch, predictor(batch.values, batch.observed, lengths=batch.lengths)[1]


def every_row(predictor: Predictor, data: TrainingData) -> Tensor:
    """The numbers of all rows (or series, short ones first) for every member; (K, n)."""
    rows = torch.arange(data.n_rows, device=data.values.device)
    if data.lengths is not None:
        rows = data.lengths.argsort(stable=True)
    return rows.expand(predictor.members, -1)


def put(out: Tensor, batch: Batch, found: Tensor, per_step: bool) -> None:
    """Write what a chunk gave for its labelled places, (K, B, ·), into out (K, n, ·)."""
    places = batch.labelled[0]  # the same for all members
    if per_step and batch.valid is not None:
        places, found = places[batch.valid[0]], found[:, batch.valid[0]]
    out[:, places] = found


def predict_raw(predictor: Predictor, data: TrainingData) -> Tensor:
    """Raw outputs of all members for all rows (or series, or steps of series); (K, n, O)."""
    rows = every_row(predictor, data)
    n_labels = len(data.values) if data.per_step else data.n_rows
    out = data.values.new_empty(predictor.members, n_labels, predictor.outputs)
    for _, batch, raw in predictions(predictor, data, rows):
        put(out, batch, raw, data.per_step)
    return out


class Keeper:
    """Watches the validation loss of each member and keeps its best weights.

    Parameters
    ----------
    held_out : per member the row numbers it does not train on
    patience : epochs without improvement by more than `tol` before a member is done; training
        ends when all are
    """

    _SEEN = ("best_loss", "best_epoch", "searching")

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
        if data.lengths is not None:  # series of similar length side by side
            lengths = data.lengths.cpu()
            held_out = [rows[lengths[rows].argsort(stable=True)] for rows in held_out]
        width = max(len(rows) for rows in held_out)
        # Members may hold out unequal numbers of rows: repeat the first, with weight 0.
        self.rows = torch.stack(
            [torch.cat([rows[:1].expand(width - len(rows)), rows]) for rows in held_out]
        ).to(device)
        missing = torch.tensor([width - len(rows) for rows in held_out])
        real = torch.arange(width) >= missing[:, None]
        self.real = real.to(device, data.values.dtype)
        self.patience, self.tol = patience, tol
        members = len(held_out)
        self.best_loss = torch.full((members,), torch.inf, device=device)
        self.best_epoch = torch.zeros(members, dtype=torch.long, device=device)
        self.searching = torch.ones(members, dtype=torch.bool, device=device)
        self.best = [p.detach().clone() for p in predictor.parameters()]

    def losses(self) -> Tensor:
        """Weighted mean error of each member on its own held-out rows; (K,)."""
        total = count = self.real.new_zeros(len(self.rows))
        for part, batch, raw in predictions(self.predictor, self.data, self.rows):
            errors = self.loss.errors(raw, self.data.target[batch.labelled])
            weight = self.real[:, part]
            if errors.shape != weight.shape:  # a row's steps count as the row does
                weight = weight.repeat_interleave(errors.shape[1] // weight.shape[1], 1)
            own = self.data.weights(batch)
            weight = weight if own is None else weight * own
            total = total + (errors * weight).sum(1)
            count = count + weight.sum(1)
        return total / count.clamp_min(1e-30)

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

    def state(self) -> dict[str, Any]:
        """What it has seen so far."""
        return {"best": self.best, **{name: getattr(self, name) for name in self._SEEN}}

    def set_state(self, state: dict[str, Any]) -> None:
        """The reverse of `state`."""
        device = self.best_loss.device
        self.best = [kept.to(device) for kept in state["best"]]
        for name in self._SEEN:
            setattr(self, name, state[name].to(device))

    def restore(self, predictor: Predictor) -> None:
        """Give each member of `predictor` its best weights."""
        with torch.no_grad():
            for kept, now in zip(self.best, predictor.parameters(), strict=True):
                now.copy_(kept)
