"""Tables with gaps for the tests of imputers."""

from __future__ import annotations

import numpy as np


def low_rank(seed, n=400, d=12, rank=3, noise=0.1):
    """(n, d): rank 3 and a little noise, with columns of different location and scale."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + noise * rng.normal(size=(n, d))
    return x * np.linspace(0.5, 20.0, d) + np.linspace(-5.0, 100.0, d)


def hide(x, rate, seed):
    """x with entries missing completely at random, and which."""
    missing = np.random.default_rng(1000 + seed).random(x.shape) < rate
    return np.where(missing, np.nan, x), missing


def scaled_rmse(filled, x, missing):
    """Root mean square error over hidden entries, columns in units of their deviation."""
    return float(np.sqrt((((filled - x) / x.std(0))[missing] ** 2).mean()))
