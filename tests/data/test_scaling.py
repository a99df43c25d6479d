"""Scaling: learned from observed entries, deaf to outliers, finite for every float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imputefree.data._encoding import SOFT_LIMIT, location, normal_score_knots, scale

rng = np.random.default_rng(0)
NORMAL = rng.normal(5.0, 2.0, size=999)


def with_gaps(values):
    """The same entries with a NaN after each."""
    return np.column_stack([values, np.full(len(values), np.nan)]).ravel()


def test_statistics_come_from_observed_entries_only():
    assert location(with_gaps(NORMAL)) == location(NORMAL)


def test_center_and_spread_of_a_normal_are_its_mean_and_deviation():
    center, spread = location(NORMAL)
    assert abs(center - 5.0) < 0.2
    assert abs(spread - 2.0) < 0.2


def test_spread_follows_units():
    center, spread = location(NORMAL)
    center_in_grams, spread_in_grams = location(1000.0 * NORMAL)
    assert center_in_grams == pytest.approx(1000.0 * center)
    assert spread_in_grams == pytest.approx(1000.0 * spread)


@pytest.mark.parametrize("outlier", [1e12, -1e12, 1e200, -1.7e308])
def test_the_size_of_an_outlier_does_not_matter(outlier):
    spoiled, mild = NORMAL.copy(), NORMAL.copy()
    spoiled[:9], mild[:9] = outlier, np.sign(outlier) * 1e3
    np.testing.assert_allclose(location(spoiled), location(mild), rtol=1e-9)


def test_outliers_hardly_move_the_scale():
    center, spread = location(NORMAL)
    spoiled = np.r_[NORMAL, np.full(20, 1e12)]
    assert abs(location(spoiled)[0] - center) < 0.2 * spread
    assert location(spoiled)[1] < 1.5 * spread


@pytest.mark.parametrize("value", [0.0, 0.1, 7.0, -1e300, 1e308, 1e-300])
def test_a_constant_column_becomes_zero(value):
    for n in (1, 3, 5, 11):  # means of equal values are not always that value
        center, spread = location(np.full(n, value))
        assert (center, spread) == (value, 1.0)
    assert scale(np.full(3, value), center, spread).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("values", [np.array([]), np.full(4, np.nan)])
def test_an_unknown_column_keeps_its_numbers_near_zero(values):
    assert location(values) == (0.0, 1.0)


def test_a_half_constant_column_still_tells_its_other_values_apart():
    values = np.array([0.0] * 90 + [1.0, 2.0, 3.0, 4.0, 5.0] * 2)
    center, spread = location(values)
    scaled = scale(np.arange(6.0), center, spread)
    assert (np.diff(scaled) > 0.05).all()


@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e9, 1e200])
def test_columns_of_any_size_come_to_the_same_scale(unit):
    small = scale(NORMAL, *location(NORMAL))
    np.testing.assert_allclose(scale(NORMAL * unit, *location(NORMAL * unit)), small, atol=1e-9)


def test_missing_stays_missing():
    assert np.isnan(scale(np.array([np.nan]), 0.0, 1.0)).all()


def test_nothing_leaves_the_limit_and_small_values_pass():
    z = np.array([-1e300, -10.0, -0.1, 0.0, 0.1, 10.0, 1e300])
    scaled = scale(z, 0.0, 1.0)
    assert (np.abs(scaled) <= SOFT_LIMIT).all()
    np.testing.assert_allclose(scaled[2:5], z[2:5], atol=1e-3)


EXTREME = np.finfo(np.float64).max


@pytest.mark.parametrize(
    "values",
    [
        [1e308, -1e308],
        [EXTREME, -EXTREME, 0.0],
        [EXTREME] * 3 + [-EXTREME] * 3,
        [1e308, 1e308, 1.7e308],
        [5e-324, 0.0, 1e-323],
        [5e-324, 1e308],
    ],
)
def test_extreme_values_stay_finite(values):
    values = np.array(values)
    center, spread = location(values)
    assert np.isfinite([center, spread]).all()
    assert spread > 0
    scaled = scale(np.r_[values, EXTREME, -EXTREME, 0.0], center, spread)
    assert np.isfinite(scaled).all()


floats = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, derandomize=True)
@given(st.lists(floats, min_size=1, max_size=20), st.lists(floats, min_size=2, max_size=20))
def test_scaling_keeps_the_order_of_any_numbers(training, values):
    center, spread = location(np.array(training))
    scaled = scale(np.sort(np.array(values)), center, spread)
    assert np.isfinite(scaled).all()
    assert (np.diff(scaled) >= 0).all()


def score(training, values):
    return np.interp(values, *normal_score_knots(training))


def test_normal_scores_see_the_order_only():
    some = NORMAL[:100]  # few enough for a knot each
    np.testing.assert_allclose(score(np.exp(some), np.exp(some)), score(some, some))


def test_normal_scores_are_normal():
    scores = score(np.exp(NORMAL), np.exp(NORMAL))
    assert abs(scores.mean()) < 0.02
    assert abs(scores.std() - 1) < 0.05


def test_normal_scores_come_from_observed_entries_only():
    for gaps, none in zip(
        normal_score_knots(with_gaps(NORMAL)), normal_score_knots(NORMAL), strict=True
    ):
        np.testing.assert_array_equal(gaps, none)


SUBNORMAL = [5e-324, 1e-310, -1e-310, 1e-300, 2.2e-308, 0.0, 1e308, -1e308]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(floats | st.sampled_from(SUBNORMAL), min_size=1, max_size=300).map(np.array),
    st.lists(floats | st.sampled_from(SUBNORMAL), min_size=1, max_size=30).map(np.array),
)
def test_normal_scores_are_finite_and_rise_for_any_numbers(training, values):
    knots, scores = normal_score_knots(training)
    assert (knots[1:] > knots[:-1]).all()
    assert (np.diff(scores) > 0).all()
    for x in (np.sort(training), np.sort(values)):
        scored = score(training, x)
        assert np.isfinite(scored).all()
        assert (np.diff(scored) > -1e-12).all()  # up to rounding
