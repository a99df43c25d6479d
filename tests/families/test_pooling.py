"""Weights of the pool: the best ones, pulled towards equal; sharpness; families without weight."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brute

from imputefree.families import Pool


def probabilities(rng, truth, skill):
    """Noisy probabilities of two classes; the larger the skill, the better."""
    logit = skill * (2 * truth - 1) + rng.normal(size=len(truth))
    share = 1 / (1 + np.exp(-logit))
    return np.column_stack([1 - share, share])


def log_loss(probability, truth):
    return -np.log(probability[np.arange(len(truth)), truth]).mean()


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    return truth, [probabilities(rng, truth, skill) for skill in (1.0, 0.7)]


def test_weights_have_the_least_log_loss(problem):
    truth, (one, other) = problem
    pool = Pool.learn([one, other], truth, pull=0.0)
    grid = brute(lambda w: log_loss(w * one + (1 - w) * other, truth), [(0.01, 0.99)])
    np.testing.assert_allclose(pool.weights, [grid[0], 1 - grid[0]], atol=2e-3)


def test_weights_have_the_least_squared_error():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=500)
    guesses = truth + rng.normal(size=(3, 500)) * [[0.3], [0.5], [0.4]]
    pool = Pool.learn([guess[:, None] for guess in guesses], truth, pull=0.0)
    errors = guesses - truth
    inverse = np.linalg.inv(errors @ errors.T / 500)
    np.testing.assert_allclose(pool.weights, inverse.sum(1) / inverse.sum(), atol=1e-3)
    assert pool.sharpness == 1.0


def test_few_rows_pull_towards_equal_weights(problem):
    truth, families = problem
    few = slice(0, 30)
    close = Pool.learn([family[few] for family in families], truth[few], pull=1000.0)
    np.testing.assert_allclose(close.weights, 0.5, atol=0.02)


def test_a_useless_family_is_left_out(problem):
    truth, (good, _) = problem
    useless = np.full_like(good, 0.5)[:, ::-1] * [1.9, 0.1]
    pool = Pool.learn([good, useless], truth)
    assert pool.weights.tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(pool.apply([good, None]), pool.apply([good, useless]))


def test_overconfident_probabilities_are_flattened(problem):
    truth, (good, _) = problem
    sharp = good**3 / (good**3).sum(1, keepdims=True)
    pool = Pool.learn([sharp, sharp], truth, pull=0.0)
    flat = pool.apply([sharp, sharp])
    assert log_loss(flat, truth) < log_loss(sharp, truth) - 0.01
    np.testing.assert_allclose(flat.sum(1), 1.0)


def test_rows_without_out_of_fold_predictions_do_not_count(problem):
    truth, (one, other) = problem
    half = slice(0, 1500)
    hidden = other.copy()
    hidden[1500:] = np.nan
    expected = Pool.learn([one[half], other[half]], truth[half])
    np.testing.assert_allclose(Pool.learn([one, hidden], truth).weights, expected.weights)
