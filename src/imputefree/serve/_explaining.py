"""An explanation as the answer of /explain: column by column, and what to measure next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..inspection import Explanation, SeriesExplanation, explain_rows, plain
from ._model_inputs import Inputs

MOST_STEPS = 300_000  # of a series, value by value: about two seconds; else whole columns only


def explained(model: Any, inputs: Inputs, X: Any, of: Any = None) -> dict[str, Any]:
    """Effects of what is observed and reach of what is missing, of the one row or series in X."""
    single = True
    if inputs.series:
        values = sum(int(pd.notna(array).sum()) for array in X.steps.arrays)
        single = values * int(X.lengths[0]) <= MOST_STEPS
    found = explain_rows(model, X, of=of, single=single)
    best = found.best_next()[0]
    answer = {
        "of": None if found.of is None else plain(found.of[0]),
        "explained": plain(found.prediction[0]),
        "columns": [_column(found, j) for j in range(len(found.columns))],
        "next": best and {"name": best.pop("column"), **plain_all(best)},
    }
    if isinstance(found, SeriesExplanation):
        answer["steps"] = None if found.removal is None else _steps(found, inputs)
    return answer


def _column(found: Explanation, j: int) -> dict[str, Any]:
    change = found.next_value[0, j]
    coming = {"change": change, "low": found.next_low[0, j], "high": found.next_high[0, j]}
    importance = None
    if found.importance is not None:  # of series: the mean over its steps
        importance = np.atleast_2d(found.importance[0])[:, j].mean()
    return {
        "name": found.columns[j],
        "effect": plain(found.by_column()[0, j]),
        "next": None if np.isnan(change) else plain_all(coming),
        "importance": None if importance is None else plain(importance),
    }


def _steps(found: SeriesExplanation, inputs: Inputs) -> list[dict[str, float]]:
    """What each single value did, step by step; those of missing values are left out."""
    names = found.columns[: len(inputs.columns)]
    return [
        {name: float(one) for name, one in zip(names, row, strict=False) if np.isfinite(one)}
        for row in found.removal[0]
    ]


def plain_all(values: dict[str, Any]) -> dict[str, Any]:
    """Numbers as JSON has them."""
    return {name: plain(value) for name, value in values.items()}
