"""MNAR: gaps depend on values that go missing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from imputefree.errors import ParameterError
from imputefree.missingness import make_missing, mask_auc, pairwise_dependence
from tests.missingness.made import changed, independent, table
from tests.refusals import check_error


@pytest.mark.parametrize(("side", "sign"), [("high", 1), ("low", -1)])
def test_self_masking_depends_on_the_own_value_and_only_on_it(side, sign):
    truth = np.random.default_rng(0).normal(size=(3000, 4))
    missing = make_missing("mnar_self", truth, 0.4, side=side)
    found = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    assert (sign * np.diag(found) > 0.6).all()
    off = found[~np.eye(4, dtype=bool)]
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
    found = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    noise = independent(1600, 2400)
    assert np.abs(found[:2]).max() < noise  # the drivers' own gaps are completely random
    assert np.abs(found[:, 2:]).max() < noise
    assert (np.abs(found[2:, :2]).max(axis=1) > 0.3).all()
    np.testing.assert_array_equal(np.sign(missing.drivers.iloc[2:, :2]), np.sign(found[2:, :2]))
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


def refused(name, words, X=None, rate=0.3, **options):
    X = table(20) if X is None else X
    check_error(lambda: make_missing(name, X, rate, **options), words, kind=ParameterError)


def test_refusals():
    refused("mnar_self", "side is 'up'. It must be one of 'high', 'low'.", side="up")
    refused("mnar_self", "strength is -1. It must be a number in (0, 100].", strength=-1)
    refused("mnar_quantile", "side is 1. It must be one of 'high', 'low', 'both'.", side=1)
    refused("mnar_quantile", "share is 0. It must be a number in (0, 1].", share=0)
    refused(
        "mnar_quantile",
        "rate 0.6 cannot be reached: 6 of 6 columns may lose entries, and only 0.5 of a tail goes"
        " missing. At most 0.5 of all entries can be missing here.",
        rate=0.6,
        share=0.5,
    )
    refused("mnar_hidden", "drivers holds all columns.", drivers=range(6))
    refused("mnar_hidden", "drivers holds constant columns only.", X=np.ones((5, 2)), drivers=[0])
    refused("mnar_hidden", "X has 2 columns, and none of them can drive", X=np.ones((5, 2)))
