"""Splits: parts are disjoint, classes keep their shares, groups stay whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imputefree.data import Splits, assign_folds
from imputefree.data._folds import count_strata
from imputefree.errors import InputError, ParameterError


@pytest.mark.parametrize("seed", range(3))
def test_parts_are_disjoint_complete_and_keep_the_classes(seed):
    y = np.random.default_rng(seed).choice(["a", "b", "c"], 1000, p=[0.6, 0.3, 0.1])
    split = Splits(test=0.2, validation=0.1).of(y, seed=seed)
    np.testing.assert_array_equal(np.sort(np.concatenate(split)), np.arange(1000))
    assert abs(len(split.test) - 200) <= 2
    assert abs(len(split.validation) - 100) <= 2
    for part in split:
        assert abs((y[part] == "a").mean() - (y == "a").mean()) < 0.02


def test_groups_stay_together_and_seeds_differ():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 80, 400)
    y = (groups % 3 == 0).astype(int)
    split = Splits(test=0.25).of(y, groups, seed=1)
    owners = [set(groups[part]) for part in split]
    assert not owners[0] & owners[1]
    assert not owners[0] & owners[2]
    assert not owners[1] & owners[2]
    assert len(owners[2]) == 20
    again, other = Splits(test=0.25).of(y, groups, seed=1), Splits(test=0.25).of(y, groups, seed=2)
    np.testing.assert_array_equal(split.test, again.test)
    assert set(split.test) != set(other.test)


def test_a_balanced_test_part_and_when_it_cannot_be():
    y = np.repeat([0, 1], [900, 100])
    split = Splits(test=0.1, balanced_test=True).of(y)
    assert len(split.test) == 100
    assert y[split.test].mean() == 0.5
    with pytest.raises(InputError, match="needs 150 rows of each class; one has 100"):
        Splits(test=0.3, balanced_test=True).of(y)


def test_a_group_is_of_the_class_of_most_of_its_rows():
    """60, 20 and 10 groups of 5 rows, 3 of them of its class: 4 of each are drawn."""
    main = np.repeat([0, 1, 2], [60, 20, 10])
    y = np.column_stack([main, main, main, main == 0, main == 0]).astype(int).ravel()
    split = Splits(test=12 / 90, balanced_test=True).of(y, np.repeat(np.arange(90), 5))
    drawn = main[np.unique(split.test // 5)]
    assert np.bincount(drawn).tolist() == [4, 4, 4]


def test_a_study_may_bring_its_own_test_part():
    split = Splits(validation=0.1, test_rows=np.arange(70, 100)).of(np.arange(100) % 2, seed=3)
    np.testing.assert_array_equal(split.test, np.arange(70, 100))
    assert len(split.validation) == 10


def test_numbers_are_spread_over_the_parts():
    y = np.random.default_rng(0).exponential(size=2000)
    split = Splits(test=0.2).of(y)
    assert abs(y[split.test].mean() - y.mean()) < 0.1


@pytest.mark.parametrize("seed", [-1, 0.5, "0", True, None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ParameterError, match=f"seed is {seed!r}"):
        Splits().of(np.arange(10) % 2, seed=seed)


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


def test_the_same_generator_gives_the_same_folds():
    groups = np.arange(len(STRATA)) // 3
    for chosen in (None, groups):
        assert (deal(groups=chosen, seed=3) == deal(groups=chosen, seed=3)).all()
    assert any((deal(seed=3) != deal(seed=seed)).any() for seed in (4, 5))


def test_strata_may_be_strings_and_one_group_is_one_fold():
    strata = np.array(["b", "b", "a", "a", "c"])
    assert sorted(deal(2, strata).tolist()) == [-1, 0, 0, 1, 1]
    assert len(set(deal(2, strata, np.zeros(5, dtype=int)))) == 1


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


def test_strata_of_groups_are_counted():
    groups, strata = np.array([0, 2, 2, 0, 2]), np.array([1, 0, 0, 1, 2])
    assert count_strata(groups, strata).tolist() == [[0, 2, 0], [0, 0, 0], [2, 0, 1]]
