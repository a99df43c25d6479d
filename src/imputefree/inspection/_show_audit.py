"""An audit as a picture and as a page."""

from __future__ import annotations

import io
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ._picture_parts import DOWN, GREY, PALE, UP, label_bars, say, title

MOST_COLUMNS = 15  # shown, those with the largest changes
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff }
div { overflow-x: auto }
svg { min-width: 50rem; max-width: 100%; height: auto }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181d }
  th, td { border-color: #444 }
  svg { background: #fff }
}
"""


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


def page(summary: str, figure: Any, table: pd.DataFrame, score: str) -> str:
    """One file: the words, the picture and the table."""
    picture = io.StringIO()
    figure.savefig(picture, format="svg", metadata={"Date": None})
    svg = picture.getvalue()
    numbers = table.rename(columns={"score": score, "missing": "share missing"})
    numbers.columns = [name.replace("_", " ") for name in numbers.columns]
    shown = numbers.dropna(axis=1, how="all").to_html(
        index=False, float_format="{:.3f}".format, na_rep="", border=0
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Audit of missingness</title><style>{STYLE}</style></head><body>"
        f"<h1>Audit of missingness</h1><p>{escape(summary)}</p>"
        f"<div>{svg[svg.index('<svg') :]}</div>"
        f"<h2>All scenarios</h2><div>{shown}</div></body></html>\n"
    )
