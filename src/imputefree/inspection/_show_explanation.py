"""Show an explanation on a terminal; `_draw_explanation` makes pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ._explanation import Explanation, SeriesExplanation, plain

MOST = 25  # columns shown
MOST_NEXT = 5  # columns to measure next, on a terminal


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
