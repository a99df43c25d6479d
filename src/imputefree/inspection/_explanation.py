"""What an explanation holds, and the same as plain JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Explanation:
    """Of n rows of a table with d columns (those of training, in that order).

    Attributes
    ----------
    columns : d names
    of : (n,) the class whose probability is explained, row by row; None for a regression
    prediction : (n,) that probability, or the number
    observed : (n, d) bool; a category that training never saw counts as missing
    importance : (n, d) in [0, 1], what the policy gave; None where the model has no policy
    removal : (n, d) the prediction minus that without this value; NaN where it is missing
    next_value : (n, d) mean absolute change of the prediction over plausible values of the column;
        NaN where it is observed. Plausible are the values of training, each by its share: the
        column's own distribution, which ignores what the other values of the row tell about it. A
        ranking of what to measure, not a promise.
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
        """The missing values that would move each prediction most, best first; n of them.

        With most=1 a dict {"column", "change", "low", "high"} a row, None where nothing is missing;
        else a list of up to so many.
        """
        found = []
        for i, change in enumerate(self.next_value):
            order = np.argsort(-change, kind="stable")  # NaN, the observed, come last
            best = [
                {
                    "column": self.columns[j],
                    "change": float(change[j]),
                    "low": float(self.next_low[i, j]),
                    "high": float(self.next_high[i, j]),
                }
                for j in order[:most]
                if not np.isnan(change[j])
            ]
            found.append(best if most != 1 else next(iter(best), None))
        return found

    def by_column(self) -> np.ndarray:
        """What removing does, one number a column: of a table, `removal` itself; (n, d)."""
        return self.removal

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON types: the attributes by name, lists for arrays, None for NaN."""
        names = ("columns", "of", "prediction", "importance", "removal")
        found = {name: plain(getattr(self, name)) for name in names}
        found |= {n: plain(getattr(self, n)) for n in ("next_value", "next_low", "next_high")}
        return found | {"best_next": self.best_next()}


@dataclass(frozen=True)
class SeriesExplanation(Explanation):
    """Of n series. Columns are those of the steps, then the static ones, d in all.

    What is different from tables:

    importance : a list of n arrays (steps, d), or None
    removal : a list of n arrays (steps, d), value by value; the times since the last observation
        change with it. A static value is one: its effect stands at the first step. None if only
        whole columns were asked for.
    observed : (n, d), whether a value was observed at the last step; of static columns, at all
    next_value, next_low, next_high : (n, d), for values missing at the last step, and static ones
    column_removal : (n, d) the prediction minus that without any value of the column; NaN where
        it has none. Repeated measurements stand in for one another: this may be much more than the
        sum of `removal`.
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
        """What removing all values of a column at once does; (n, d)."""
        return self.column_removal

    def sums(self) -> np.ndarray | None:
        """Removals of single values summed by column, NaN where it has none; (n, d)."""
        if self.removal is None:
            return None
        some = np.array([(~np.isnan(one)).any(axis=0) for one in self.removal])
        return np.where(some, [np.nansum(one, axis=0) for one in self.removal], np.nan)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON types; see `Explanation.to_dict`."""
        static = self.columns[len(self.columns) - self.n_static :]
        return super().to_dict() | {
            "static": static,
            "ids": plain(self.ids),
            "times": plain(self.times),
            "column_removal": plain(self.column_removal),
            "removal_sums": plain(self.sums()),
        }


def plain(value: Any) -> Any:
    """Arrays as lists, NaN as None, numbers of NumPy as Python's.

    >>> plain(np.array([[1.0, np.nan]]))
    [[1.0, None]]
    """
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
