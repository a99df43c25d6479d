"""Batches of rows and of series, gathered and padded."""

from __future__ import annotations

import torch

from imputefree.gil._training_data import TrainingData

LENGTHS = torch.tensor([2, 4, 1])
VALUES = torch.arange(7.0)[:, None].expand(7, 2)
ROWS = torch.tensor([[2, 1], [0, 2]])


def series(**options):
    return TrainingData(VALUES, VALUES > 3, torch.arange(3), lengths=LENGTHS, **options)


def test_rows_of_a_table():
    data = TrainingData(VALUES, VALUES > 3, torch.arange(7), torch.arange(7.0))
    batch = data.batch(ROWS)
    assert torch.equal(batch.values, VALUES[ROWS])
    assert batch.observed is None
    assert torch.equal(data.batch(ROWS, with_observed=True).observed, (VALUES > 3)[ROWS])
    assert torch.equal(data.weights(batch), ROWS.float())
    assert data.n_rows == 7


def test_series_are_padded_by_their_own_last_step():
    data = series()
    batch = data.batch(ROWS, with_observed=True)
    assert batch.steps.tolist() == [[6, 6, 6, 6, 2, 3, 4, 5], [0, 1, 1, 1, 6, 6, 6, 6]]
    assert batch.valid.int().tolist() == [[1, 0, 0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 0, 0, 0]]
    assert torch.equal(batch.values, VALUES[batch.steps])
    assert torch.equal(batch.observed, (VALUES > 3)[batch.steps])
    assert torch.equal(batch.labelled, ROWS)
    assert torch.equal(batch.lengths, LENGTHS[ROWS])
    assert data.weights(batch) is None
    assert data.n_rows == 3


def test_a_batch_is_no_longer_than_its_longest_series():
    assert series().batch(torch.tensor([[0, 2]])).values.shape == (1, 2 * 2, 2)


def test_labels_of_steps_count_only_where_the_step_is_real():
    data = series(per_step=True, weight=torch.arange(7.0))
    batch = data.batch(ROWS)
    assert torch.equal(batch.labelled, batch.steps)
    assert torch.equal(data.weights(batch), batch.steps.float() * batch.valid)


def test_moving_keeps_everything():
    moved = series(per_step=True).to(torch.device("cpu"))
    assert torch.equal(moved.lengths, LENGTHS)
    assert moved.per_step
