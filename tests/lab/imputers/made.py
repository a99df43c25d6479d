"""Tables and series with gaps for the tests of imputers."""

from __future__ import annotations

import numpy as np


def low_rank(seed, n=400, d=12, rank=3, noise=0.1):
    """(n, d): low rank with a little noise, columns of different location and scale."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + noise * rng.normal(size=(n, d))
    return x * np.linspace(0.5, 20.0, d) + np.linspace(-5.0, 100.0, d)


def hide(x, rate, seed):
    """x with entries missing completely at random, and the mask of missing entries."""
    missing = np.random.default_rng(1000 + seed).random(x.shape) < rate
    return np.where(missing, np.nan, x), missing


def scaled_rmse(filled, x, missing):
    """Root mean square error over hidden entries, columns in units of their deviation."""
    return float(np.sqrt((((filled - x) / x.std(0))[missing] ** 2).mean()))


def smooth(seed, n=96, steps=8, d=6, rank=2):
    """(n, steps, d): sums of two sine waves and a little noise, columns of different scale."""
    rng = np.random.default_rng(seed)
    mixed = np.random.default_rng(9).normal(size=(rank, d))  # the same for training and test
    phase, pace = rng.uniform(0, 2 * np.pi, (n, 1, rank)), rng.uniform(0.2, 0.6, (n, 1, rank))
    waves = np.sin(phase + pace * np.arange(steps)[:, None]) @ mixed
    noisy = waves + 0.05 * rng.normal(size=waves.shape)
    return noisy * np.linspace(0.5, 20.0, d) + np.linspace(-5.0, 100.0, d)


def relative_error(imputer, rate=0.3):
    """RMSE on hidden entries of unseen series, columns in units of their deviation.

    1 is what the mean of training scores.
    """
    train, _ = hide(smooth(1), rate, 1)
    whole = smooth(2)
    test, missing = hide(whole, rate, 2)
    filled = imputer.fit(train).transform(test)
    errors = (filled - whole) / whole.std((0, 1))
    return float(np.sqrt((errors[missing] ** 2).mean()))
