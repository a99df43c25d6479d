"""Carry forward against a loop; table imputers on the table of all valid steps; forms of series."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from imputefree.errors import ParameterError
from imputefree.lab.imputers import CarryForwardImputer, StepByStep, make_imputer
from tests.lab.imputers.made import hide, low_rank
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
def test_carry_forward_equals_a_loop(seed):
    x, lengths = made(seed)
    unseen, unseen_lengths = made(seed + 10)
    valid = np.concatenate([series[:t] for series, t in zip(x, lengths, strict=True)])
    fitted = make_imputer("carry_forward").fit(x, lengths=lengths)
    expected = naive(unseen, unseen_lengths, np.nanmean(valid, 0))
    filled = fitted.transform(unseen, lengths=unseen_lengths)
    np.testing.assert_allclose(filled, expected, rtol=1e-12)


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


def test_polars_series():
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


def made_low_rank(seed=0, n=15, steps=6, d=4):
    x, _ = hide(low_rank(seed, n * steps, d), 0.3, seed)
    return x.reshape(n, steps, d), np.random.default_rng(seed).integers(1, steps + 1, size=n)


@pytest.mark.parametrize("name", ["mean", "em", "knn"])
def test_step_by_step_equals_the_table_of_all_valid_steps(name):
    x, lengths = made_low_rank()
    unseen, unseen_lengths = made_low_rank(1)
    valid = np.arange(6) < lengths[:, None]
    valid_unseen = np.arange(6) < unseen_lengths[:, None]
    table = make_imputer(name).fit(x[valid]).transform(unseen[valid_unseen])
    fitted = StepByStep(make_imputer(name)).fit(x, lengths=lengths)
    filled = fitted.transform(unseen, lengths=unseen_lengths)
    assert np.array_equal(filled[valid_unseen], table)
    assert np.array_equal(filled[~valid_unseen], unseen[~valid_unseen], equal_nan=True)


def test_frames_are_matched_by_name():
    x, _ = made_low_rank()
    frames = [pd.DataFrame(series, columns=list("abcd")) for series in x]
    fitted = StepByStep(make_imputer("mean")).fit(frames)
    turned = fitted.transform([frames[0], frames[1][list("dcba")]])
    assert list(turned[1].columns) == list("dcba")
    assert np.array_equal(turned[1][list("abcd")], fitted.transform(frames)[1])
    other = [frame.rename(columns={"a": "z"}) for frame in frames]
    check_error(lambda: fitted.transform(other), "'z'", "'a'")


def test_the_imputer_passed_in_is_not_fitted():
    imputer = make_imputer("mean")
    step = StepByStep(imputer)
    step.fit(made_low_rank()[0])
    assert not hasattr(imputer, "mean_")
    assert clone(step).get_params()["imputer__random_state"] is None


@pytest.mark.parametrize("imputer", ["em", make_imputer("carry_forward"), None])
def test_only_imputers_for_tables(imputer):
    check_error(
        lambda: StepByStep(imputer).fit(made_low_rank()[0]),
        "imputer is",
        "tables",
        kind=ParameterError,
    )
