"""Batches of rows and of series: which rows they hold, gathered and padded."""

from __future__ import annotations

import pytest
import torch

from imputefree.gil import Batches, TrainingData
from imputefree.gil import _training_data as training_data

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


def test_series_are_padded_by_their_last_step():
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
    assert data.batch(torch.tensor([[0, 2]])).values.shape == (1, 2 * 2, 2)  # T = 2 is enough


def test_labels_per_step_count_only_at_valid_steps():
    data = series(per_step=True, weight=torch.arange(7.0))
    batch = data.batch(ROWS)
    assert torch.equal(batch.labelled, batch.steps)
    assert torch.equal(data.weights(batch), batch.steps.float() * batch.valid)


def test_hidden_entries_are_gaps_with_indicators():
    """Two entries of one column, one of another, and the indicator of the first column."""
    values = torch.tensor([[1.0, 2.0, 3.0, 0.0, 7.0]])
    columns = torch.tensor([0, 0, 1, 0])
    data = TrainingData(
        values,
        values != 0,
        torch.zeros(1),
        entries=3,
        columns=columns,
        n_columns=2,
        placeholder=-5.0,
    )
    hidden = torch.tensor([[[True, False]]])
    batch = data.batch(torch.tensor([[0]]), True, hide=lambda *shape: hidden.view(shape))
    assert batch.values.tolist() == [[[-5.0, -5.0, 3.0, 1.0, 7.0]]]
    assert batch.observed.tolist() == [[[False, False, True, False, True]]]
    assert values.tolist() == [[1.0, 2.0, 3.0, 0.0, 7.0]]


def test_data_move_between_devices_whole():
    moved = series(per_step=True, weight=torch.arange(7.0)).to(torch.device("meta"))
    tensors = [value for value in vars(moved).values() if isinstance(value, torch.Tensor)]
    assert len(tensors) >= 5  # values, observed, targets, weights, lengths
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert moved.per_step
    assert moved.n_rows == 3


def epoch(batches):
    return torch.stack([next(batches) for _ in range(batches.steps)], 1)  # (K, steps, B)


@pytest.mark.parametrize(("rows", "size"), [(10, 3), (100, 32), (7, 128), (1, 5)])
def test_an_epoch_shows_every_row(rows, size):
    batches = Batches([torch.arange(rows)], size, torch.Generator().manual_seed(0))
    for _ in range(3):
        seen = epoch(batches)[0].flatten()
        assert set(seen.tolist()) == set(range(rows))
        assert len(seen) < rows + batches.steps  # fewer repeats than steps
    assert batches.size <= size


def test_the_same_seed_gives_the_same_batches():
    left, right, other = (
        Batches([torch.arange(50)], 8, torch.Generator().manual_seed(seed)) for seed in (3, 3, 4)
    )
    for _ in range(3):
        rows = epoch(left)
        assert torch.equal(rows, epoch(right))
        assert not torch.equal(rows, epoch(other))


def test_members_draw_from_their_own_rows_in_their_own_order():
    rows = [torch.arange(0, 40), torch.arange(30, 60)]
    batches = Batches(rows, 8, torch.Generator().manual_seed(0))
    first, second = epoch(batches)
    assert set(first.flatten().tolist()) == set(range(0, 40))
    assert set(second.flatten().tolist()) == set(range(30, 60))
    assert not torch.equal(first.flatten().argsort(), second.flatten().argsort())


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


@pytest.mark.parametrize(
    ("batch_size", "classes", "size", "steps"),
    [(64, 3, 60, 4), (12, 3, 12, 17), (11, 3, 6, 34), (4, 3, 6, 34), (400, 2, 400, 1)],
)
def test_balanced_batches_hold_as_many_rows_as_fit(batch_size, classes, size, steps):
    of = torch.arange(200) % classes
    batches = Batches([torch.arange(200)], batch_size, torch.Generator(), of, classes)
    assert (batches.size, batches.steps) == (size, steps)


def test_batches_go_on_within_an_epoch_and_with_fewer_members():
    rows = [torch.arange(0, 10), torch.arange(10, 20), torch.arange(20, 30)]
    one = Batches(rows, 4, torch.Generator().manual_seed(0))
    next(one)
    other = Batches(rows, 4, torch.Generator())
    other.load_state_dict(one.state_dict())
    one.keep_members(torch.tensor([0, 2]))
    left = next(one)
    assert torch.equal(left, next(other)[[0, 2]])
    assert left.shape == (2, 4)
    assert (left // 10).unique(dim=1).flatten().tolist() == [0, 2]


def test_series_of_twice_the_mean_length_are_not_long():
    """A mean of 2: series of 4 steps stay where they are, and one of 5 comes last."""
    generator = torch.Generator().manual_seed(0)
    for longest, others in ((4, 0), (5, 1)):
        lengths = torch.full((40,), 2)
        lengths[0], lengths[1 : longest - 1] = longest, 1
        lengths[longest - 1] = 2
        lengths[1] -= int(lengths.sum()) - 80
        assert lengths.sum() == 80
        places = set()
        for _ in range(20):
            batches = Batches([torch.arange(40)], 40, generator, lengths=lengths)
            cards = torch.arange(40)
            before = batches._generator.get_state()
            drawn = batches._by_length(cards, 40)
            batches._generator.set_state(before)
            order = torch.rand(1, 40, generator=generator).argsort(1)[0]
            places.add(int(order[(drawn == 0).nonzero()[0, 0]]))
        assert places == ({39} if others else {0})


def test_balanced_batches_when_a_member_lacks_a_class():
    """Groups can keep a class out of a member's rows; its other rows stand in."""
    classes = torch.tensor([0, 0, 0, 1, 1])
    batches = Batches([torch.tensor([0, 1, 2])], 4, torch.Generator(), classes, 2)
    assert set(next(batches).flatten().tolist()) <= {0, 1, 2}


class TestSeries:
    lengths = torch.randint(3, 126, (400,), generator=torch.Generator().manual_seed(0))

    def batches(self, members=2, classes=None, seed=0, lengths=None):
        g = torch.Generator().manual_seed(seed)
        rows = [torch.arange(400)] * members
        lengths = self.lengths if lengths is None else lengths
        return Batches(rows, 16, g, classes, 0 if classes is None else 2, lengths)

    def test_an_epoch_shows_every_series_and_the_longest_ones_together(self):
        lengths = self.lengths.clone()
        lengths[:40] = 1000 + torch.arange(40)
        rows = epoch(self.batches(lengths=lengths))
        assert all(set(member.flatten().tolist()) == set(range(400)) for member in rows)
        drawn = lengths[rows]  # (K, steps, B)
        alone = (drawn < 1000).all(2)
        assert (~alone).sum(1).tolist() == [3, 3]  # 40 series in batches of 16
        assert (drawn.amax(2)[alone] - drawn.amin(2)[alone]).float().mean() > 90  # mixed

    def test_order_is_random_and_batches_differ_between_epochs(self):
        batches = self.batches(members=1)
        first, second = epoch(batches)[0], epoch(batches)[0]
        means = self.lengths[first].float().mean(1)
        order = torch.arange(len(means), dtype=torch.float)
        assert torch.corrcoef(torch.stack([means, order]))[0, 1].abs() < 0.6
        assert {frozenset(b.tolist()) for b in first} != {frozenset(b.tolist()) for b in second}

    def test_classes_stay_balanced(self):
        classes = (torch.arange(400) % 3 == 0).long()
        batches = self.batches(classes=classes)
        for _ in range(batches.steps):
            assert (classes[next(batches)].view(2, 2, -1) == torch.tensor([[[0], [1]]])).all()

    def test_long_series_come_at_any_time(self):
        lengths = self.lengths.clone()
        lengths[:16] = 1000
        batches = self.batches(members=1, lengths=lengths)
        places = {int((lengths[epoch(batches)[0]] == 1000).all(1).nonzero()) for _ in range(12)}
        assert len(places) > 4

    def test_batches_are_not_sorted_inside(self):
        drawn = self.lengths[epoch(self.batches(members=1))[0]].float()
        ahead = (drawn[:, :8].mean(1) > drawn[:, 8:].mean(1)).float().mean()
        assert 0.2 < ahead < 0.8

    def test_equal_lengths_are_shuffled_like_a_table(self):
        series = self.batches(lengths=torch.full((400,), 9))
        table = Batches([torch.arange(400)] * 2, 16, torch.Generator().manual_seed(0))
        assert torch.equal(epoch(series), epoch(table))


@pytest.mark.parametrize("n", [1, 255, 256, 257, 5000])
def test_windows_of_a_large_table_hold_every_row_once(n, monkeypatch):
    monkeypatch.setattr(training_data, "WINDOW", 1024)
    generator = torch.Generator().manual_seed(0)
    order = training_data.shuffled(n, generator)
    assert order.sort().values.tolist() == list(range(n))
    assert n == 1 or order.tolist() != training_data.shuffled(n, generator).tolist()


def test_a_window_mixes_blocks_from_all_over_the_table(monkeypatch):
    monkeypatch.setattr(training_data, "WINDOW", 2**13)
    order = training_data.shuffled(2**17, torch.Generator().manual_seed(0)).double()
    middle = 2**16
    for window in order.split(2**13):  # 32 blocks: the mean of their places is near the middle
        assert abs(window.mean() - middle) < 4 * middle / (3 * 32) ** 0.5
        assert window[:1024].long().div(256, rounding_mode="floor").unique().numel() > 20
