"""MAR: gaps depend on what is always seen, and on nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from imputefree.errors import InputError, ParameterError
from imputefree.missingness import make_missing, mask_auc, pairwise_dependence
from tests.missingness.made import changed, frame, independent, table
from tests.refusals import check_error


@pytest.mark.parametrize("options", [{"seen": [0, 3]}, {}])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_hidden_values_have_no_say_and_seen_ones_have(rate, options):
    X = table()
    missing = make_missing("mar", X, rate, **options)
    seen = np.flatnonzero(missing.drivers.abs().sum(axis=0))
    hidden = np.setdiff1d(np.arange(6), seen)
    again = make_missing("mar", changed(X, hidden), rate, **options)
    np.testing.assert_array_equal(missing.observed, again.observed)
    other = make_missing("mar", changed(X, seen), rate, **options)
    assert (missing.observed != other.observed).mean() > 0.02
    assert missing.observed[:, seen].all()
    assert len(seen) == 2


def test_drivers_are_those_of_seen_columns_only():
    drivers = make_missing("mar", table(), seen=[0, 3]).drivers.to_numpy()
    assert not drivers[[0, 3]].any()
    assert not drivers[:, [1, 2, 4, 5]].any()
    assert drivers[np.ix_([1, 2, 4, 5], [0, 3])].all()


@pytest.mark.parametrize("seed", range(3))
def test_the_own_value_adds_nothing_to_what_is_seen(seed):
    truth = table(4000, seed=seed)
    gappy = make_missing("mar", truth, 0.4, seed, seen=[0, 1]).apply(truth)
    areas = mask_auc(gappy, truth)
    assert (areas["seen"] > 0.75).all()
    assert (areas["own"] > 0.5).any()  # alone it does say something: columns are correlated
    assert (areas["seen and own"] - areas["seen"]).abs().max() < 0.01


@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_the_model_is_the_one_reported(rate):
    truth = np.random.default_rng(0).normal(size=(20_000, 4))
    missing = make_missing("mar", truth, rate, seen=[0, 1], strength=1.5)
    for j in (2, 3):
        fitted = LogisticRegression(C=np.inf).fit(truth[:, :2], ~missing.observed[:, j])
        # Values are bent at ±3 deviations, which a straight model feels a little.
        np.testing.assert_allclose(fitted.coef_[0], missing.drivers.iloc[j, :2], atol=0.15)


def test_strength_is_how_much_it_depends():
    truth = table(3000)
    areas = [
        mask_auc(make_missing("mar", truth, seen=[0], strength=s).apply(truth))["seen"].mean()
        for s in (0.01, 1.0, 10.0)
    ]
    assert abs(areas[0] - 0.5) < 0.05
    assert areas[0] < areas[1] < areas[2]
    assert areas[2] > 0.95


def test_columns_that_are_neither_seen_nor_lose_stay_whole():
    truth = table(3000)
    missing = make_missing("mar", truth, 0.1, seen=[0], columns=[2])
    assert missing.missing_by_column.tolist() == [0, 0, 0.6, 0, 0, 0]
    found = pairwise_dependence(missing.apply(truth), truth)
    assert abs(found.iloc[2, 0]) > independent(1800, 1200)
    assert found.drop(index="2").isna().all(axis=None)


def test_texts_and_gappy_columns_can_be_lost_but_are_not_picked_to_drive():
    X = frame()
    X.loc[X.index[:20], "ph"] = np.nan
    for seed in range(10):
        missing = make_missing("mar", X, 0.3, seed)
        assert set(missing.drivers.columns[missing.drivers.any()]) <= {"age", "ill"}
    assert missing.missing_by_column["sex"] > 0


def test_constant_columns_drive_nothing_and_are_not_named():
    X = table(300)
    X[:, 1] = 5.0
    missing = make_missing("mar", X, seen=[0, 1])
    assert not missing.drivers["1"].any()
    assert missing.drivers["0"].iloc[2:].abs().to_numpy() == pytest.approx(2.0)
    assert not missing.report()["driven by"].str.contains("'1'").any()


def test_whole_numbers_as_names_are_names():
    X = pd.DataFrame(table(100, 3), columns=[2, 0, 1])
    assert make_missing("mar", X, seen=[0]).missing_by_column["0"] == 0
    assert make_missing("mar", X, seen=2).missing_by_column["2"] == 0
    X.columns = [10, 20, 30]
    assert make_missing("mar", X, seen=[10]).missing_by_column["10"] == 0
    assert make_missing("mar", X, seen=np.array([30])).missing_by_column["30"] == 0
    refused(
        "seen holds 0, which is no column of X. Columns are '10', '20', '30'. Pass names of these.",
        X=X,
        seen=[0],
    )
    X.columns = ["a", "b", "c"]
    assert make_missing("mar", X, seen=[1]).missing_by_column["b"] == 0


def refused(words, X=None, kind=ParameterError, **options):
    X = table(20) if X is None else X
    check_error(lambda: make_missing("mar", X, **options), words, kind=kind)


def test_refusals():
    gappy = table(20)
    gappy[3, 1] = np.nan
    refused(
        "seen holds column 1, which has gaps. Gaps at random depend on values that are always"
        " seen. Pass seen= complete columns.",
        X=gappy,
        seen=[1],
    )
    refused("seen holds constant columns only.", X=np.ones((5, 2)), seen=[0])
    refused("column 'sex' holds texts", X=frame(), seen="sex", kind=InputError)
    refused("seen is 0.0. It must be a number in (0, 1].", seen=0.0)
    refused("seen is None. It must be a list of column names or positions", seen=None)
    refused("strength is 0. It must be a number in (0, 100].", strength=0)
    refused("columns and seen overlap.", seen=[0], columns=[0, 1])
    refused("no column is left to lose entries.", seen=range(6))
    refused(
        "X has 1 columns, and none of them can drive the gaps of another. That takes two columns,"
        " one of them complete and of numbers that vary.",
        X=table(20, 1),
    )
