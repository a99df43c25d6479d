"""Looking at trained networks: the features they see, and the importance their policy gives."""

from __future__ import annotations

import torch
from torch import Tensor

from ._losses import Loss
from ._policies import Policy, State, Task
from ._predictors import Predictor
from ._training_data import Batch, TrainingData
from ._validation import chunks, every_row, put


@torch.no_grad()
def features(predictor: Predictor, data: TrainingData) -> Tensor:
    """ζ of every member at every labelled place, members side by side; (n, K·E).

    Places are rows of a table, the last steps of series or, with `data.per_step`, all steps.

    >>> net = Predictor(2, 3, 1, hidden=(8,), generator=torch.Generator().manual_seed(0))
    >>> values = torch.zeros(5, 3)
    >>> features(net, TrainingData(values, values == 0, torch.empty(0))).shape
    torch.Size([5, 16])
    """
    n_labels = len(data.values) if data.per_step else data.n_rows
    out = data.values.new_empty(predictor.members, n_labels, predictor.n_features)
    for _, batch in chunks(predictor, data, every_row(predictor, data)):
        found = predictor(batch.values, batch.observed, lengths=batch.lengths)[0]
        put(out, batch, predictor.labelled(found, batch.lengths), data.per_step)
    return out.transpose(0, 1).flatten(1)


@torch.no_grad()
def importance(predictor: Predictor, policy: Policy, loss: Loss, data: TrainingData) -> Tensor:
    """What the policy gives every entry of every row (or step), without chance; (n, columns).

    The mean over members and over a column's inputs, float64; NaN for a column that gives the
    networks no input, such as one of categories that held nothing in training.

    policy : as training left it; it sees the state that training would show it of these rows,
        none of their entries hidden
    data : with `entries`, `columns` and `n_columns`

    >>> from .losses import SquaredError
    >>> from .policies import ObservedPolicy
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
    task = Task(
        data.values[:, : data.entries],
        data.observed[:, : data.entries],
        predictor.n_features,
        loss.predictions,
        predictor.members,
        torch.Generator().manual_seed(0),
        series=data.lengths is not None,
    )
    for _, batch in chunks(predictor, data, every_row(predictor, data), task.state_size):
        state = _state(predictor, policy, loss, task, batch)
        found = policy.expected(state)
        found = torch.ones_like(state.values) if found is None else found
        mean = found.mean(0, dtype=torch.float64)  # of the members, which all see these rows
        total = mean.new_zeros(len(mean), data.n_columns).index_add_(1, columns, mean)
        places = batch.steps[0]
        if batch.valid is not None:  # padding repeats a step, with other features
            places, total = places[batch.valid[0]], total[batch.valid[0]]
        out[places] = total / inputs
    return out


def _state(predictor: Predictor, policy: Policy, loss: Loss, task: Task, batch: Batch) -> State:
    """s = (x, m, ζ, ŷ) as in `Trainer._look`, without dropout; a blind policy gets (x, m)."""
    values = batch.values[..., : task.values.shape[1]]
    zeta = prediction = values[..., :0]
    if not policy.blind:
        inputs = batch.values, batch.observed, batch.lengths
        zeta, raw = predictor(batch.values, batch.observed, lengths=batch.lengths)
        prediction = loss.predict(predictor.everywhere(zeta, raw, *inputs))
    return State(task, batch.steps, values, zeta, prediction, valid=batch.valid)
