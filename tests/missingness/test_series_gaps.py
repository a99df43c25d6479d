"""Series: channels reach their sampling rates, runs have the lengths asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import ParameterError, brief
from imputefree.missingness import make_missing, pairwise_dependence
from tests.missingness.made import independent, table
from tests.refusals import check_error


def series(n=100, steps=40, d=4):
    return table(n * steps, d).reshape(n, steps, d)


def runs(lost):
    """Lengths of runs of True along the rows of (series, steps), cut by no end of a series."""
    lengths = []
    for row in lost:
        edges = np.flatnonzero(np.diff(np.r_[0, row, 0]))
        lengths += [b - a for a, b in edges.reshape(-1, 2) if a > 0 and b < len(row)]
    return np.array(lengths)


@pytest.mark.parametrize("spacing", ["regular", "random"])
def test_channels_reach_their_rates(spacing):
    rates = [1.0, 0.5, 0.1, 0.0]
    missing = make_missing("series_rates", series(), rates=rates, spacing=spacing)
    np.testing.assert_allclose(missing.observed.mean(axis=(0, 1)), rates, atol=1e-3)
    assert missing.rate == pytest.approx(0.6, abs=1e-3)
    assert missing.mechanism == "MCAR"


def test_regular_samples_are_evenly_spaced_from_a_random_start():
    observed = make_missing("series_rates", series(), rates=[0.1, 0.3, 0.5, 1]).observed
    for j, period in enumerate((10, 10 / 3, 2)):
        starts = set()
        for one in observed[:, :, j]:
            at = np.flatnonzero(one)
            assert np.abs(np.diff(at) - period).max() < 1
            starts.add(int(at[0]))
        assert len(starts) == int(np.ceil(period))


def test_rates_by_name_and_unequal_lengths():
    X = [pd.DataFrame(table(n, 2), columns=["pulse", "ph"]) for n in (3, 50, 200, 7)]
    missing = make_missing("series_rates", X, rates={"ph": 0.2})
    joined = np.concatenate(missing.observed)
    assert joined[:, 0].all()
    assert joined[:, 1].sum() == 52
    made = missing.apply(X)
    assert [len(one) for one in made] == [3, 50, 200, 7]
    assert list(made[0].columns) == ["pulse", "ph"]


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_drawn_rates_differ_between_channels_and_meet_the_rate(rate):
    X = series(d=12)
    missing = make_missing("series_rates", X, rate)
    assert missing.rate == pytest.approx(rate, abs=1e-4)
    assert missing.missing_by_column.std() > 0.02
    even = make_missing("series_rates", X, rate, spread=0)
    assert even.missing_by_column.std() < 1e-3


@pytest.mark.parametrize(("name", "options"), [("series_rates", {}), ("bursts", {"length": 3})])
def test_values_do_not_matter(name, options):
    truth = np.random.default_rng(0).normal(size=(100, 40, 4))
    missing = make_missing(name, truth, 0.4, **options)
    zeros = make_missing(name, np.zeros_like(truth), 0.4, **options)
    np.testing.assert_array_equal(missing.observed, zeros.observed)
    assert not missing.drivers.to_numpy().any()
    actual = pairwise_dependence(missing.apply(truth), truth)
    assert actual.abs().max(axis=None) < 1.5 * independent(1000, 3000)


@pytest.mark.parametrize("length", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_runs_are_geometric_with_that_mean(rate, length):
    X = series(40, 1000, 3)
    missing = make_missing("bursts", X, rate, length=length)
    np.testing.assert_allclose(missing.missing_by_column, rate, atol=1e-4)
    for j in range(3):
        actual = runs(~missing.observed[:, :, j])
        assert actual.mean() == pytest.approx(length, rel=0.15)
        # A geometric variable is above its minimum with the chance 1 - 1 / mean.
        assert (actual > 1).mean() == pytest.approx(1 - 1 / length, abs=0.05)


def test_seen_stretches_are_geometric_too():
    actual = runs(make_missing("bursts", series(40, 1000, 1), 0.5, length=4).observed[:, :, 0])
    assert actual.mean() == pytest.approx(4, rel=0.1)
    assert actual.std() == pytest.approx(np.sqrt(12), rel=0.2)


def test_each_step_of_a_series_is_missing_equally_often():
    lost = ~make_missing("bursts", series(3000, 10, 1), 0.3, length=4).observed[:, :, 0]
    np.testing.assert_allclose(lost.mean(axis=0), 0.3, atol=0.04)


def test_channels_can_go_together():
    observed = make_missing("bursts", series(), 0.3, together=True).observed
    np.testing.assert_array_equal(observed.all(axis=2), observed.any(axis=2))
    apart = make_missing("bursts", series(), 0.3).observed
    assert (apart.all(axis=2) != apart.any(axis=2)).any()


def test_runs_continue_after_steps_that_are_missing_already():
    X = series(50, 200, 2)
    X[:, ::2, 0] = np.nan
    missing = make_missing("bursts", X, 0.5, length=6)
    assert missing.rate == pytest.approx(0.5, abs=1e-4)
    actual = runs(~missing.observed[:, 1::2, 0])
    assert actual.mean() == pytest.approx(6, rel=0.25)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("length", [1e6, 1e19, 1e308])
def test_runs_longer_than_the_data(length, together):
    """One run takes all there is to lose; its length does not overflow."""
    missing = make_missing("bursts", np.ones((100, 2)), 0.3, 0, length=length, together=together)
    assert missing.rate == pytest.approx(0.3)
    for lost in ~missing.observed.T:
        assert (np.diff(np.r_[0, lost, 0]) == 1).sum() == 1


@pytest.mark.parametrize("rate", [0.45, 0.6, 0.75])
@pytest.mark.parametrize("seed", range(2))
def test_together_meets_the_rate_in_data_with_gaps(rate, seed):
    rng = np.random.default_rng(seed)
    X = table(200, 4)
    X[: rng.integers(100)] = np.nan  # steps without any entry left
    X[100:150, 1:] = np.nan  # and steps with few
    if np.isnan(X).mean() > rate:
        X[:100] = 1.0
    missing = make_missing("bursts", X, rate, seed, length=6, together=True)
    assert abs(missing.rate - rate) * X.size <= 4
    steps = missing.observed.any(axis=1)
    np.testing.assert_array_equal(missing.observed[steps], ~np.isnan(X[steps]))


def test_together_keeps_runs_as_long_as_asked_in_data_with_gaps():
    X = series(40, 500, 3)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    X[:, :, 0] = 1.0
    missing = make_missing("bursts", X, 0.4, length=5, together=True)
    assert missing.rate == pytest.approx(0.4, abs=3 / X.size)
    assert runs(~missing.observed[:, :, 0]).mean() == pytest.approx(5, rel=0.15)


def test_a_table_is_one_series_and_the_highest_rate_is_possible():
    for rate in (0.0, 0.5, 0.75):
        missing = make_missing("bursts", table(80, 2), rate, length=3)
        assert abs(missing.rate - rate) < 0.01
    assert make_missing("series_rates", table(80, 2), 1.0).rate == 1


NOT_A_COLUMN = "rates holds 'x', which is not a column"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("series_rates", {"rate": 0.3, "rates": [1, 1, 1, 1]}, "both rate and rates are given."),
        ("series_rates", {"rates": [1, 1]}, "rates is [1, 1]. It must be a dict, or a list of 4"),
        ("series_rates", {"rates": [1, 1, 1, 2]}, "rates is 2. It must be a number"),
        ("series_rates", {"rates": {"x": 1}}, NOT_A_COLUMN),
        ("series_rates", {"spacing": "x"}, "spacing is 'x'. It must be one of"),
        ("series_rates", {"spread": -1}, "spread is -1. It must be a number in [0, 100]."),
        *(
            ("bursts", {"length": bad}, f"length is {brief(bad)}. It must be a number in [1, inf).")
            for bad in (0.5, np.inf, np.nan, 10**400)
        ),
        ("bursts", {"rate": 0.9, "length": 3}, "rate 0.9 cannot be reached: runs of mean length 3"),
    ],
)
def test_bad_options(name, options, words):
    check_error(lambda: make_missing(name, series(3, 5), **options), words, kind=ParameterError)
