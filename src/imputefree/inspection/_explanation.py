"""Explanations, also as JSON, as lines of a file and as means by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..data import Columns, TableEncoder
from ..estimators import read_inputs
from ._model_rows import as_objects

NEXT = ("next_value", "next_low", "next_high")


@dataclass(frozen=True)
class Explanation:
    """Explanation of n rows of a table with d columns (those of training, in that order).

    Attributes
    ----------
    columns : d names
    of : (n,) the class whose probability is explained, row by row; None for a regression
    prediction : (n,) that probability, or the predicted number
    observed : (n, d) bool; a category that training never saw counts as missing
    importance : (n, d) in [0, 1], by the policy; None if the model has no policy
    removal : (n, d) the prediction minus the prediction without this value; NaN where missing
    next_value : (n, d) mean absolute change of the prediction over plausible values of the column;
        NaN where observed. Plausible values are those of training, weighted by their share,
        independently of the other values of the row. A ranking of what to measure, not a promise.
    next_low, next_high : (n, d) the lowest and the highest prediction over these values
    """

    columns: list[str]
    of: np.ndarray | None
    prediction: np.ndarray
    observed: np.ndarray
    importance: Any
    removal: Any
    next_value: np.ndarray
    next_low: np.ndarray
    next_high: np.ndarray

    def best_next(self, most: int = 1) -> list[Any]:
        """The missing values that would move each prediction most, best first; (n,).

        With most=1 a dict {"column", "change", "low", "high"} per row, None if nothing is missing;
        otherwise a list of at most that many dicts per row.
        """
        parts, ranked = ("change", "low", "high"), []
        for numbers in np.stack([getattr(self, name) for name in NEXT], axis=-1):  # (d, 3)
            order = np.argsort(-numbers[:, 0], kind="stable")[:most]  # NaN (observed) comes last
            best = [
                {"column": self.columns[j], **dict(zip(parts, numbers[j].tolist(), strict=True))}
                for j in order
                if not np.isnan(numbers[j, 0])
            ]
            ranked.append(best if most != 1 else next(iter(best), None))
        return ranked

    def by_column(self) -> np.ndarray:
        """Effect of removing a column: for a table, `removal` itself; (n, d)."""
        return self.removal

    def importance_by_column(self) -> np.ndarray | None:
        """What the policy gave; (n, d)."""
        return self.importance

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name as plain JSON types: lists for arrays, None for NaN."""
        names = ("columns", "of", "prediction", "importance", "removal", *NEXT)
        return {name: plain(getattr(self, name)) for name in names} | {
            "best_next": self.best_next()
        }

    def to_lines(
        self, values: np.ndarray, step_values: list[np.ndarray], names: list[Any], title: str
    ) -> pd.DataFrame:
        """One line per row and column, for a file.

        values, step_values : what `input_values` returned
        names : (n,) what to call the rows, in a column with this title
        """
        importance = self.importance_by_column()
        row, column = np.indices(self.next_value.shape)
        lines = self._named_lines(names, title, row.ravel(), column.ravel())
        lines["value"], lines["removal"] = values.ravel(), self.by_column().ravel()
        lines["importance"] = np.nan if importance is None else importance.ravel()
        for name in NEXT:
            lines[name] = getattr(self, name).ravel()
        return lines

    def _named_lines(
        self, names: list[Any], title: str, row: np.ndarray, column: np.ndarray
    ) -> pd.DataFrame:
        """Lines that say which row and column they are about; row and column are (m,) numbers."""
        lines = pd.DataFrame({title: np.array(names, dtype=object)[row]})
        if self.of is not None:
            lines["of"] = self.of[row]
        lines["column"] = np.array(self.columns, dtype=object)[column]
        lines["prediction"] = self.prediction[row]
        return lines

    def means(self) -> pd.DataFrame:
        """Means over all rows, one line per column, largest effect first.

        observed : share of the rows that have it (for series, a value at any step)
        effect : mean absolute removal where it is observed
        change : mean of `next_value` where it is missing
        importance : mean of what the policy gave, or NaN
        """
        removal, importance = pd.DataFrame(self.by_column()), self.importance_by_column()
        means = pd.DataFrame(
            {
                "column": self.columns,
                "observed": removal.notna().mean(),
                "effect": removal.abs().mean(),
                "change": pd.DataFrame(self.next_value).mean(),
                "importance": np.nan if importance is None else importance.mean(axis=0),
            }
        )
        return means.sort_values("effect", ascending=False, kind="stable", ignore_index=True)


@dataclass(frozen=True)
class SeriesExplanation(Explanation):
    """Explanation of n series. Columns are those of the steps, then the static ones, d in all.

    What differs from tables:

    importance : a list of n arrays (steps, d), or None
    removal : a list of n arrays (steps, d), value by value; the time since the last observation
        changes as well. The effect of a static value is given at the first step. None if only whole
        columns were asked for.
    observed : (n, d), whether a value was observed at the last step; for static columns, at all
    next_value, next_low, next_high : (n, d), for values missing at the last step, and static ones
    column_removal : (n, d) the prediction minus the prediction without any value of the column; NaN
        where it has none. Repeated measurements can replace each other, so this may be much more
        than the sum of `removal`.
    ids : (n,) the series, in the order of `predict`
    times : a list of n arrays (steps,)
    n_static : how many of the columns are static

    A model that predicts every step is explained at the last one.
    """

    column_removal: np.ndarray
    ids: np.ndarray
    times: list[np.ndarray]
    n_static: int

    def by_column(self) -> np.ndarray:
        """Effect of removing all values of a column at once; (n, d)."""
        return self.column_removal

    def importance_by_column(self) -> np.ndarray | None:
        """What the policy gave, the mean over the steps; (n, d)."""
        if self.importance is None:
            return None
        return np.array([steps.mean(axis=0) for steps in self.importance])

    def sums(self) -> np.ndarray | None:
        """Removals of single values, summed by column; NaN where it has none; (n, d)."""
        if self.removal is None:
            return None
        return np.array([pd.DataFrame(steps).sum(min_count=1) for steps in self.removal])

    def to_dict(self) -> dict[str, Any]:
        """The attributes as plain JSON types; see `Explanation.to_dict`."""
        return super().to_dict() | {
            "static": self.columns[len(self.columns) - self.n_static :],
            "ids": plain(self.ids),
            "times": plain(self.times),
            "column_removal": plain(self.column_removal),
            "removal_sums": plain(self.sums()),
        }

    def to_lines(
        self, values: np.ndarray, step_values: list[np.ndarray], names: list[Any], title: str
    ) -> pd.DataFrame:
        """Lines without a time are about all values of a column, lines with a time about one."""
        lines = super().to_lines(values, step_values, names, title)
        lines.insert(1, "time", np.nan)
        parts = [lines]
        for i, removal in enumerate(self.removal or []):
            step, column = np.nonzero(~np.isnan(removal[:, : len(self.columns) - self.n_static]))
            part = self._named_lines(names, title, np.full(len(step), i), column)
            part["time"], part["removal"] = self.times[i][step], removal[step, column]
            part["value"] = step_values[i][step, column]
            if self.importance is not None:
                part["importance"] = self.importance[i][step, column]
            parts.append(part)
        # pandas warns if it has to concatenate columns without entries.
        return pd.concat([part.dropna(axis=1, how="all") for part in parts]).reindex(
            columns=lines.columns
        )


def input_values(model: Any, X: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """The values of each row by column, None for gaps; (n, d) object, columns as explained.

    For series these are the last observed values, and a list of (steps, columns of a step) has all.
    """
    encoder, inputs = model.encoder_, read_inputs(model, X)
    if isinstance(encoder, TableEncoder):
        return _cells(encoder, inputs), []
    cells = _cells(encoder.steps, inputs.steps)
    last = pd.DataFrame(cells, dtype=object).groupby(inputs.series).last().to_numpy(dtype=object)
    if encoder.statics is not None:
        last = np.hstack([last, _cells(encoder.statics, inputs.statics)])
    last[pd.isna(last)] = None
    return last, np.split(cells, np.cumsum(inputs.lengths)[:-1])


def _cells(encoder: TableEncoder, columns: Columns) -> np.ndarray:
    arrays = [as_objects(array) for array in encoder.arranged(columns).arrays]
    none = np.empty((columns.n_rows, 0), dtype=object)  # there may be no columns
    return np.column_stack([none, *arrays])


def plain(value: Any) -> Any:
    """Arrays as lists, NaN as None, NumPy's numbers as Python's.

    >>> plain(np.array([[1.0, np.nan]]))
    [[1.0, None]]
    """
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
