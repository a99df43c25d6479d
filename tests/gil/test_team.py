"""What ranks do of a training, all of them in one process: parts that add up to the whole."""

from __future__ import annotations

import pytest
import torch

from imputefree._ranks import Ranks, together
from imputefree.errors import InputError, ParameterError
from imputefree.gil._team import Team


class Rank(Ranks):
    """One of some ranks that are not there; a sum is what this rank adds to it."""

    def __init__(self, rank, size, seen=None):
        self.rank, self.size, self.seen = rank, size, seen

    def teams(self, count):
        each = self.size // count
        return self.rank // each, Rank(self.rank % each, each)

    def gather(self, value):
        return self.seen or [value] * self.size


def teams(members, size):
    found = []
    for rank in range(size):
        with together(Rank(rank, size)):
            found.append(Team(members))
    return found


@pytest.mark.parametrize(("members", "size"), [(4, 2), (3, 2), (4, 6), (6, 4), (5, 1)])
def test_every_row_of_every_member_is_seen_once(members, size):
    batch = torch.zeros(members, 12)
    for team in teams(members, size):
        share = team.share(12)
        if size == 1:
            assert share is ...
            continue
        mine, rows = share
        batch[mine, rows] += 1
    assert size == 1 or (batch == 1).all()


@pytest.mark.parametrize(("members", "size"), [(4, 2), (3, 2), (4, 6)])
@pytest.mark.parametrize("steps", [1, 5])
def test_random_numbers_do_not_depend_on_the_ranks(members, size, steps):
    """Rows, or their steps one row after the other: each rank takes those of its rows."""
    expected = torch.rand(members, 12 * steps, 2, generator=torch.Generator().manual_seed(3))
    found = torch.full_like(expected, torch.nan)
    places = torch.arange(12 * steps).view(12, steps)
    for team in teams(members, size):
        generator = team.generator(torch.Generator().manual_seed(3))
        team.batch_size = 12
        mine, rows = team.share(12)
        at = places[rows].flatten()
        shape = (len(mine), len(at), 2)
        drawn = torch.rand(generator.whole(shape), generator=generator)
        found[mine[:, None], at] = generator.take(drawn, shape)
    assert torch.equal(found, expected)


@pytest.mark.parametrize(("members", "size"), [(4, 2), (3, 2), (4, 6)])
def test_figures_and_weights_of_all_members_come_together(members, size):
    """Sums over ranks hold each member once, although a team has it several times."""
    expected = torch.arange(1.0, members + 1)
    weights = expected[:, None] * torch.ones(3)
    everyone = [team.everyone(expected[team.mine]) for team in teams(members, size)]
    assert torch.equal(sum(everyone), expected)
    for part in (True, False):  # a rank has its members, or room for all
        found = [
            team.collect([weights[team.mine] if part else weights])[0]
            for team in teams(members, size)
        ]
        assert torch.equal(sum(found), weights)


def test_members_that_stay_are_counted_anew():
    first, second = teams(4, 2)
    kept = torch.tensor([0, 3])
    assert first.keep_members(kept).tolist() == [0]
    assert second.keep_members(kept).tolist() == [1]
    assert (first.mine.tolist(), second.mine.tolist(), first.members) == ([0], [1], 2)
    first.begin(4)
    assert first.mine.tolist() == [0, 1]


def test_what_ranks_cannot_train_together_is_refused():
    with together(Rank(0, 2, ["a", "a"])):
        Team(3).check(2, True, "a")
        with pytest.raises(ParameterError, match="batches of 1"):
            Team(3).check(1, True, "a")
        with pytest.raises(ParameterError, match="policy learns"):
            Team(3).check(2, False, "a")
    with together(Rank(0, 2, ["a", "b"])), pytest.raises(InputError, match="not all ranks"):
        Team(3).check(2, True, "a")
