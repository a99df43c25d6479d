"""Trained networks at work: prediction in bounded memory, features, importance, early stopping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .._ranks import Ranks, current_ranks
from ._policies import Policy, State, Task
from ._predictors import Loss, Predictor
from ._training_data import Batch, TrainingData

CHUNK_ENTRIES = 2**20  # numbers in a (K, chunk, width) block: 4 MB in float32, which caches hold


def chunks(
    predictor: Predictor, data: TrainingData, rows: Tensor, width: int = 0
) -> Iterator[tuple[slice, Batch]]:
    """Split row indices (K, V) into chunks that fit into memory; yields a slice of V and its batch.

    `width` is the number of values per row (or step), if that is more than the network needs.
    Series should be sorted by length, or padding costs time.
    """
    features = predictor.n_features * predictor.members // len(rows)
    width = max(predictor.inputs, features, width)
    budget = CHUNK_ENTRIES // len(rows)  # numbers per row of indices
    beside = 0 if data.summaries is None else data.summaries.shape[1]
    start = 0
    while start < rows.shape[1]:
        steps = 1
        if data.lengths is not None:  # of the longest of the next series, as many as may fit
            first = int(data.lengths[rows[:, start]].max())
            candidates = rows[:, start : start + max(budget // (first * width + beside), 1)]
            steps = int(data.lengths[candidates].max())
        count = max(budget // (steps * width + beside), 1)
        chunk = slice(start, min(start + count, rows.shape[1]))
        yield chunk, data.batch(rows[:, chunk], predictor.wants_observed)
        start = chunk.stop


def every_row(predictor: Predictor, data: TrainingData, shared: bool = False) -> Tensor:
    """Indices of all rows (or series, short ones first) for every member; (K, n).

    shared : (1, n) for tables, where one batch of rows serves all members
    """
    rows = torch.arange(data.n_rows, device=data.values.device)
    if data.lengths is not None:
        return data.lengths.argsort(stable=True).expand(predictor.members, -1)
    return rows.expand(1 if shared else predictor.members, -1)


@torch.no_grad()
def _at_labels(predictor: Predictor, data: TrainingData, features: bool) -> Tensor:
    """Features or raw outputs of all members for all labels; (K, n, ·)."""
    n_labels = len(data.values) if data.per_step else data.n_rows
    width = predictor.n_features if features else predictor.outputs
    out = data.values.new_empty(predictor.members, n_labels, width)
    for _, batch in chunks(predictor, data, every_row(predictor, data, shared=True)):
        zeta, values = predictor.see(batch)
        if features:
            values = predictor.labelled(zeta, batch.lengths)
        places = batch.labelled[0]  # the same for all members
        if data.per_step and batch.valid is not None:
            places, values = places[batch.valid[0]], values[:, batch.valid[0]]
        out[:, places] = values
    return out


def predict_raw(predictor: Predictor, data: TrainingData) -> Tensor:
    """Raw outputs of all members for all rows (or series, or steps of series); (K, n, O)."""
    return _at_labels(predictor, data, features=False)


def features(predictor: Predictor, data: TrainingData) -> Tensor:
    """ζ of all members side by side, per row, last step of a series or, with per_step, step.

    Shape: (n, K·E).

    >>> net = Predictor(2, 3, 1, hidden=(8,), generator=torch.Generator().manual_seed(0))
    >>> values = torch.zeros(5, 3)
    >>> features(net, TrainingData(values, values == 0, torch.empty(0))).shape
    torch.Size([5, 16])
    """
    return _at_labels(predictor, data, features=True).transpose(0, 1).flatten(1)


@torch.no_grad()
def importance(predictor: Predictor, policy: Policy, loss: Loss, data: TrainingData) -> Tensor:
    """Expected importance of every entry of every row (or step); (n, columns), float64.

    Averaged over members and over the inputs of a column; NaN for a column without inputs, such
    as a categorical column that was empty in training. The policy sees these rows as it would in
    training, with no entry hidden.

    data : with `entries`, `columns` and `n_columns`

    >>> from imputefree.gil import ObservedPolicy, SquaredError
    >>> net = Predictor(2, 3, 1, hidden=(8,), generator=torch.Generator().manual_seed(0))
    >>> data = TrainingData(torch.zeros(1, 3), torch.tensor([[True, True, False]]), torch.empty(0),
    ...                     entries=3, columns=torch.tensor([0, 0, 1]), n_columns=2)
    >>> importance(net, ObservedPolicy(), SquaredError(), data)
    tensor([[1., 0.]], dtype=torch.float64)
    """
    assert data.columns is not None
    columns = data.columns[: data.entries]
    inputs = torch.bincount(columns, minlength=data.n_columns)
    out = torch.empty(len(data.values), data.n_columns, dtype=torch.float64, device=columns.device)
    task = Task.of(data, predictor, loss, torch.Generator().manual_seed(0))
    for _, batch in chunks(predictor, data, every_row(predictor, data), task.state_size):
        values = batch.values[..., : data.entries]
        zeta = prediction = values[..., :0]
        if not policy.blind:
            zeta, raw = predictor.see(batch)
            prediction = loss.predict(predictor.everywhere(zeta, raw, batch))
        state = State(task, batch.steps, values, zeta, prediction, valid=batch.valid)
        weights = policy.expected(state)
        weights = torch.ones_like(values) if weights is None else weights
        mean = weights.mean(0, dtype=torch.float64)  # over members, which all see these rows
        total = mean.new_zeros(len(mean), data.n_columns).index_add_(1, columns, mean)
        places = batch.steps[0]
        if batch.valid is not None:  # padding repeats a step, with different features
            places, total = places[batch.valid[0]], total[batch.valid[0]]
        out[places] = total / inputs
    return out


class HeldOut:
    """The rows that each member is validated on.

    rows : per member the indices of rows it does not train on
    ranks : who see a share of these rows each; by default all
    """

    def __init__(
        self,
        loss: Loss,
        data: TrainingData,
        rows: Sequence[Tensor],
        ranks: Ranks | None = None,
    ) -> None:
        data = data if data.judged is None else data.judged
        self.loss, self.data, self.ranks = loss, data, ranks or current_ranks()
        device = data.values.device
        if data.lengths is not None:  # series of similar length side by side
            lengths = data.lengths.cpu()
            rows = [member[lengths[member].argsort(stable=True)] for member in rows]
        width = max(map(len, rows))
        # Members may hold out unequal numbers of rows: repeat the first, with weight 0.
        padding = torch.tensor([width - len(member) for member in rows])
        padded = [torch.cat([member[:1].expand(width - len(member)), member]) for member in rows]
        share = slice(self.ranks.rank, None, self.ranks.size)  # of each length as many
        self.rows = torch.stack(padded)[:, share].to(device)
        real = torch.arange(width) >= padding[:, None]
        self.real = real[:, share].to(device, data.values.dtype)
        self._only: list[tuple[slice, Batch]] = []  # the batch of all rows, if one can hold them

    def keep_members(self, kept: Tensor) -> None:
        """Validate the members with these numbers only."""
        self.rows, self.real, self._only = self.rows[kept], self.real[kept], []

    def _chunks(self, predictor: Predictor) -> Iterator[tuple[slice, Batch]]:
        """The rows in batches. A small table has one, which is made once, not in every epoch."""
        if self._only:
            yield from self._only
            return
        for chunk, batch in chunks(predictor, self.data, self.rows) if len(self.rows) else ():
            if chunk == slice(0, self.rows.shape[1]):
                self._only = [(chunk, batch)]
            yield chunk, batch

    @torch.no_grad()
    def losses(self, predictor: Predictor) -> Tensor:
        """Weighted mean error of each member on its held-out rows; (K,)."""
        total = count = self.real.new_zeros(len(self.rows))
        for chunk, batch in self._chunks(predictor):
            raw = predictor.see(batch)[1]
            errors = self.loss.errors(raw, self.data.target[batch.labelled])
            weight = self.real[:, chunk]
            if errors.shape != weight.shape:  # one label per step
                weight = weight.repeat_interleave(errors.shape[1] // weight.shape[1], 1)
            sample_weight = self.data.weights(batch)
            weight = weight if sample_weight is None else weight * sample_weight
            total = total + (errors * weight).sum(1)
            count = count + weight.sum(1)
        self.ranks.sum_([total, count])
        return total / count.clamp_min(1e-30)

    @torch.no_grad()
    def predictions(self, predictor: Predictor) -> Tensor:
        """ŷ of each row by the members that do not train on it; (n, O) float64, NaN if all do."""
        count = torch.zeros(self.data.n_rows, dtype=torch.float64)
        total = count.new_zeros(len(count), self.loss.predictions)
        for chunk, batch in self._chunks(predictor):
            raw = predictor.see(batch)[1]
            predicted = self.loss.predict(raw.double()).cpu()
            rows, real = self.rows[:, chunk].flatten().cpu(), self.real[:, chunk].double().cpu()
            total.index_add_(0, rows, (predicted * real[..., None]).flatten(0, 1))
            count.index_add_(0, rows, real.flatten())
        self.ranks.sum_([total, count])
        return total / count[:, None]


class EarlyStopping:
    """Keeps the best weights of each member, and says which members still search.

    Parameters
    ----------
    network : whose weights are kept; with several members every weight is (K, ...)
    patience : epochs without an improvement by more than `tol` after which a member is done

    A member that is done may leave the network (`keep_members`); its best weights stay here. Of the
    members present, the network may have only some (`here`), and others train elsewhere.

    >>> network = nn.Linear(1, 1)
    >>> stopping = EarlyStopping(network, patience=2)
    >>> [stopping.update(torch.tensor([loss]), epoch) for epoch, loss in enumerate([3.0, 4.0, 5.0])]
    [True, True, False]
    >>> stopping.best_loss, stopping.best_epoch
    (tensor([3.]), tensor([0]))
    """

    _RECORDS = ("best_loss", "best_epoch", "searching", "present")

    def __init__(
        self, network: nn.Module, members: int = 1, *, patience: int, tol: float = 0.0
    ) -> None:
        self.network: Any = network
        self.patience, self.tol = patience, tol
        self.best = [p.detach().clone() for p in network.parameters()]
        device = next(network.parameters()).device
        self.best_loss = torch.full((members,), torch.inf, device=device)
        self.best_epoch = torch.zeros(members, dtype=torch.long, device=device)
        self.searching = torch.ones(members, dtype=torch.bool, device=device)
        self.present = torch.arange(members, device=device)  # which members still train
        self.here: Tensor | slice = slice(None)  # which of these the network has

    @torch.no_grad()
    def update(self, losses: Tensor, epoch: int) -> bool:
        """Record the losses of the present members after an epoch; returns whether to continue."""
        better = (losses < self.best_loss[self.present] - self.tol) & self.searching[self.present]
        winners = self.present[better]
        self.best_loss[winners] = losses[better].to(self.best_loss)
        self.best_epoch[winners] = epoch
        better = better[self.here].nonzero().flatten()
        winners = self.present[self.here][better]
        for best, now in zip(self.best, self.network.parameters(), strict=True):
            if not len(winners):
                break
            if len(self.best_loss) > 1:
                best[winners] = now[better]
            else:  # its weights need not have a dimension of members
                best.copy_(now)
        # A member that ran out of patience is done: later epochs would only win by luck.
        self.searching &= epoch - self.best_epoch < self.patience
        return bool(self.searching.any())

    def still_searching(self) -> Tensor:
        """The numbers, among the members present, of those that are not done."""
        return self.searching[self.present].nonzero().flatten()

    def keep_members(self, kept: Tensor) -> None:
        """Of the members present, only those with these numbers stay."""
        self.present = self.present[kept]

    @torch.no_grad()
    def restore(self, network: nn.Module) -> None:
        """Give `network` the best weights of every member, also of those that left."""
        for best, now in zip(self.best, network.parameters(), strict=True):
            now.data = best.clone()
        if isinstance(network, Predictor):
            network.members = len(self.best_loss)

    def state_dict(self) -> dict[str, Any]:
        """Everything recorded so far."""
        return {"best": self.best, **{name: getattr(self, name) for name in self._RECORDS}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        device = self.best_loss.device
        self.best = [best.to(device) for best in state["best"]]
        for name in self._RECORDS:
            setattr(self, name, state[name].to(device))


@torch.no_grad()
def update_average(
    average: Sequence[Tensor], weights: Sequence[Tensor], averaging: float, steps: int
) -> None:
    """Move a running mean of weights towards those after `steps` steps.

    The newest weights count 1 - `averaging`; at first it is a plain mean of recent steps.
    """
    pace = max(1 - averaging, 1 / (1 + steps / 2))
    torch._foreach_lerp_(tuple(average), tuple(weights), pace)
