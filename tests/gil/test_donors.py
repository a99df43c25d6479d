"""Gaps of donors make the mask say nothing about the target."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from imputefree.data import TableEncoder, read_columns
from imputefree.gil import Donors, TrainingData
from imputefree.gil._donors import WINDOW


def all_donors(donors, row):
    """Every donor that a row may get, each as likely as the others."""
    count = int(donors.count[row])
    uniform = (torch.arange(count) + 0.5) / count
    return donors.draw(torch.full((count,), row), uniform).tolist()


def test_with_two_classes_masks_are_independent_of_the_class():
    rng = np.random.default_rng(0)
    y = torch.tensor([0] * 7 + [1] * 4)[torch.randperm(11)]
    observed = rng.random((11, 3)) < 0.5
    donors = Donors.of(y, classes=True)
    shares = {}
    for label in (0, 1):
        masks: Counter = Counter()
        rows = np.flatnonzero(y.numpy() == label)
        for row in rows.tolist():
            every = all_donors(donors, row)
            assert set(y[every].tolist()) == {1 - label}
            assert len(set(every)) == len(every) == 11 - len(rows)
            for donor in every:
                masks[tuple(observed[row] & observed[donor])] += 1
        shares[label] = {mask: count / masks.total() for mask, count in masks.items()}
    assert shares[0] == shares[1]


def test_donors_of_numbers_lie_around_the_mirror_image():
    y = torch.randn(200, generator=torch.Generator().manual_seed(0))
    donors, rank = Donors.of(y, classes=False), y.argsort().argsort()
    for row in (0, 57, int(rank.argmin()), int(rank.argmax())):
        mirror = rank[all_donors(donors, row)].double().mean()
        assert abs(mirror - (199 - rank[row])) <= 6
    observed = rank >= 100  # measured in the upper half only
    drawn = donors.draw(torch.arange(200), torch.rand(200))
    both = observed & observed[drawn]
    assert both.double().mean() < 0.05  # nobody is left to tell


def test_one_class_and_one_row_have_donors_too():
    assert set(all_donors(Donors.of(torch.zeros(3, dtype=torch.long), True), 1)) == {0, 1, 2}
    assert all_donors(Donors.of(torch.zeros(1), False), 0) == [0]


def test_a_batch_has_the_gaps_of_its_donors():
    X = np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, 4.0]])
    encoder = TableEncoder(indicator=False, numeric_encoding="plain").fit(read_columns(X))
    parts = encoder.parts(read_columns(X))
    data = TrainingData(parts, None, torch.arange(3), expansion=encoder.expansion, n_columns=2)
    rows, donors = torch.tensor([[0, 1, 2]]), torch.tensor([[1, 2, 0]])
    values = data.batch(rows, donors=donors).values[0]
    zeros = (values == 0).tolist()
    assert zeros == [[False, True], [True, False], [True, True]]
    fixed = data.ignoring_gaps(Donors.of(data.target, True), donors[0])
    assert torch.equal(fixed.judged.batch(rows).values[0], values)
    assert torch.equal(fixed.batch(rows).values, data.batch(rows).values)


def test_steps_have_the_gaps_of_the_donors_steps_that_are_as_far():
    lengths = torch.tensor([4, 2])
    values = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0], [torch.nan]])
    encoder = TableEncoder(indicator=False, numeric_encoding="unscaled")
    encoder.fit(read_columns(np.array([[1.0], [2.0], [np.nan]])))
    data = TrainingData(
        values, None, torch.arange(2), lengths=lengths, expansion=encoder.expansion, n_columns=1
    )
    batch = data.batch(torch.tensor([[0, 1]]), donors=torch.tensor([[1, 0]]))
    assert batch.values.flatten().tolist()[:6] == [1, 2, 0, 0, 5, 0]
    fixed = data.ignoring_gaps(Donors.of(data.target, True), torch.tensor([1, 0])).judged
    nan = float("nan")
    assert np.array_equal(fixed.values.flatten(), [1, 2, nan, nan, 5, nan], equal_nan=True)


@pytest.mark.parametrize("n", [1, 2, 19, 20, 41, 200])
def test_donors_of_numbers_are_a_window_of_ranks(n):
    """As wide as a twentieth of the rows; it stops at both ends of the table."""
    y = torch.randn(n, generator=torch.Generator().manual_seed(0))
    donors, rank = Donors.of(y, classes=False), y.argsort().argsort().tolist()
    width = min(n // WINDOW + 1, n)
    for row in range(n):
        begin = min(max(n - 1 - rank[row] - width // 2, 0), n - width)
        found = sorted(rank[donor] for donor in all_donors(donors, row))
        assert found == list(range(begin, begin + width))
