"""Pictures of explanations (one row, one series as small charts, or means over many) and of audits.

Blue raises the prediction, orange lowers it: colour-blind readers can tell these colours apart, and
the side of the zero line says the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ._explanation import (
    MOST,
    Explanation,
    NumberFormat,
    SeriesExplanation,
    by_size,
    explained_number,
    headline,
    value_text,
)

WIDTH, DPI = 13, 110
MOST_CHARTS = 50  # columns of a series
CHART = 0.76  # of the height of a line, for its curve
SMALLEST, LARGEST = 7.0, 70.0  # areas of the dots of single values, by the size of their effects
LABEL_WIDTH = 33
UP, DOWN, INK, GREY, PALE = "#0072b2", "#d55e00", "#22262b", "#6b7280", "#eceef1"
MOST_COLUMNS = 15  # of an audit, those with the largest changes


def draw(
    why: Explanation,
    values: np.ndarray,
    step_values: list[np.ndarray],
    names: list[Any],
    path: Path,
    kind: str,
) -> None:
    """Write a picture (its kind: "png", "pdf" or "svg") of one row or series, or of many by column.

    values, step_values : what `input_values` returned
    names : (n,), what to call the rows or series
    """
    from matplotlib.figure import Figure

    series, n = isinstance(why, SeriesExplanation), len(why.prediction)
    if isinstance(why, SeriesExplanation) and n == 1:
        figure = one_series(why, values[0], step_values[0])
        words = f"series {names[0]}: {headline(why, 0)}"
    else:
        shown = (~np.isnan(why.by_column())).any(0).sum(), (~np.isnan(why.next_value)).any(0).sum()
        slots = int(np.clip(max(shown), 4, MOST))  # bars have the same width in both halves
        figure = Figure(figsize=(WIDTH, 1.6 + 0.28 * slots), layout="constrained", dpi=DPI)
        left, right = figure.subplots(1, 2)
        if n == 1:
            _draw_effects(left, why, values)
            draw_next(right, why)
            words = f"row {names[0]}: {headline(why, 0)}"
        else:
            _draw_means(left, right, why)
            words = f"{n:,} {'series' if series else 'rows'}: {explained_number(why)}"
        for axes in (left, right):
            axes.set_ylim(slots - 0.5, -0.5)
    figure.suptitle(words, fontsize=13, fontweight="bold", x=0.01, ha="left", color=INK)
    figure.savefig(path, format=kind)


# ---- tables
def _draw_effects(axes: Any, why: Explanation, values: np.ndarray) -> None:
    """One bar per column of the only row, the largest at the top."""
    effect = why.by_column()[0]
    order = by_size(effect)
    labels = [f"{why.columns[j]} = {value_text(values[0, j])}" for j in order]
    colours = np.where(effect[order] >= 0, UP, DOWN)
    words = "effect of each observed value"
    _draw_bars(axes, why, words, labels, effect[order], colours, "nothing is observed")
    axes.set_xlabel("prediction minus prediction without it")


def draw_next(axes: Any, why: Explanation) -> None:
    """Where the prediction could go if a missing value were measured, most useful at the top."""
    missing = why.best_next(MOST + 1)[0]
    title(axes, f"measure next{_largest(len(missing))}")
    if not missing:
        say(axes, "nothing is missing")
        return
    missing = missing[:MOST]
    low, high = (np.array([best[key] for best in missing]) for key in ("low", "high"))
    label_bars(axes, [best["column"] for best in missing])
    _draw_reach(axes, why, np.arange(len(missing)), low, high)
    number = NumberFormat(why)
    for i, best in enumerate(missing):
        axes.annotate(
            f"±{number(best['change'])}", (1, i), xycoords=("axes fraction", "data"), va="center",
            fontsize=8, color=GREY,
        )  # fmt: skip
    axes.set_xlabel("prediction now (line) and over values of training; ±: mean change")


def _draw_reach(
    axes: Any, why: Explanation, place: np.ndarray, low: np.ndarray, high: np.ndarray
) -> None:
    """From the lowest to the highest prediction, and the present one as a line."""
    now = float(why.prediction[0])
    axes.barh(place, np.maximum(np.minimum(high, now) - low, 0), left=low, color=DOWN, height=0.6)
    start = np.maximum(low, now)
    axes.barh(place, np.maximum(high - start, 0), left=start, color=UP, height=0.6)
    axes.axvline(now, color=INK, linewidth=0.8)
    axes.use_sticky_edges = False
    axes.margins(x=0.05)


def _draw_means(left: Any, right: Any, why: Explanation) -> None:
    """Means over many rows: what removing does, and what measuring would do."""
    for axes, key, colour, words, empty in (
        (left, "effect", UP, "mean effect of removing, where observed", "nothing is observed"),
        (right, "change", GREY, "mean change if measured, where missing", "nothing is missing"),
    ):
        part = why.means().dropna(subset=key).sort_values(key, ascending=False, kind="stable")
        labels, colours = part["column"].tolist(), np.full(len(part), colour)
        _draw_bars(axes, why, words, labels, part[key].to_numpy(), colours, empty)
        axes.set_xlabel("mean absolute change of the prediction")


def _draw_bars(
    axes: Any,
    why: Explanation,
    words: str,
    labels: list[str],
    sizes: np.ndarray,
    colours: np.ndarray,
    empty: str,
) -> None:
    """Horizontal bars with their numbers at the end; at most MOST."""
    title(axes, words + _largest(len(labels)))
    if not labels:
        say(axes, empty)
        return
    labels, sizes = labels[:MOST], sizes[:MOST]
    label_bars(axes, labels)
    _draw_signed(axes, why, np.arange(len(labels)), sizes, colours[:MOST])


def _draw_signed(
    axes: Any, why: Explanation, place: np.ndarray, sizes: np.ndarray, colours: np.ndarray
) -> None:
    bars = axes.barh(place, sizes, color=colours, height=0.6)
    numbers = list(map(NumberFormat(why), sizes))
    axes.bar_label(bars, numbers, padding=4, fontsize=8, color=INK)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.margins(x=0.15)


def _largest(count: int) -> str:
    return f" (the {MOST} largest)" if count > MOST else ""


# ---- one series
def one_series(why: SeriesExplanation, last: np.ndarray, steps: np.ndarray) -> Any:
    """A line per column: its values over time, its effect, and what measuring it would do.

    last : (d,) the last observed values; steps : (steps, columns of a step) all of them
    """
    from matplotlib.figure import Figure

    effect, change = why.column_removal[0], why.next_value[0]
    seen = by_size(effect)
    never = np.flatnonzero(np.isnan(effect) & ~np.isnan(change))
    order = np.array([*seen, *never[np.argsort(-change[never], kind="stable")]], dtype=np.intp)
    more, order = len(order) - MOST_CHARTS, order[:MOST_CHARTS]
    size = (WIDTH, 2.0 + 0.34 * max(len(order), 3))
    figure = Figure(figsize=size, layout="constrained", dpi=DPI)
    curves, bars, reach = figure.subplots(1, 3, sharey=True, width_ratios=[2.6, 1.2, 1.2])
    rest = f" (the {MOST_CHARTS} with the largest effects)" if more > 0 else ""
    title(curves, f"observed values, and the last one{rest}")
    _draw_curves(curves, why, order, last, steps)
    place = np.arange(len(order))
    title(bars, "effect of all values of a column")
    shown = effect[order]
    some = ~np.isnan(shown)
    colours = np.where(shown[some] >= 0, UP, DOWN)
    _draw_signed(bars, why, place[some], shown[some], colours)
    bars.margins(x=0.25)
    bars.set_xlabel("prediction minus prediction without them")
    title(reach, "if measured at the last step")
    some = ~np.isnan(change[order])
    low, high = (array[0][order][some] for array in (why.next_low, why.next_high))
    _draw_reach(reach, why, place[some], low, high)
    reach.set_xlabel("prediction now (line), lowest to highest")
    label_bars(curves, [why.columns[j] for j in order])
    for axes in (bars, reach):
        plain_axes(axes)
    for axes in (curves, bars, reach):
        for line in place[::2]:
            axes.axhspan(line - 0.5, line + 0.5, color=PALE, alpha=0.5, linewidth=0, zorder=0)
        axes.tick_params(axis="x", labeltop=len(order) > MOST)
        axes.locator_params(axis="x", nbins=5)
    curves.set_ylim(max(len(order), 1) - 0.5, -0.5)
    return figure


def _draw_curves(
    axes: Any, why: SeriesExplanation, order: np.ndarray, last: np.ndarray, steps: np.ndarray
) -> None:
    """Values over time: joined where no step between lacks one, so that gaps are gaps.

    Each line has its own scale. Dots of single values are coloured and sized by their effects.
    """
    times, n_steps = why.times[0], steps.shape[1]
    effects = None if why.removal is None else why.removal[0][:, :n_steps]
    seen = np.empty(0) if effects is None else np.abs(effects[~np.isnan(effects)])
    top = float(seen.max(initial=0.0)) or 1.0
    for line, j in enumerate(order):
        text = value_text(last[j])
        if len(text) > 10:
            text = f"{last[j]:.5g}" if isinstance(last[j], float) else f"{text[:9]}…"
        place = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8}
        axes.annotate(text or "never", (1.01, line), color=INK if text else GREY, **place)
        if j >= n_steps:
            axes.annotate("constant", (0.5, line), color=GREY, ha="center", **place)
            continue
        heights = line - CHART * (_scaled(steps[:, j]) - 0.5)
        axes.plot(times, heights, color=GREY, linewidth=0.9, zorder=2)  # NaN breaks the line
        dots = {"x": times, "y": heights, "zorder": 3, "linewidths": 0}
        if effects is None:
            axes.scatter(color=GREY, s=SMALLEST, **dots)
            continue
        effect = np.nan_to_num(effects[:, j])
        colours = np.where(np.abs(effect) < 0.02 * top, GREY, np.where(effect > 0, UP, DOWN))
        axes.scatter(c=colours, s=SMALLEST + (LARGEST - SMALLEST) * np.abs(effect) / top, **dots)
    axes.margins(x=0.02)
    single = "" if effects is None else "; dots: single values, larger with a larger effect"
    axes.set_xlabel(f"time{single}")


def _scaled(column: np.ndarray) -> np.ndarray:
    """Values from 0 to 1, NaN for gaps; categories by their order of appearance.

    >>> _scaled(np.array([10.0, None, 30.0], dtype=object))
    array([ 0., nan,  1.])
    """
    seen = ~pd.isna(column)
    numbers = np.full(len(column), np.nan)
    if all(isinstance(value, float | int | np.number) for value in column[seen]):
        numbers[seen] = column[seen].astype(np.float64)
    else:
        numbers[seen] = pd.factorize(column[seen])[0]
    if not seen.any():
        return numbers
    low, high = np.nanmin(numbers), np.nanmax(numbers)
    unit = high / 2 - low / 2  # halves, as the difference may overflow
    return numbers * 0 + 0.5 if unit == 0 else (numbers / 2 - low / 2) / unit


# ---- audits
def draw_audit(table: pd.DataFrame, score: str, loss: str, chance: float) -> Any:
    """Three panels: scores under other gaps, what each column is worth, and who is served worse."""
    from matplotlib.figure import Figure

    gaps = table[table["kind"].isin(["as it is", "gaps", "reference", "group gaps"])]
    columns = table[table["kind"] == "column"].sort_values("change", kind="stable")
    parts = table[table["kind"].isin(["rows", "group"])]
    slots = max(len(gaps), min(len(columns), MOST_COLUMNS), len(parts), 4)
    figure = Figure(figsize=(15, 1.9 + 0.36 * slots), layout="constrained", dpi=110)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
    _draw_scores(left, gaps, score, chance)
    _draw_columns(middle, columns.head(MOST_COLUMNS), len(columns), score)
    _draw_parts(right, parts, loss)
    for axes in (left, middle, right):
        axes.set_ylim(slots - 0.5, -0.5)
    now = table.iloc[0]
    heading = f"{score} {now['score']:.3f} as it is, with {now['missing']:.0%} missing"
    figure.suptitle(heading, x=0.01, ha="left", fontweight="bold")
    return figure


def _draw_scores(axes: Any, lines: pd.DataFrame, score: str, chance: float) -> None:
    """A point and its interval per scenario; the two that show the mask's part are coloured."""
    place = np.arange(len(lines))
    exchanged = lines["scenario"].eq("gaps of other rows") & lines["kind"].eq("gaps")
    own = lines["scenario"].eq("own gaps, as many values") & lines["kind"].eq("gaps")
    for i, (is_own, is_exchanged) in enumerate(zip(own, exchanged, strict=True)):
        line = lines.iloc[i]
        colour = UP if is_own else DOWN if is_exchanged else "black" if i == 0 else GREY
        axes.plot([line["low"], line["high"]], [i, i], color=colour, linewidth=2)
        axes.plot(line["score"], i, "o", color=colour)
    if own.any():
        ends = [lines.loc[which, "score"].iloc[0] for which in (exchanged, own)]
        rows = np.sort([place[own.to_numpy()][0], place[exchanged.to_numpy()][0]])
        axes.fill_betweenx(rows, *ends, color=PALE, zorder=0)
        axes.annotate(
            f"due to gaps: {ends[1] - ends[0]:.3f}", (np.mean(ends), rows.mean()),
            ha="center", va="center", fontsize=8,
        )  # fmt: skip
    axes.axvline(lines["score"].iloc[0], color="black", linewidth=0.6, linestyle=":")
    axes.axvline(chance, color=GREY, linewidth=0.8)
    axes.annotate(
        "chance", (chance, 0), xycoords=("data", "axes fraction"), fontsize=8, color=GREY,
        xytext=(3, 3), textcoords="offset points",
    )  # fmt: skip
    words = {"group gaps": "others with gaps of {}", "reference": "{} (reference)"}
    names = zip(lines["kind"], lines["scenario"], strict=True)
    label_bars(axes, [words.get(kind, "{}").format(name) for kind, name in names])
    title(axes, f"{score} under other gaps")
    axes.set_xlabel(f"{score}, with 95 % intervals")


def _draw_columns(axes: Any, lines: pd.DataFrame, count: int, score: str) -> None:
    more = f" (the {MOST_COLUMNS} largest of {count})" if count > MOST_COLUMNS else ""
    title(axes, f"without a column{more}")
    if not len(lines):
        say(axes, "no column has a value")
        return
    place, change = np.arange(len(lines)), lines["change"].to_numpy()
    errors = np.abs(np.stack([lines["change_low"], lines["change_high"]]) - change)
    colours = np.where(change < 0, DOWN, UP)
    axes.barh(place, change, xerr=errors, color=colours, height=0.7, ecolor="black")
    axes.axvline(0, color="black", linewidth=0.8)
    label_bars(axes, lines["scenario"].tolist())
    axes.set_xlabel(f"change of {score}")


def _draw_parts(axes: Any, lines: pd.DataFrame, loss: str) -> None:
    title(axes, "who is served worse")
    if not len(lines):
        say(axes, "all rows are alike")
        return
    colours = np.where(lines["kind"] == "group", UP, GREY)
    bars = axes.barh(np.arange(len(lines)), lines["loss"], color=colours, height=0.7)
    notes = [
        f"{value:#.3g} · {share:.0%} missing"
        for value, share in zip(lines["loss"], lines["missing"], strict=True)
    ]
    axes.bar_label(bars, notes, padding=4, fontsize=8)
    axes.margins(x=0.45)
    axes.locator_params(axis="x", nbins=5)
    names = zip(lines["kind"], lines["scenario"], strict=True)
    label_bars(axes, [f"group {name}" if kind == "group" else name for kind, name in names])
    axes.set_xlabel(f"{loss} as it is (lower is better)")


# ---- parts
def title(axes: Any, text: str) -> None:
    """What a panel shows, above its left edge."""
    axes.set_title(text, loc="left", fontsize=10, fontweight="bold", color=INK)


def label_bars(axes: Any, labels: list[str]) -> None:
    """Name the bars of a panel, and take away what is not data."""
    half = LABEL_WIDTH // 2
    short = [x if len(x) <= LABEL_WIDTH else f"{x[:half]}…{x[-half:]}" for x in labels]
    axes.set_yticks(np.arange(len(labels)), short, fontsize=9)
    plain_axes(axes)


def plain_axes(axes: Any) -> None:
    """A panel without a frame, with pale lines at its ticks."""
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=9, colors=INK)
    axes.tick_params(axis="x", colors=GREY)
    axes.grid(axis="x", color=PALE)
    axes.set_axisbelow(True)
    axes.xaxis.label.set(color=GREY, fontsize=9)


def say(axes: Any, text: str) -> None:
    """A sentence in place of a picture."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)
