"""What explanations are by definition, worked out entry by entry through `predict`."""

from __future__ import annotations

import numpy as np
import pandas as pd


def predicted(model, X, code=None):
    """The explained number of each row: the probability of class `code`, or the number."""
    if code is None:
        return model.predict(X)
    return model.predict_proba(X)[:, code]


def with_entry(frame, row, column, value):
    """A copy with one entry changed; rows by place."""
    changed = frame.copy()
    changed.iloc[row, changed.columns.get_loc(column)] = value
    return changed


def plausible(training):
    """Values of a column with their shares, from the training column itself."""
    seen = training.dropna()
    counts = seen.value_counts()
    if not pd.api.types.is_numeric_dtype(seen) or len(counts) <= 10:
        return [(value, count / len(seen)) for value, count in counts.items()]
    ordered = np.sort(seen.to_numpy())
    ranks = np.ceil((np.arange(9) + 0.5) / 9 * len(seen)).astype(int) - 1
    return [(value, 1 / 9) for value in ordered[ranks]]
