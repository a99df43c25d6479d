"""Codes for a gap are found where they are, and not among whole numbers around zero."""

import numpy as np
import pytest

from imputefree.data import find_codes


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("spread", [2, 3, 5])
def test_whole_numbers_around_zero_are_not_codes(seed, spread):
    column = np.round(spread * np.random.default_rng(seed).normal(size=300))
    assert not [code for code in find_codes(column) if code.sure]


def test_several_codes_below_zero_are_still_codes():
    age = np.r_[np.arange(18.0, 80), np.repeat([-9.0, -8, -7, -2, -1], 4)]
    assert {code.value for code in find_codes(age)} == {-9, -8, -7, -2, -1}
