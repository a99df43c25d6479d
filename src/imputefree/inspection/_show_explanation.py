"""Show an explanation on a terminal or as a picture.

Blue raises the prediction, orange lowers it: colour-blind readers can tell these colours apart, and
the side of the zero line says the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ._explanation import Explanation, SeriesExplanation, plain

MOST = 25  # columns shown
MOST_NEXT = 5  # columns to measure next, on a terminal
LABEL_WIDTH = 33
UP, DOWN, GREY, PALE = "#0072b2", "#d55e00", "#777777", "#e8e8e8"


def show_row(why: Explanation, row: int, name: str, values: np.ndarray, console: Console) -> None:
    """Print one row or series: what each value did, then what to measure; values (n, d)."""
    series = isinstance(why, SeriesExplanation)
    number, importance = NumberFormat(why), why.importance_by_column()
    console.print(f"[bold]{escape(name)}[/bold]: {escape(headline(why, row))}")
    effect = why.by_column()[row]
    order = _by_size(effect)
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


def _by_size(effect: np.ndarray) -> np.ndarray:
    """Columns with an effect, the largest first."""
    order = np.argsort(-np.abs(np.nan_to_num(effect)), kind="stable")
    return order[~np.isnan(effect[order])]


def draw(why: Explanation, values: np.ndarray, names: list[Any], path: Path, kind: str) -> None:
    """Write a picture (its kind: "png", "pdf" or "svg") of one row or series, or of many by column.

    values : (n, d), the entries; names : (n,), what to call the rows or series
    """
    from matplotlib.figure import Figure

    series, n = isinstance(why, SeriesExplanation), len(why.prediction)
    shown = (~np.isnan(why.by_column())).any(0).sum(), (~np.isnan(why.next_value)).any(0).sum()
    slots = int(np.clip(max(shown), 4, MOST))  # bars have the same width in both halves
    height = 1.6 + 0.28 * slots
    if isinstance(why, SeriesExplanation) and n == 1 and why.removal is not None:
        n_columns = len(why.columns) - why.n_static
        map_height = 1.5 + 0.27 * int(np.clip(n_columns, 3, 2 * MOST))
        figure = Figure(figsize=(13, height + map_height), layout="constrained", dpi=110)
        upper, bars = np.asarray(figure.subfigures(2, 1, height_ratios=[map_height, height]))
        _draw_steps(upper.subplots(), why)
    else:
        figure = bars = Figure(figsize=(13, height), layout="constrained", dpi=110)
    left, right = bars.subplots(1, 2)
    if n == 1:
        _draw_effects(left, why, values)
        draw_next(right, why)
        title = f"{'series' if series else 'row'} {names[0]}: {headline(why, 0)}"
    else:
        _draw_means(left, right, why)
        title = f"{n:,} {'series' if series else 'rows'}: {explained_number(why)}"
    for axes in (left, right):
        axes.set_ylim(slots - 0.5, -0.5)
    figure.suptitle(title, fontsize=13)
    figure.savefig(path, format=kind)


def _draw_effects(axes: Any, why: Explanation, values: np.ndarray) -> None:
    """One bar per column of the only row, the largest at the top."""
    effect, series = why.by_column()[0], isinstance(why, SeriesExplanation)
    order = _by_size(effect)
    labels = [why.columns[j] + ("" if series else f" = {value_text(values[0, j])}") for j in order]
    colours = np.where(effect[order] >= 0, UP, DOWN)
    title = "what all values of a column did" if series else "what each observed value did"
    _draw_bars(axes, why, title, labels, effect[order], colours, "nothing is observed")
    axes.set_xlabel("prediction minus prediction without it")


def draw_next(axes: Any, why: Explanation) -> None:
    """Where the prediction could go if a missing value were measured, most useful at the top."""
    missing = why.best_next(MOST + 1)[0]
    at_last = ", at the last step" if isinstance(why, SeriesExplanation) else ""
    axes.set_title(f"measure next{at_last}{_largest(len(missing))}")
    if not missing:
        _say(axes, "nothing is missing")
        return
    missing = missing[:MOST]
    now, number = float(why.prediction[0]), NumberFormat(why)
    low, high = (np.array([best[key] for best in missing]) for key in ("low", "high"))
    place = np.arange(len(missing))
    axes.barh(place, np.maximum(np.minimum(high, now) - low, 0), left=low, color=DOWN, height=0.7)
    start = np.maximum(low, now)
    axes.barh(place, np.maximum(high - start, 0), left=start, color=UP, height=0.7)
    axes.axvline(now, color="black", linewidth=0.8)
    _label_bars(axes, [best["column"] for best in missing])
    axes.use_sticky_edges = False
    axes.margins(x=0.05)
    for i, best in enumerate(missing):
        axes.annotate(
            f"±{number(best['change'])}", (1, i), xycoords=("axes fraction", "data"), va="center",
            fontsize=8, color=GREY,
        )  # fmt: skip
    axes.set_xlabel("prediction now (line) and over values of training; ±: mean change")


def _draw_means(left: Any, right: Any, why: Explanation) -> None:
    """Means over many rows: what removing does, and what measuring would do."""
    for axes, key, colour, title, empty in (
        (left, "effect", UP, "mean effect of removing, where observed", "nothing is observed"),
        (right, "change", GREY, "mean change if measured, where missing", "nothing is missing"),
    ):
        part = why.means().dropna(subset=key).sort_values(key, ascending=False, kind="stable")
        labels, colours = part["column"].tolist(), np.full(len(part), colour)
        _draw_bars(axes, why, title, labels, part[key].to_numpy(), colours, empty)
        axes.set_xlabel("mean absolute change of the prediction")


def _draw_steps(axes: Any, why: SeriesExplanation) -> None:
    """A map of the effects, column × time."""
    from matplotlib.colors import LinearSegmentedColormap

    axes.set_title("what each observed value did (grey: missing)")
    effects = why.removal[0][:, : len(why.columns) - why.n_static].T  # (columns, steps)
    rows = _by_size(pd.DataFrame(effects).abs().sum(axis=1, min_count=1).to_numpy())[: 2 * MOST]
    if not len(rows):
        _say(axes, "nothing is observed")
        return
    times = why.times[0]
    middle = (times[1:] + times[:-1]) / 2 if len(times) > 1 else times - 0.5
    edges = np.unique([2 * times[0] - middle[0], *middle, 2 * times[-1] - middle[-1]])
    top = float(np.nanmax(np.abs(effects[rows]))) or 1.0
    axes.set_facecolor(PALE)
    mesh = axes.pcolormesh(
        edges,
        np.arange(len(rows) + 1) - 0.5,
        np.ma.masked_invalid(effects[rows]),
        cmap=LinearSegmentedColormap.from_list("effect", [DOWN, "#ffffff", UP]),
        vmin=-top,
        vmax=top,
    )
    axes.figure.colorbar(mesh, ax=axes, label="effect", pad=0.01)
    _label_bars(axes, [why.columns[j] for j in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("time")


def _draw_bars(
    axes: Any,
    why: Explanation,
    title: str,
    labels: list[str],
    sizes: np.ndarray,
    colours: np.ndarray,
    empty: str,
) -> None:
    """Horizontal bars with their numbers at the end; at most MOST."""
    axes.set_title(title + _largest(len(labels)))
    if not labels:
        _say(axes, empty)
        return
    labels, sizes = labels[:MOST], sizes[:MOST]
    bars = axes.barh(np.arange(len(labels)), sizes, color=colours[:MOST], height=0.7)
    axes.bar_label(bars, list(map(NumberFormat(why), sizes)), padding=4, fontsize=8)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.margins(x=0.15)
    _label_bars(axes, labels)


def _label_bars(axes: Any, labels: list[str]) -> None:
    half = LABEL_WIDTH // 2
    short = [x if len(x) <= LABEL_WIDTH else f"{x[:half]}…{x[-half:]}" for x in labels]
    axes.set_yticks(np.arange(len(labels)), short, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _largest(count: int) -> str:
    return f" (the {MOST} largest)" if count > MOST else ""


def _say(axes: Any, text: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)
