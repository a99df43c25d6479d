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


def test_weights_of_rows_and_the_pull_count(problem):
    """The definition by brute force: weighted log-loss plus pull / n times the squared distance."""
    truth, (one, other) = problem[0][:200], (p[:200] for p in problem[1])
    weight = np.where(truth, 3.0, 0.5)
    own = [probability[np.arange(200), truth] for probability in (one, other)]

    def loss(w):
        likely = -(weight * np.log(w * own[0] + (1 - w) * own[1])).mean()
        return likely + 30.0 / 200 * ((w - 0.5) ** 2 + (0.5 - w) ** 2)

    pool = Pool.learn([one, other], truth, weight, pull=30.0)
    grid = brute(lambda w: loss(w[0]), [(0.05, 0.95)])
    np.testing.assert_allclose(pool.weights[0], grid[0], atol=2e-3)
    pooled = pool.weights[0] * one + pool.weights[1] * other

    def sharp(log_exponent):
        power = pooled ** np.exp(log_exponent)
        share = power[np.arange(200), truth] / power.sum(1)
        return -(weight * np.log(share)).mean() + 30.0 / 200 * log_exponent**2

    grid = brute(lambda e: sharp(e[0]), [(-1.3, 1.3)], Ns=50)
    np.testing.assert_allclose(np.log(pool.sharpness), grid[0], atol=2e-3)


def test_weights_of_rows_count_for_numbers():
    rng = np.random.default_rng(2)
    truth, weight = rng.normal(size=80), rng.uniform(0.1, 3.0, 80)
    guesses = truth + rng.normal(size=(2, 80)) * [[0.5], [0.6]]
    pool = Pool.learn([guess[:, None] for guess in guesses], truth, weight, pull=8.0)

    def loss(w):
        error = w * guesses[0] + (1 - w) * guesses[1] - truth
        return (weight * error**2).mean() + 8.0 / 80 * 2 * (w - 0.5) ** 2

    grid = brute(lambda w: loss(w[0]), [(0.05, 0.95)])
    np.testing.assert_allclose(pool.weights[0], grid[0], atol=2e-3)


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
