from __future__ import annotations

import numpy as np
import pytest

from imputefree.data import Splits
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


def test_a_study_may_bring_its_own_test_part():
    split = Splits(validation=0.1, test_rows=np.arange(70, 100)).of(np.arange(100) % 2, seed=3)
    np.testing.assert_array_equal(split.test, np.arange(70, 100))
    assert len(split.validation) == 10


def test_numbers_are_spread_over_the_parts():
    y = np.random.default_rng(0).exponential(size=2000)
    split = Splits(test=0.2).of(y)
    assert abs(y[split.test].mean() - y.mean()) < 0.1


def test_a_seed_is_a_whole_number():
    with pytest.raises(ParameterError, match="seed is -1"):
        Splits().of(np.arange(10) % 2, seed=-1)
