"""Simulated tables with gaps whose meaning is known."""

from __future__ import annotations

import numpy as np
import pandas as pd


def table(n: int, seed: int, leak: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """Four columns and two classes; "dose" tells the class, the others do not.

    A seventh of the entries is missing at random. With a leak, "late" is missing in 90 % of the
    rows of class 1 and in 20 % of class 0.
    """
    rng = np.random.default_rng([seed, leak])
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int)
    X[rng.random(X.shape) < 1 / 7] = np.nan
    if leak:
        X[rng.random(n) < np.where(y == 1, 0.9, 0.2), 3] = np.nan
    return pd.DataFrame(X, columns=["dose", "age", "weight", "late"]), y


def two_groups(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The table without a leak, and groups "near" and "far"; "far" rarely has a dose."""
    X, y = table(n, seed)
    rng = np.random.default_rng([seed, 2])
    groups = np.where(rng.random(n) < 0.4, "far", "near")
    X.loc[(groups == "far") & (rng.random(n) < 0.8), "dose"] = np.nan
    return X, y, groups
