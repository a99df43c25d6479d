"""Batches: every row every epoch, every member its own, classes balanced on request."""

from __future__ import annotations

import pytest
import torch

from imputefree.gil.batches import Batches


def epoch(batches):
    return torch.stack([next(batches) for _ in range(batches.steps)], 1).flatten(2)  # (K, steps, B)


@pytest.mark.parametrize(("rows", "size"), [(10, 3), (100, 32), (7, 128), (1, 5)])
def test_an_epoch_shows_every_row(rows, size):
    batches = Batches([torch.arange(rows)], size, torch.Generator().manual_seed(0))
    for _ in range(3):
        seen = epoch(batches)[0].flatten()
        assert set(seen.tolist()) == set(range(rows))
        assert len(seen) < rows + batches.steps  # fewer repeats than steps
    assert batches.size <= size


def test_members_see_only_their_own_rows_in_their_own_order():
    mine = [torch.arange(0, 40), torch.arange(30, 60)]
    batches = Batches(mine, 8, torch.Generator().manual_seed(0))
    first, second = epoch(batches)
    assert set(first.flatten().tolist()) == set(range(0, 40))
    assert set(second.flatten().tolist()) == set(range(30, 60))
    assert not torch.equal(first.flatten().argsort(), second.flatten().argsort())


def test_same_seed_same_batches():
    one, two = (Batches([torch.arange(50)], 8, torch.Generator().manual_seed(3)) for _ in "ab")
    assert all(torch.equal(next(one), next(two)) for _ in range(20))


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_balanced_batches_hold_the_classes_one_after_the_other(n_classes):
    classes = torch.arange(200) % n_classes
    classes[:60] = 0  # far from balanced
    batches = Batches([torch.arange(200)], 64, torch.Generator().manual_seed(0), classes, n_classes)
    share = batches.size // n_classes
    assert share % 2 == 0
    for _ in range(2 * batches.steps):
        expected = torch.arange(n_classes).repeat_interleave(share)
        assert torch.equal(classes[next(batches)[0]], expected)


def test_balanced_batches_when_a_member_lacks_a_class():
    """Groups can keep a class out of a member's rows; others of its rows stand in."""
    classes = torch.tensor([0, 0, 0, 1, 1])
    batches = Batches([torch.tensor([0, 1, 2])], 4, torch.Generator(), classes, 2)
    assert set(next(batches).flatten().tolist()) <= {0, 1, 2}
