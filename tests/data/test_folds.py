"""Folds: each its share of every class, groups whole, the only row of a class always learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imputefree.data import assign_folds

STRATA = np.repeat([0, 1, 2], [50, 23, 8])


def deal(n_folds=4, strata=STRATA, groups=None, seed=0):
    return assign_folds(n_folds, np.random.default_rng(seed), strata, groups)


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40).map(np.array),
    st.integers(2, 10),
    st.integers(0, 9),
)
def test_every_fold_gets_its_share_of_every_class(strata, n_folds, seed):
    folds = deal(n_folds, strata, seed=seed)
    assert folds.shape == strata.shape
    for label in np.unique(strata):
        mine = folds[strata == label]
        if len(mine) == 1:
            assert mine[0] == -1  # never held out
        else:
            shares = np.bincount(mine, minlength=n_folds)
            assert len(shares) == n_folds
            assert shares.max() - shares.min() <= 1
    sizes = np.bincount(folds[folds >= 0], minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1  # no fold collects all the remainders


def test_the_same_source_of_chance_gives_the_same_folds():
    groups = np.arange(len(STRATA)) // 3
    for chosen in (None, groups):
        assert (deal(groups=chosen, seed=3) == deal(groups=chosen, seed=3)).all()
    assert any((deal(seed=3) != deal(seed=seed)).any() for seed in (4, 5))


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_never_split(kind, seed):
    groups = np.random.default_rng(seed).integers(0, 20, size=len(STRATA)).astype(kind)
    folds = deal(groups=groups, seed=seed)
    for group in np.unique(groups):
        assert len(set(folds[groups == group])) == 1


def test_groups_of_one_class_spread_evenly_over_the_folds():
    groups = np.repeat(np.arange(24), 5)
    strata = groups % 2  # twelve groups of each class
    folds = deal(4, strata, groups)
    for label in (0, 1):
        assert np.bincount(folds[strata == label], minlength=4).tolist() == [15] * 4


def test_a_huge_group_does_not_drag_others_with_it():
    groups = np.r_[np.zeros(30, dtype=int), np.arange(1, 31)]
    folds = deal(3, np.zeros(60, dtype=int), groups)
    sizes = np.bincount(folds, minlength=3)
    assert sorted(sizes.tolist()) == [15, 15, 30]


def test_one_group_is_one_fold():
    assert len(set(deal(groups=np.zeros(len(STRATA), dtype=int)))) == 1


def test_strata_need_not_be_numbers_from_zero():
    strata = np.array(["b", "b", "a", "a", "c"])
    assert sorted(deal(2, strata).tolist()) == [-1, 0, 0, 1, 1]
