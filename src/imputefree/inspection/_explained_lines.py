"""An explanation as lines: one a value, for a file; or one a column, over all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..data import Columns, TableEncoder
from ._explanation import Explanation, SeriesExplanation


def given_values(model: Any, X: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """What each row has in each column, None for gaps: (n, d) object, columns as in explanations.

    Of series it is the last that was observed, and a list of (steps, columns of a step) has all.
    """
    encoder, given = model.encoder_, model._inputs(X)
    if isinstance(encoder, TableEncoder):
        return _cells(encoder, given), []
    cells = _cells(encoder.steps, given.steps)
    last = pd.DataFrame(cells, dtype=object).groupby(given.series).last().to_numpy(dtype=object)
    if encoder.statics is not None:
        last = np.hstack([last, _cells(encoder.statics, given.statics)])
    last[pd.isna(last)] = None
    return last, np.split(cells, np.cumsum(given.lengths)[:-1])


def _cells(encoder: TableEncoder, columns: Columns) -> np.ndarray:
    arrays = encoder.arranged(columns).arrays
    cells = np.empty((columns.n_rows, len(arrays)), dtype=object)
    for j, array in enumerate(arrays):
        cells[:, j] = array
        cells[pd.isna(array), j] = None
    return cells


def importance_by_column(found: Explanation) -> np.ndarray | None:
    """What the policy gave; of series, the mean over the steps; (n, d)."""
    if isinstance(found, SeriesExplanation) and found.importance is not None:
        return np.array([one.mean(axis=0) for one in found.importance])
    return found.importance


def long_lines(
    found: Explanation,
    values: np.ndarray,
    at_steps: list[np.ndarray],
    names: list[Any],
    of_what: str,
) -> pd.DataFrame:
    """A line a row and column; names (n,) say which row, under the title `of_what`.

    Of series, lines with a time are single values, those without are all values of the column.
    values and at_steps are those of `given_values`.
    """
    n, d = found.next_value.shape
    importance = importance_by_column(found)
    who, column = np.repeat(np.arange(n), d), np.tile(np.arange(d), n)
    lines = _titled(found, names, of_what, who, column)
    lines["value"], lines["removal"] = values.ravel(), found.by_column().ravel()
    lines["importance"] = np.nan if importance is None else importance.ravel()
    for name in ("next_value", "next_low", "next_high"):
        lines[name] = getattr(found, name).ravel()
    if not isinstance(found, SeriesExplanation):
        return lines
    lines.insert(1, "time", np.nan)
    if found.removal is None:
        return lines
    parts = [lines]
    for i, removal in enumerate(found.removal):
        step, column = np.nonzero(~np.isnan(removal[:, : d - found.n_static]))
        single = _titled(found, names, of_what, np.full(len(step), i), column)
        single["time"], single["removal"] = found.times[i][step], removal[step, column]
        single["value"] = at_steps[i][step, column]
        if found.importance is not None:
            single["importance"] = found.importance[i][step, column]
        parts.append(single)
    # Dropped first: pandas would ask about columns without an entry.
    return pd.concat([part.dropna(axis=1, how="all") for part in parts]).reindex(
        columns=lines.columns
    )


def _titled(
    found: Explanation, names: list[Any], of_what: str, who: np.ndarray, column: np.ndarray
) -> pd.DataFrame:
    """Lines that say whose they are: of which rows and columns, by their numbers; (m,) each."""
    lines = pd.DataFrame({of_what: np.array(names, dtype=object)[who]})
    if found.of is not None:
        lines["of"] = found.of[who]
    lines["column"] = np.array(found.columns, dtype=object)[column]
    lines["prediction"] = found.prediction[who]
    return lines


def by_column(found: Explanation) -> pd.DataFrame:
    """Over all rows, a line a column, that with the largest effect first.

    observed : share of the rows that have it (of series, a value of it at any step)
    effect : mean absolute removal where it is observed
    change : mean of `next_value` where it is missing
    importance : mean of what the policy gave, or NaN
    """
    removal = found.by_column()
    importance = importance_by_column(found)
    frame = pd.DataFrame(
        {
            "column": found.columns,
            "observed": (~np.isnan(removal)).mean(axis=0),
            "effect": _mean(np.abs(removal)),
            "change": _mean(found.next_value),
            "importance": np.nan if importance is None else _mean(importance),
        }
    )
    return frame.sort_values("effect", ascending=False, kind="stable", ignore_index=True)


def _mean(values: np.ndarray) -> np.ndarray:
    """Mean of what is there, NaN where nothing is; (n, d) -> (d,)."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
