"""Table imputers on series: the same as on the table of all valid steps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from imputefree.errors import ParameterError
from imputefree.lab.imputers import StepByStep, make_imputer
from tests.lab.imputers.made import hide, low_rank
from tests.refusals import check_error


def made(seed=0, n=15, steps=6, d=4):
    x, _ = hide(low_rank(seed, n * steps, d), 0.3, seed)
    return x.reshape(n, steps, d), np.random.default_rng(seed).integers(1, steps + 1, size=n)


@pytest.mark.parametrize("name", ["mean", "em", "knn"])
def test_equals_the_table_of_all_valid_steps(name):
    x, lengths = made()
    unseen, unseen_lengths = made(1)
    valid = np.arange(6) < lengths[:, None]
    valid_unseen = np.arange(6) < unseen_lengths[:, None]
    table = make_imputer(name).fit(x[valid]).transform(unseen[valid_unseen])
    fitted = StepByStep(make_imputer(name)).fit(x, lengths=lengths)
    filled = fitted.transform(unseen, lengths=unseen_lengths)
    assert np.array_equal(filled[valid_unseen], table)
    assert np.array_equal(filled[~valid_unseen], unseen[~valid_unseen], equal_nan=True)


def test_lists_of_unequal_length():
    x, lengths = made()
    members = [series[:t] for series, t in zip(x, lengths, strict=True)]
    filled = StepByStep(make_imputer("em")).fit_transform(members)
    padded = StepByStep(make_imputer("em")).fit_transform(x, lengths=lengths)
    for one, other, t in zip(filled, padded, lengths, strict=True):
        assert np.array_equal(one, other[:t])


def test_frames_are_matched_by_name():
    x, _ = made()
    frames = [pd.DataFrame(series, columns=list("abcd")) for series in x]
    fitted = StepByStep(make_imputer("mean")).fit(frames)
    turned = fitted.transform([frames[0], frames[1][list("dcba")]])
    assert list(turned[1].columns) == list("dcba")
    assert np.array_equal(turned[1][list("abcd")], fitted.transform(frames)[1])
    other = [frame.rename(columns={"a": "z"}) for frame in frames]
    check_error(lambda: fitted.transform(other), "'z'", "'a'")


def test_float32_stays():
    x, lengths = made()
    filled = StepByStep(make_imputer("mean")).fit(x, lengths=lengths).transform(x.astype("f4"))
    assert filled.dtype == np.float32


def test_the_given_imputer_is_not_fitted_and_copies():
    imputer = make_imputer("mean")
    step = StepByStep(imputer)
    step.fit(made()[0])
    assert not hasattr(imputer, "mean_")
    assert clone(step).get_params()["imputer__random_state"] is None


@pytest.mark.parametrize("imputer", ["em", make_imputer("carry_forward"), None])
def test_only_imputers_of_tables(imputer):
    check_error(
        lambda: StepByStep(imputer).fit(made()[0]), "imputer is", "tables", kind=ParameterError
    )
