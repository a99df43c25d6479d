"""Drawing: counts are exact, and chances are those of the logistic model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from imputefree.missingness._draws import allot, highest, linear, random_weights

rng = np.random.default_rng(0)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.floats(0, 1))
def test_shares_are_whole_numbers_next_to_the_proportional_ones(sizes, share):
    sizes = np.array(sizes)
    count = round(share * sizes.sum())
    given_ = allot(sizes, count, np.random.default_rng(0))
    assert given_.sum() == count
    assert (np.abs(given_ - sizes * count / max(sizes.sum(), 1)) <= 1 + 1e-9).all()
    assert (given_ <= sizes).all()


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
    models = np.column_stack(list(linear(z, weights)))
    np.testing.assert_allclose(models.std(axis=0), 2.5, rtol=1e-9)
    np.testing.assert_allclose(models, z @ weights)
