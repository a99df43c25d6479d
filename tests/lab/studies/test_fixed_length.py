"""Series of one length, by the paper's rule, in both studies that have them."""

from __future__ import annotations

import numpy as np

from imputefree.errors import ParameterError
from imputefree.lab.studies import load
from tests.refusals import check_error


def test_icu_cut_and_repeated():
    """The first eight steps, the last one again where there are fewer; truth goes along."""
    long, fixed = load("icu", n_series=60), load("icu", n_series=60, form="fixed")
    assert fixed.X.shape == (60, 8, 14)
    assert fixed.times is None
    assert {len(one) < 8 for one in long.X} == {True, False}
    for i, series in enumerate(long.X):
        for step in range(8):
            row = min(step, len(series) - 1)
            np.testing.assert_array_equal(fixed.X[i, step], series.iloc[row])
            np.testing.assert_array_equal(fixed.truth[i, step], long.truth[i].iloc[row])
    np.testing.assert_array_equal(fixed.y, long.y)


def test_unknown_form():
    check_error(lambda: load("icu", form="short"), "form is 'short'", kind=ParameterError)
