"""An explanation for a terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ._explained_lines import by_column, importance_by_column
from ._explanation import Explanation, SeriesExplanation

MOST = 25  # lines of columns
NEXT = 5  # of what to measure next


def show_row(found: Explanation, row: int, name: str, values: np.ndarray, to: Console) -> None:
    """One row or series: what each value did, then what to measure; values (n, d)."""
    series = isinstance(found, SeriesExplanation)
    to.print(f"[bold]{escape(name)}[/bold]: {escape(headline(found, row))}")
    effect, importance = found.by_column()[row], importance_by_column(found)
    columns = ("column", "last value" if series else "value", "effect")
    table = _table(
        "what was observed" + ", all values of a column together" * series,
        columns if importance is None else (*columns, "importance"),
    )
    write = Writer(found)
    order = np.argsort(-np.abs(np.nan_to_num(effect)), kind="stable")
    order = order[~np.isnan(effect[order])]
    for j in order[:MOST]:
        cells = (
            escape(found.columns[j]),
            escape(value_text(values[row, j])),
            write.signed(effect[j]),
        )
        given = [] if importance is None else [f"{importance[row, j]:.2f}"]
        table.add_row(*cells, *given)
    to.print(table)
    _and_more(len(order) - MOST, to)
    coming = found.best_next(NEXT + 1)[row]
    if not coming:
        to.print("Nothing is missing: there is nothing to measure next.")
        return
    table = _table("measure next", ("column", "mean change", "lowest", "highest"))
    for one in coming[:NEXT]:
        sizes = [write(one[key]) for key in ("change", "low", "high")]
        table.add_row(escape(one["column"]), *sizes)
    to.print(table)


def show_all(found: Explanation, to: Console) -> None:
    """Many rows: mean sizes by column."""
    series = isinstance(found, SeriesExplanation)
    what = "series" if series else "rows"
    to.print(f"[bold]{len(found.prediction):,} {what}[/bold]: {escape(explained(found))}")
    lines, write = by_column(found), Writer(found)
    columns = ("column", "observed", "effect", "change")
    table = _table("by column", columns if found.importance is None else (*columns, "importance"))
    for name, observed, effect, change, importance in lines.head(MOST).to_numpy():
        given = [] if found.importance is None else [f"{importance:.2f}"]
        table.add_row(escape(name), f"{observed:.0%}", write(effect), write(change), *given)
    to.print(table)
    _and_more(len(lines) - MOST, to)
    to.print(
        "effect: mean size of what removing it does, where observed; change: how far measuring it"
        " would move the prediction, where missing."
    )


def headline(found: Explanation, row: int) -> str:
    """What is predicted, in a few words.

    >>> none = np.empty((1, 0))
    >>> one = Explanation([], np.array(["ill"]), np.array([0.25]), none, None, *[none] * 4)
    >>> headline(one, 0)
    "probability of 'ill': 0.2500"
    """
    if found.of is None:
        return f"prediction {Writer(found)(found.prediction[row])}"
    return f"probability of {class_text(found.of[row])}: {Writer(found)(found.prediction[row])}"


def explained(found: Explanation) -> str:
    """Which number is explained, over all rows."""
    if found.of is None:
        return "the predicted number"
    classes = pd.unique(np.asarray(found.of, dtype=object))
    if len(classes) == 1:
        return f"the probability of {class_text(classes[0])}"
    return "the probability of the class predicted for each"


def class_text(label: Any) -> str:
    """A class as it is written: texts in quotes."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def value_text(value: Any) -> str:
    """An entry of the table; nothing for a gap."""
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


class Writer:
    """Writes the numbers of an explanation with as many decimals as the largest of them needs.

    >>> none = np.empty((1, 0))
    >>> one = Explanation([], None, np.array([0.25]), none, None, *[none] * 4)
    >>> Writer(one)(0.12345), Writer(one)(-0.00001), Writer(one).signed(-0.0123)
    ('0.1235', '0.0000', '−0.0123')
    """

    def __init__(self, found: Explanation) -> None:
        sizes = [found.prediction, found.by_column().ravel(), found.next_value.ravel()]
        size = float(np.nanmax(np.abs(np.concatenate([*sizes, [1e-3]]))))
        self.decimals = int(np.clip(3 - np.floor(np.log10(size)), 0, 4)) if size > 1e-3 else 6

    def __call__(self, value: float) -> str:
        if np.isnan(value):
            return ""
        rounded = round(float(value), self.decimals) + 0.0  # no "-0.0000"
        return f"{rounded:.{self.decimals}f}".replace("-", "−")

    def signed(self, value: float) -> str:
        """With its sign, also where it is positive."""
        text = self(value)
        return text if value <= 0 or text.strip("0.") == "" else f"+{text}"


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in columns:
        left = name == "column" or name.endswith("value")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    return table


def _and_more(count: int, to: Console) -> None:
    if count > 0:
        to.print(f"… and {count} more columns with less effect; --csv and --json have all.")
