"""Data the tests make gaps in."""

from __future__ import annotations

import numpy as np
import pandas as pd


def table(n=2000, d=6, seed=0):
    """Correlated normal columns: (n, d)."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))


def frame(n=200):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "ph": rng.normal(7.4, 0.05, n),
            "ill": rng.random(n) < 0.3,
            "sex": rng.choice(["f", "m"], n),
        },
        index=np.arange(n) * 10,
    )


def images(n=400, side=8, seed=0):
    """Blobs whose brightness differs between images and between their quarters: (n, side, side)."""
    rng = np.random.default_rng(seed)
    coarse = rng.random((n, 2, 2)).repeat(side // 2, axis=1).repeat(side // 2, axis=2)
    return (coarse * rng.random((n, side, side))).astype(np.float32)


def independent(n1, n0):
    """Four standard errors of Somers' D where there is no dependence."""
    return 4 * np.sqrt((n1 + n0 + 1) / (3 * n1 * n0))


def changed(X, columns, seed=9):
    """X with new, shifted values in these columns, NaN staying where it was."""
    other = X.copy()
    rng = np.random.default_rng(seed)
    other[:, columns] = 5 + 3 * rng.normal(size=X[:, columns].shape) + 0 * X[:, columns]
    return other
