"""Explanations, also as JSON, as lines of a file, as means by column and on a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..data import Columns, TableEncoder
from ..estimators import read_inputs
from ._model_rows import as_objects

NEXT = ("next_value", "next_low", "next_high")
MOST = 25  # columns shown
MOST_NEXT = 5  # columns to measure next, on a terminal


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


def show_row(why: Explanation, row: int, name: str, values: np.ndarray, console: Console) -> None:
    """Print one row or series: what each value did, then what to measure; values (n, d)."""
    series = isinstance(why, SeriesExplanation)
    number, importance = NumberFormat(why), why.importance_by_column()
    console.print(f"[bold]{escape(name)}[/bold]: {escape(headline(why, row))}")
    effect = why.by_column()[row]
    order = by_size(effect)
    title = "what was observed" + ", all values of a column together" * series
    columns = ["column", "last value" if series else "value", "effect"]
    lines = [[why.columns[j], value_text(values[row, j]), number.signed(effect[j])] for j in order]
    if importance is not None:
        columns.append("importance")
        lines = [[*line, f"{importance[row, j]:.2f}"] for line, j in zip(lines, order, strict=True)]
    _print_table(title, columns, lines, console)
    missing = why.best_next(MOST_NEXT + 1)[row][:MOST_NEXT]
    if not missing:
        console.print("Nothing is missing: there is nothing to measure next.")
        return
    keys = ("change", "low", "high")
    lines = [[best["column"], *(number(best[key]) for key in keys)] for best in missing]
    _print_table("measure next", ["column", "mean change", "lowest", "highest"], lines, console)


def show_all(why: Explanation, console: Console) -> None:
    """Print means by column over many rows."""
    rows = "series" if isinstance(why, SeriesExplanation) else "rows"
    console.print(f"[bold]{len(why.prediction):,} {rows}[/bold]: {escape(explained_number(why))}")
    number, means = NumberFormat(why), why.means()
    means["observed"] = means["observed"].map("{:.0%}".format)
    means[["effect", "change"]] = means[["effect", "change"]].map(number)
    if why.importance is None:
        means = means.drop(columns="importance")
    else:
        means["importance"] = means["importance"].map("{:.2f}".format)
    _print_table("by column", means.columns.tolist(), means.to_numpy().tolist(), console)
    console.print(
        "effect: mean size of the effect of removing it, where observed; change: how far measuring"
        " it would move the prediction, where missing."
    )


def _print_table(title: str, columns: list[str], lines: list[list[str]], console: Console) -> None:
    table = Table(title=title, title_justify="left")
    for name in columns:
        left = name == "column" or name.endswith("value")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    for line in lines[:MOST]:
        table.add_row(*map(escape, line))
    console.print(table)
    if (more := len(lines) - MOST) > 0:
        console.print(f"… and {more} more columns with less effect; --csv and --json have all.")


def headline(why: Explanation, row: int) -> str:
    """The prediction in a few words: "probability of 'ill': 0.2500"."""
    number = NumberFormat(why)(why.prediction[row])
    if why.of is None:
        return f"prediction {number}"
    return f"probability of {plain(why.of[row])!r}: {number}"


def explained_number(why: Explanation) -> str:
    """Which number is explained, over all rows."""
    if why.of is None:
        return "the predicted number"
    classes = pd.unique(np.asarray(why.of, dtype=object))
    if len(classes) == 1:
        return f"the probability of {plain(classes[0])!r}"
    return "the probability of the class predicted for each"


def value_text(value: Any) -> str:
    """An entry of the table, empty for a gap."""
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


class NumberFormat:
    """Writes the numbers of an explanation with as many decimals as the largest of them needs."""

    def __init__(self, why: Explanation) -> None:
        sizes = [why.prediction, why.by_column().ravel(), why.next_value.ravel()]
        size = float(np.nanmax(np.abs(np.concatenate([*sizes, [1e-3]]))))
        self.decimals = int(np.clip(3 - np.floor(np.log10(size)), 0, 4)) if size > 1e-3 else 6

    def __call__(self, value: float) -> str:
        if np.isnan(value):
            return ""
        rounded = round(float(value), self.decimals) + 0.0  # not "-0.0000"
        return f"{rounded:.{self.decimals}f}".replace("-", "−")

    def signed(self, value: float) -> str:
        """With a plus sign if positive."""
        text = self(value)
        return text if value <= 0 or text.strip("0.") == "" else f"+{text}"


def by_size(effect: np.ndarray) -> np.ndarray:
    """Columns with an effect, the largest first."""
    order = np.argsort(-np.abs(np.nan_to_num(effect)), kind="stable")
    return order[~np.isnan(effect[order])]
