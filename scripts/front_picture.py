"""Draws the picture of README and home page: python -m scripts.front_picture

Left, rows of the README's example (simulated patients) and what its model says of them. Right, the
lead over rivals on twelve tables, from benchmarks/results.
"""

from __future__ import annotations

import re
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from benchmarks.table_methods import RIVALS
from benchmarks.table_summary import BLEND, interval, read
from benchmarks.table_tasks import TWELVE
from scripts.gallery import INK, LINES, STYLE, save
from scripts.generated import ROOT

TEAL, ORANGE, GREY = "#0f9d8f", "#e8833a", "#8b949e"
N_ROWS = 7


def readme_example() -> dict[str, Any]:
    """The names that the README's Python example makes, without what it writes."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1].partition("model.save")[0], names)
    return names


def draw_rows(axes: Any, names: dict[str, Any]) -> None:
    """A few rows with their gaps, the risk, and the classes that each may be."""
    X, model, sets = names["X"], names["model"], names["sets"]
    gaps = X[:300].isna().sum(axis=1)
    chosen = [
        gaps.index[gaps == n][i]
        for n, i in [(0, 0), (1, 1), (0, 3), (1, 2), (2, 0), (2, 1), (3, 0)]
    ]
    rows = X.loc[chosen]
    ill = list(model.classes_).index("ill")
    risk = model.predict_proba(rows)[:, ill]
    possible = sets.predict_set(rows, coverage=0.9)
    lefts, widths = [0, 1.25, 2.5], 1.2
    for place, column in enumerate(rows):
        axes.text(lefts[place] + 0.6, -0.35, column, ha="center", fontweight="bold")
        for line, value in enumerate(rows[column]):
            missing = value != value
            box = FancyBboxPatch(
                (lefts[place] + 0.04, line + 0.1),
                widths - 0.08,
                0.8,
                boxstyle="round,pad=0,rounding_size=0.12",
                facecolor="none" if missing else "#0f9d8f26",
                edgecolor=GREY if missing else "none",
                linestyle=(0, (2, 2)),
                linewidth=0.9,
            )
            axes.add_patch(box)
            shown = "" if missing else value if isinstance(value, str) else f"{value:g}"
            axes.text(lefts[place] + 0.6, line + 0.52, shown, ha="center", va="center", fontsize=10)
    axes.annotate(
        "", (4.5, 3.5), (3.85, 3.5), arrowprops={"arrowstyle": "-|>", "color": GREY, "lw": 1.6}
    )
    axes.text(4.65, -0.35, "risk", fontweight="bold")
    axes.text(7.15, -0.35, "may be (90 %)", fontweight="bold")
    for line, (p, allowed) in enumerate(zip(risk, possible, strict=True)):
        axes.barh(line + 0.5, 1.6, 0.34, left=4.65, color=LINES)
        axes.barh(line + 0.5, 1.6 * p, 0.34, left=4.65, color=TEAL)
        axes.text(6.35, line + 0.52, f"{p:.2f}", va="center", fontsize=10)
        words = " or ".join(model.classes_[allowed])
        axes.text(
            7.15,
            line + 0.52,
            words,
            va="center",
            fontsize=10,
            color=ORANGE if allowed.sum() > 1 else INK,
        )
    axes.set(xlim=(0, 8.9), ylim=(N_ROWS + 0.1, -0.8))
    axes.set_axis_off()
    axes.set_title("gaps in, prediction out (simulated patients)", loc="left", pad=10)


def draw_leads(axes: Any) -> None:
    """The lead over each rival with its interval."""
    runs = read(ROOT / "benchmarks/results/best_default.jsonl")
    runs = runs[runs["task"].isin(TWELVE)]
    rivals = [name for name in RIVALS if name in set(runs["method"])]
    leads = np.array([interval(runs, "score", BLEND, name) for name in rivals])
    order = np.argsort(leads[:, 0])
    for line, at in enumerate(order):
        mean, low, high = leads[at]
        axes.plot([low, high], [line, line], color=TEAL, lw=3, alpha=0.45, solid_capstyle="round")
        axes.plot(mean, line, "o", color=TEAL, ms=8)
    labels = [
        rivals[at].replace(" ", "\n", 1) if len(rivals[at]) > 20 else rivals[at] for at in order
    ]
    axes.set_yticks(range(len(order)), labels)
    axes.axvline(0, color=GREY, lw=1)
    axes.set(ylim=(len(order) - 0.5, -0.5), xlabel="mean lead in AUC or R², 95 % interval")
    axes.set_title("ahead of others on twelve tables", loc="left", pad=10)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(left=False)


def main() -> None:
    with mpl.rc_context(STYLE | {"font.size": 11, "axes.titlesize": 12}):
        figure = Figure(figsize=(11, 3.7), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1.75, 1])
        draw_rows(left, readme_example())
        draw_leads(right)
    save(figure, "front")


if __name__ == "__main__":
    main()
