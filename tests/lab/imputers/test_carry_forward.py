"""Carry forward: the last observation, against a loop over every step."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.lab.imputers import make_imputer
from imputefree.lab.imputers._carry_forward import CarryForwardImputer, carried
from tests.refusals import check_error


def made(seed=0, n=12, steps=7, d=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, steps, d))
    x[rng.random(x.shape) < 0.5] = np.nan
    return x, rng.integers(1, steps + 1, size=n)


def naive(x, lengths, mean):
    out = x.copy()
    for series, length in zip(out, lengths, strict=True):
        for j in range(series.shape[1]):
            last = mean[j]
            for t in range(length):
                if np.isnan(series[t, j]):
                    series[t, j] = last
                last = series[t, j]
    return out


@pytest.mark.parametrize("seed", range(4))
def test_equals_a_loop_over_the_steps(seed):
    x, lengths = made(seed)
    unseen, unseen_lengths = made(seed + 10)
    valid = np.concatenate([series[:t] for series, t in zip(x, lengths, strict=True)])
    fitted = make_imputer("carry_forward").fit(x, lengths=lengths)
    expected = naive(unseen, unseen_lengths, np.nanmean(valid, 0))
    filled = fitted.transform(unseen, lengths=unseen_lengths)
    np.testing.assert_allclose(filled, expected, rtol=1e-12)


def test_padding_and_observed_entries_are_untouched_and_the_input_too():
    x, lengths = made()
    before = x.copy()
    filled = CarryForwardImputer().fit(x, lengths=lengths).transform(x, lengths=lengths)
    assert np.array_equal(x, before, equal_nan=True)
    beyond = np.arange(x.shape[1]) >= lengths[:, None]
    assert np.array_equal(filled[beyond], x[beyond], equal_nan=True)
    assert not np.isnan(filled[~beyond]).any()
    observed = ~np.isnan(x)
    assert np.array_equal(filled[observed], x[observed])


def test_lists_equal_padded_arrays():
    x, lengths = made()
    members = [series[:t] for series, t in zip(x, lengths, strict=True)]
    from_list = CarryForwardImputer().fit_transform(members)
    from_array = CarryForwardImputer().fit_transform(x, lengths=lengths)
    assert isinstance(from_list, list)
    for one, padded, t in zip(from_list, from_array, lengths, strict=True):
        assert np.array_equal(one, padded[:t])


def test_frames_keep_index_columns_and_order():
    x, lengths = made()
    names = ["pulse", "pressure", "lactate"]
    frames = [
        pd.DataFrame(series[:t], columns=names, index=np.arange(t) + 0.5)
        for series, t in zip(x, lengths, strict=True)
    ]
    frames[1] = frames[1][names[::-1]]
    filled = CarryForwardImputer().fit_transform(frames)
    arrays = CarryForwardImputer().fit_transform(x, lengths=lengths)
    for one, frame, padded, t in zip(filled, frames, arrays, lengths, strict=True):
        assert one.index.equals(frame.index)
        assert list(one.columns) == list(frame.columns)
        assert np.array_equal(one[names].to_numpy(), padded[:t])


def test_polars_members():
    members = [pl.DataFrame({"a": [1.0, None], "b": [None, 2.0]})]
    filled = CarryForwardImputer().fit_transform(members)
    assert filled[0].to_dict(as_series=False) == {"a": [1.0, 1.0], "b": [2.0, 2.0]}


def test_single_columns():
    filled = CarryForwardImputer().fit_transform([np.array([np.nan, 4.0, np.nan]), np.array([2.0])])
    assert [one.tolist() for one in filled] == [[3.0, 4.0, 4.0], [2.0]]


def test_series_of_unequal_length_in_an_array_of_objects():
    members = np.empty(2, dtype=object)
    members[:] = [np.array([[1.0], [np.nan]]), np.array([[3.0]])]
    filled = CarryForwardImputer().fit_transform(members)
    assert [one[:, 0].tolist() for one in filled] == [[1.0, 1.0], [3.0]]


def test_nothing_is_carried_from_one_series_into_the_next():
    values = np.array([[1.0], [np.nan], [np.nan], [np.nan]])
    assert np.array_equal(carried(values, np.array([2, 2]))[:, 0], [1, 1, np.nan, np.nan], True)


def test_errors():
    x, lengths = made()
    fitted = CarryForwardImputer().fit(x, lengths=lengths)
    check_error(lambda: fitted.transform(x[:, :, :2]), "X has 2 features", "expecting 3")
    check_error(lambda: fitted.transform(x[0]), "2D array")
    check_error(lambda: fitted.transform(x, lengths=lengths + 10), "lengths holds")
    check_error(lambda: fitted.transform(pd.DataFrame(x[0])), "X is a DataFrame", "groupby")
