"""Batches: every row every epoch, every member its own, classes balanced on request."""

from __future__ import annotations

import pytest
import torch

from imputefree.gil._batches import Batches


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


class TestSeries:
    lengths = torch.randint(3, 126, (400,), generator=torch.Generator().manual_seed(0))

    def batches(self, members=2, classes=None, seed=0, lengths=None):
        g = torch.Generator().manual_seed(seed)
        rows = [torch.arange(400)] * members
        given = self.lengths if lengths is None else lengths
        return Batches(rows, 16, g, classes, 0 if classes is None else 2, given)

    def test_an_epoch_still_shows_every_series(self):
        made = self.batches()
        for _ in range(3):
            assert all(set(one.flatten().tolist()) == set(range(400)) for one in epoch(made))

    def test_a_batch_holds_similar_lengths_and_so_do_the_members(self):
        spread = self.lengths[epoch(self.batches())].float()  # (K, steps, B)
        assert spread.std(2).mean() < 0.2 * self.lengths.float().std()
        padding = 1 - spread.sum() / (spread.amax((0, 2)).sum() * spread[:, 0].numel())
        assert padding < 0.15

    def test_batches_come_in_random_order_and_differ_by_epoch(self):
        made = self.batches(members=1)
        first, second = epoch(made)[0], epoch(made)[0]
        means = self.lengths[first].float().mean(1)
        order = torch.arange(len(means), dtype=torch.float)
        assert torch.corrcoef(torch.stack([means, order]))[0, 1].abs() < 0.6
        assert {frozenset(b.tolist()) for b in first} != {frozenset(b.tolist()) for b in second}

    def test_classes_stay_balanced(self):
        classes = (torch.arange(400) % 3 == 0).long()
        made = self.batches(classes=classes)
        for _ in range(made.steps):
            assert (classes[next(made)].view(2, 2, -1) == torch.tensor([[[0], [1]]])).all()

    def test_halves_of_a_batch_are_no_shorter_and_longer_half(self):
        drawn = self.lengths[epoch(self.batches(members=1))[0]].float()
        ahead = (drawn[:, :8].mean(1) > drawn[:, 8:].mean(1)).float().mean()
        assert 0.2 < ahead < 0.8

    def test_equal_lengths_are_shuffled_as_a_table_is(self):
        series = self.batches(lengths=torch.full((400,), 9))
        table = Batches([torch.arange(400)] * 2, 16, torch.Generator().manual_seed(0))
        assert torch.equal(epoch(series), epoch(table))
