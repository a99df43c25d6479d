"""Gaps entry by entry: counts are exact, and gaps depend on what the mechanism says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import chi2_contingency
from sklearn.linear_model import LogisticRegression

from imputefree.errors import InputError, ParameterError
from imputefree.missingness import make_missing, mask_auc, pairwise_dependence
from imputefree.missingness._entry_gaps import _linear, allot, highest, random_weights
from tests.missingness.made import changed, frame, independent, table
from tests.refusals import check_error

rng = np.random.default_rng(0)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.floats(0, 1))
def test_shares_are_integers_next_to_the_proportional_ones(sizes, share):
    sizes = np.array(sizes)
    count = round(share * sizes.sum())
    counts = allot(sizes, count, np.random.default_rng(0))
    assert counts.sum() == count
    assert (np.abs(counts - sizes * count / max(sizes.sum(), 1)) <= 1 + 1e-9).all()
    assert (counts <= sizes).all()


@pytest.mark.parametrize("count", [0, 1, 4, 10])
def test_highest_takes_exactly_as_many_ties_or_not(count):
    for score in (rng.normal(size=10), np.zeros(10), np.repeat([1.0, 2.0], 5)):
        chosen = highest(score, count)
        assert chosen.sum() == count
        if 0 < count < 10:
            assert score[chosen].min() >= score[~chosen].max()


def test_chances_follow_the_logistic_model():
    # eta takes a few values; the share lost at each of them must be on one logistic curve.
    eta = np.repeat([-3.0, -1.0, 0.0, 2.0], 20_000)
    lost = highest(eta + rng.logistic(size=len(eta)), 30_000).reshape(4, -1).mean(axis=1)
    levels = np.array([-3.0, -1.0, 0.0, 2.0])
    intercept = np.log(lost / (1 - lost)) - levels
    np.testing.assert_allclose(intercept, intercept.mean(), atol=0.1)
    np.testing.assert_allclose(lost, expit(levels + intercept.mean()), atol=0.01)


def test_models_have_the_deviation_asked_for_whatever_the_correlation():
    z = rng.normal(size=(500, 3))
    z[:, 1] = z[:, 0] + 0.01 * z[:, 1]
    weights = random_weights(z, 100, 2.5, rng)
    models = np.column_stack(list(_linear(z, weights)))
    np.testing.assert_allclose(models.std(axis=0), 2.5, rtol=1e-9)
    np.testing.assert_allclose(models, z @ weights)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_mask_does_not_look_at_values(rate):
    X = table()
    for other in (changed(X, range(6)), np.zeros_like(X)):
        first, second = (make_missing("mcar", one, rate).observed for one in (X, other))
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("seed", range(3))
def test_no_value_tells_anything_about_a_gap(seed):
    truth = table(3000, seed=seed)
    missing = make_missing("mcar", truth, 0.4, seed)
    actual = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    assert np.abs(actual).max() < independent(1200, 1800)
    areas = mask_auc(missing.apply(truth), truth)["seen and own"]
    assert np.abs(areas - 0.5).max() < 0.06
    assert not missing.drivers.to_numpy().any()
    assert missing.mechanism == "MCAR"


def test_gaps_of_two_columns_are_independent_of_each_other():
    lost = ~make_missing("mcar", table(5000), 0.3).observed
    for i in range(6):
        for j in range(i):
            counts = np.histogram2d(lost[:, i], lost[:, j], bins=2)[0]
            assert chi2_contingency(counts).pvalue > 0.001


def test_only_the_columns_asked_for_lose_entries_and_all_of_them_equally():
    missing = make_missing("mcar", table(), 0.2, columns=[1, 4])
    assert missing.missing_by_column.tolist() == [0, 0.6, 0, 0, 0.6, 0]


@pytest.mark.parametrize("name", ["mcar", "mnar_self", "mnar_hidden"])
def test_keep_one_keeps_one_entry_per_row(name):
    X = table(500)
    assert not make_missing(name, X, 0.8).observed.any(axis=1).all()
    kept = make_missing(name, X, 0.8, keep_one=True)
    assert kept.observed.any(axis=1).all()
    assert kept.rate == pytest.approx(0.8)
    check_error(
        lambda: make_missing(name, X, 0.9, keep_one=True),
        "rate 0.9 cannot be reached: 6 of 6 columns may lose entries and keep_one keeps one entry"
        " per row. At most 0.833 of all entries can be missing here.",
        kind=ParameterError,
    )


def test_keep_one_leaves_empty_rows_empty():
    X = table(100)
    X[:10] = np.nan
    missing = make_missing("mcar", X, 0.6, keep_one=True)
    assert not missing.observed[:10].any()
    assert missing.observed[10:].any(axis=1).all()


@pytest.mark.parametrize("options", [{"seen": [0, 3]}, {}])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_only_seen_values_matter(rate, options):
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


@pytest.mark.parametrize("seed", range(2))
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
        # Values are bent at ±3 deviations, which affects a linear model a little.
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
    actual = pairwise_dependence(missing.apply(truth), truth)
    assert abs(actual.iloc[2, 0]) > independent(1800, 1200)
    assert actual.drop(index="2").isna().all(axis=None)


def test_strings_and_gappy_columns_are_not_picked_as_drivers():
    X = frame()
    X.loc[X.index[:20], "ph"] = np.nan
    for seed in range(10):
        missing = make_missing("mar", X, 0.3, seed)
        assert set(missing.drivers.columns[missing.drivers.any()]) <= {"age", "ill"}
    assert missing.missing_by_column["sex"] > 0


def test_constant_columns_of_mar_drive_nothing():
    X = table(300)
    X[:, 1] = 5.0
    missing = make_missing("mar", X, seen=[0, 1])
    assert not missing.drivers["1"].any()
    assert missing.drivers["0"].iloc[2:].abs().to_numpy() == pytest.approx(2.0)
    assert not missing.report()["driven by"].str.contains("'1'").any()


def test_integers_as_names_are_names():
    X = pd.DataFrame(table(100, 3), columns=[2, 0, 1])
    assert make_missing("mar", X, seen=[0]).missing_by_column["0"] == 0
    assert make_missing("mar", X, seen=2).missing_by_column["2"] == 0
    X.columns = [10, 20, 30]
    assert make_missing("mar", X, seen=[10]).missing_by_column["10"] == 0
    assert make_missing("mar", X, seen=np.array([30])).missing_by_column["30"] == 0
    words = "seen holds 0, which is not a column of X. Columns are '10', '20', '30'. Pass names of"
    check_error(lambda: make_missing("mar", X, seen=[0]), words, kind=ParameterError)
    X.columns = ["a", "b", "c"]
    assert make_missing("mar", X, seen=[1]).missing_by_column["b"] == 0


@pytest.mark.parametrize(("side", "sign"), [("high", 1), ("low", -1)])
def test_self_masking_depends_on_the_own_value_and_only_on_it(side, sign):
    truth = np.random.default_rng(0).normal(size=(3000, 4))
    missing = make_missing("mnar_self", truth, 0.4, side=side)
    actual = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    assert (sign * np.diag(actual) > 0.6).all()
    off = actual[~np.eye(4, dtype=bool)]
    assert np.abs(off).max() < independent(1200, 1800)
    np.testing.assert_array_equal(missing.drivers, 2.0 * sign * np.eye(4))
    assert missing.mechanism == "MNAR"


def test_self_masking_goes_on_given_the_other_values():
    truth = table(4000)
    missing = make_missing("mnar_self", truth, 0.2, columns=[0, 1])
    areas = mask_auc(missing.apply(truth), truth)
    assert (areas["seen and own"] - areas["seen"] > 0.05).all()
    again = make_missing("mnar_self", changed(truth, [1]), 0.2, columns=[0, 1])
    np.testing.assert_array_equal(missing.observed[:, 0], again.observed[:, 0])
    assert (missing.observed[:, 1] != again.observed[:, 1]).any()


def test_self_masking_has_the_strength_reported():
    truth = np.random.default_rng(0).normal(size=(20_000, 1))
    missing = make_missing("mnar_self", truth, 0.3, strength=1.2)
    fitted = LogisticRegression(C=np.inf).fit(truth, ~missing.observed[:, 0])
    assert fitted.coef_[0, 0] == pytest.approx(1.2, abs=0.12)


def test_a_constant_column_loses_entries_at_random():
    truth = table(500, 2)
    truth[:, 0] = 4.0
    missing = make_missing("mnar_self", truth, 0.5)
    assert missing.drivers.iloc[0, 0] == 0
    assert missing.missing_by_column.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("share", [1.0, 0.8])
@pytest.mark.parametrize("side", ["high", "low", "both"])
def test_only_the_tail_is_censored(side, share):
    truth = table(1000, 3)
    lost = ~make_missing("mnar_quantile", truth, 0.3, side=side, share=share).observed
    tail = round(0.3 / share * 1000)
    for j in range(3):
        rank = truth[:, j].argsort().argsort()
        distance = {
            "high": 999 - rank,
            "low": rank,
            "both": np.minimum(2 * rank, 2 * (999 - rank) + 1),
        }[side]
        assert distance[lost[:, j]].max() <= tail
        inside = lost[distance < tail - 1, j]
        assert inside.all() if share == 1 else 0.7 < inside.mean() < 0.9


def test_equal_values_at_the_quantile_are_told_apart_at_random():
    truth = np.repeat([0.0, 1.0], [900, 100]).reshape(-1, 1)
    lost = ~make_missing("mnar_quantile", truth, 0.5).observed[:, 0]
    assert lost[900:].all()
    assert abs(lost[:450].sum() - lost[450:900].sum()) < 80
    assert make_missing("mnar_quantile", truth, 0.5).report()["driven by"].tolist() == [
        "itself (+inf)"
    ]


def test_what_drives_is_hidden_too():
    truth = np.random.default_rng(0).normal(size=(4000, 5))
    missing = make_missing("mnar_hidden", truth, 0.4, drivers=[0, 1])
    assert missing.missing_by_column.tolist() == [0.4] * 5
    actual = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    noise = independent(1600, 2400)
    assert np.abs(actual[:2]).max() < noise  # the drivers' own gaps are completely random
    assert np.abs(actual[:, 2:]).max() < noise
    assert (np.abs(actual[2:, :2]).max(axis=1) > 0.3).all()
    np.testing.assert_array_equal(np.sign(missing.drivers.iloc[2:, :2]), np.sign(actual[2:, :2]))
    again = make_missing("mnar_hidden", changed(truth, [2, 3, 4]), 0.4, drivers=[0, 1])
    np.testing.assert_array_equal(missing.observed, again.observed)


def test_constant_columns_drive_nothing():
    truth = table(300)
    truth[:, 1] = 5.0
    drivers = make_missing("mnar_hidden", truth, 0.4, drivers=[0, 1]).drivers
    assert not drivers["1"].any()
    assert drivers["0"].iloc[2:].all()


def test_hidden_drivers_are_picked_as_a_share():
    missing = make_missing("mnar_hidden", table(100, 10), drivers=0.5)
    assert missing.drivers.any().sum() == 5


CONSTANT = np.ones((5, 2))
GAPPY = table(20)
GAPPY[3, 1] = np.nan


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("mcar", {"columns": [7]}, "columns holds 7, which is not a column of X. Columns are 0 to"),
        ("mcar", {"columns": ["x"]}, "columns holds 'x', which is not a column of X"),
        ("mcar", {"columns": []}, "columns is []. It must be one column or several"),
        ("mcar", {"columns": [1, 1]}, "columns is [1, 1]. It must be one column or several"),
        ("mcar", {"columns": 1.5}, "columns is 1.5. It must be a list of column names or"),
        ("mar", {"X": GAPPY, "seen": [1]}, "seen holds column 1, which has gaps. Gaps at random"),
        ("mar", {"X": CONSTANT, "seen": [0]}, "seen holds only constant columns."),
        ("mar", {"seen": 0.0}, "seen is 0.0. It must be a number in (0, 1]."),
        ("mar", {"seen": None}, "seen is None. It must be a list of column names or positions"),
        ("mar", {"strength": 0}, "strength is 0. It must be a number in (0, 100]."),
        ("mar", {"seen": [0], "columns": [0, 1]}, "columns and seen overlap."),
        ("mar", {"seen": range(6)}, "no column is left to lose entries."),
        ("mar", {"X": table(20, 1)}, "X has 1 columns, and none of them can drive the gaps of"),
        ("mnar_self", {"side": "up"}, "side is 'up'. It must be one of 'high', 'low'."),
        ("mnar_self", {"strength": -1}, "strength is -1. It must be a number in (0, 100]."),
        ("mnar_quantile", {"side": 1}, "side is 1. It must be one of 'high', 'low', 'both'."),
        ("mnar_quantile", {"share": 0}, "share is 0. It must be a number in (0, 1]."),
        ("mnar_quantile", {"rate": 0.6, "share": 0.5}, "rate 0.6 cannot be reached: 6 columns"),
        ("mnar_hidden", {"drivers": range(6)}, "drivers holds all columns."),
        ("mnar_hidden", {"X": CONSTANT, "drivers": [0]}, "drivers holds only constant columns."),
        ("mnar_hidden", {"X": CONSTANT}, "X has 2 columns, and none of them can drive"),
    ],
)
def test_bad_options(name, options, words):
    run = {"X": table(20), "rate": 0.3} | options
    check_error(lambda: make_missing(name, **run), words, kind=ParameterError)


def test_strings_cannot_drive():
    for name, options in (("mar", {"seen": "sex"}), ("mnar_self", {})):
        check_error(
            lambda n=name, o=options: make_missing(n, frame(), **o),
            "column 'sex' holds strings. Only numbers can drive",
            kind=InputError,
        )
