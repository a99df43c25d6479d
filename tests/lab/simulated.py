"""Tables and series that the tests of the rivals share."""

from __future__ import annotations

import numpy as np
import pandas as pd


def table(n=300, classes=2, gaps=0.3, seed=0):
    """Numbers and a category, all with gaps at random; y is a class or, for classes=0, a number."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    frame = pd.DataFrame(signal[:, None] + 0.7 * rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["ward"] = np.array(["north", "south", "west"])[np.digitize(signal, [-0.5, 0.5])]
    frame["noise"] = rng.normal(size=n)
    frame = frame.mask(rng.random(frame.shape) < gaps)
    if not classes:
        return frame, 10 * signal + 100
    cuts = np.quantile(signal, np.arange(1, classes) / classes)
    return frame, np.digitize(signal, cuts)


def series(n=80, seed=0):
    """A list of (T_i, 3) series with half of their entries missing, and a class of their mean."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    members = [
        signal[i] + rng.normal(size=(steps, 3)) * 0.5
        for i, steps in enumerate(rng.integers(1, 9, n))
    ]
    for one in members:
        one[rng.random(one.shape) < 0.5] = np.nan
    return members, (signal > 0).astype(int)


def in_this_process(work, items):
    """Workers for `run_grid`: one run after another, since processes start slowly."""
    for item in items:
        yield item, work(item)
