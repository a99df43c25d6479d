"""An explanation as a picture: what each value did, and what measuring the missing ones could do.

Blue raises the prediction, orange lowers it: colours that colour-blind eyes tell apart, and the
side of the zero line says the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .lines import by_column
from .result import Explanation, SeriesExplanation
from .show import Writer, explained, headline, value_text

MOST = 25  # bars
LONGEST = 30  # letters of a label
UP, DOWN, GREY, PALE = "#0072b2", "#d55e00", "#777777", "#e8e8e8"


def draw(found: Explanation, values: np.ndarray, names: list[Any], path: Path, kind: str) -> None:
    """Write a picture (its kind: "png", "pdf" or "svg") of one row or series, or of all by column.

    values : (n, d), the entries; names : (n,), which rows or series they are
    """
    from matplotlib.figure import Figure

    one = len(found.prediction) == 1
    what = "series" if isinstance(found, SeriesExplanation) else "row"
    title = (
        f"{what} {names[0]}: {headline(found, 0)}"
        if one
        else f"{len(names):,} {'rows' if what == 'row' else what}: {explained(found)}"
    )
    if one and isinstance(found, SeriesExplanation) and found.removal is not None:
        figure = _series(found, values)
    elif one:
        _, _, height = _heights(found)
        figure = Figure(figsize=(13, height), layout="constrained", dpi=110)
        left, right = figure.subplots(1, 2)
        _effects(left, found, values)
        _next(right, found)
    else:
        bars = min(len(found.columns), MOST)
        size = (13, max(3.2, 1.6 + 0.28 * bars))
        figure = Figure(figsize=size, layout="constrained", dpi=110)
        _sizes(figure.subplots(1, 2), found)
    figure.suptitle(title, fontsize=13)
    figure.savefig(path, format=kind)


def shortened(text: str) -> str:
    """A label that fits.

    >>> shortened("a_column_whose_name_is_much_too_long_to_show")
    'a_column_whose_n…_too_long_to_show'
    """
    if len(text) <= LONGEST + 3:
        return text
    return f"{text[: LONGEST // 2 + 1]}…{text[-LONGEST // 2 - 2 :]}"


def _heights(found: Explanation) -> tuple[int, int, float]:
    """Bars of what is observed and of what is missing, and the height of a picture for them."""
    seen = int((~np.isnan(found.by_column()[0])).sum())
    missing = int((~np.isnan(found.next_value[0])).sum())
    bars = min(max(seen, missing), MOST)
    return min(seen, MOST), min(missing, MOST), max(3.2, 1.6 + 0.28 * bars)


def _effects(axes: Any, found: Explanation, values: np.ndarray) -> None:
    """A bar a column of the only row, the largest on top."""
    effect = found.by_column()[0]
    order = np.argsort(-np.abs(np.nan_to_num(effect)), kind="stable")
    order = order[~np.isnan(effect[order])]
    axes.set_title("what each observed value did" + _cut(len(order)))
    if not len(order):
        _say(axes, "nothing is observed")
        return
    order = order[:MOST]
    labels = [f"{found.columns[j]} = {value_text(values[0, j])}" for j in order]
    if isinstance(found, SeriesExplanation):
        axes.set_title("what all values of a column did" + _cut(len(order)))
        labels = [found.columns[j] for j in order]
    _bars(
        axes, labels, effect[order], [UP if effect[j] >= 0 else DOWN for j in order], Writer(found)
    )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("prediction minus prediction without it")


def _next(axes: Any, found: Explanation) -> None:
    """Where the prediction could go if a missing value were measured, the most useful on top."""
    coming = found.best_next(MOST + 1)[0]
    axes.set_title("measure next" + _cut(len(coming)))
    if not coming:
        _say(axes, "nothing is missing")
        return
    coming = coming[:MOST]
    now, write = float(found.prediction[0]), Writer(found)
    for at, one in enumerate(coming):
        below, above = min(one["high"], now), max(one["low"], now)
        axes.barh(at, max(below - one["low"], 0), left=one["low"], color=DOWN, height=0.7)
        axes.barh(at, max(one["high"] - above, 0), left=above, color=UP, height=0.7)
    axes.axvline(now, color="black", linewidth=0.8)
    _labels(axes, [one["column"] for one in coming])
    axes.set_xlabel("prediction now (line) and over values of training; ±: mean change")
    low, high = axes.get_xlim()
    room = 0.12 * (high - low)
    axes.set_xlim(low, high + room)
    for at, one in enumerate(coming):
        text = f"±{write(one['change'])}"
        axes.text(high + room, at, text, va="center", ha="right", fontsize=8, color=GREY)


def _sizes(axes: Any, found: Explanation) -> None:
    """Means over many rows: what removing does, and what measuring would do."""
    lines, write = by_column(found), Writer(found)
    seen = lines.dropna(subset="effect")
    axes[0].set_title("size of what removing does, where observed" + _cut(len(seen)))
    seen = seen.head(MOST)
    missing = lines.dropna(subset="change").sort_values("change", ascending=False, kind="stable")
    axes[1].set_title("change if measured, where missing" + _cut(len(missing)))
    missing = missing.head(MOST)
    for place, part, key, colour in (
        (axes[0], seen, "effect", UP),
        (axes[1], missing, "change", GREY),
    ):
        if not len(part):
            _say(place, "nothing is observed" if key == "effect" else "nothing is missing")
            continue
        _bars(place, list(part["column"]), part[key].to_numpy(), [colour] * len(part), write)
        place.set_xlabel("mean absolute change of the prediction")


def _series(found: SeriesExplanation, values: np.ndarray) -> Any:
    """A map of column × time, and beside it the bars."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    n_steps = len(found.columns) - found.n_static
    effects = found.removal[0][:, :n_steps].T  # (columns, steps)
    rows = np.flatnonzero((~np.isnan(effects)).any(axis=1))
    rows = rows[np.argsort(-np.nansum(np.abs(effects[rows]), axis=1), kind="stable")]
    seen, missing, _ = _heights(found)
    height = 2.6 + 0.26 * (min(len(rows), 2 * MOST) + max(seen, missing, 4))
    figure = Figure(figsize=(13, height), layout="constrained", dpi=110)
    ratios = [min(len(rows), 2 * MOST) + 3, max(seen, missing, 4) + 3]
    upper, lower = np.asarray(figure.subfigures(2, 1, height_ratios=ratios))
    axes = upper.subplots()
    axes.set_title("what each observed value did (pale: missing)")
    if len(rows):
        rows = rows[: 2 * MOST]
        times = found.times[0]
        colours = LinearSegmentedColormap.from_list("effect", [DOWN, "#ffffff", UP])
        top = float(np.nanmax(np.abs(effects[rows]))) or 1.0
        shown = np.ma.masked_invalid(effects[rows])
        axes.set_facecolor(PALE)
        edges = _edges(times)
        mesh = axes.pcolormesh(
            edges, np.arange(len(rows) + 1) - 0.5, shown, cmap=colours, vmin=-top, vmax=top
        )
        upper.colorbar(mesh, ax=axes, label="prediction minus that without it", pad=0.01)
        _labels(axes, [found.columns[j] for j in rows])
        axes.set_xlabel("time")
    else:
        _say(axes, "nothing is observed")
    left, right = lower.subplots(1, 2)
    _effects(left, found, values)
    _next(right, found)
    return figure


def _edges(times: np.ndarray) -> np.ndarray:
    """Borders between steps, halfway; (T,) -> (T + 1,).

    >>> _edges(np.array([0.0, 1.0, 3.0]))
    array([-0.5,  0.5,  2. ,  4. ])
    """
    if len(times) == 1:
        return times[0] + np.array([-0.5, 0.5])
    middle = (times[1:] + times[:-1]) / 2
    first, last = times[0] - (middle[0] - times[0]), times[-1] + (times[-1] - middle[-1])
    return np.concatenate([[first], middle, [last]])


def _bars(
    axes: Any, labels: list[str], sizes: np.ndarray, colours: list[str], write: Writer
) -> None:
    """Horizontal bars with their numbers at the end."""
    axes.barh(np.arange(len(labels)), sizes, color=colours, height=0.7)
    _labels(axes, labels)
    reach = float(np.max(np.abs(sizes))) or 1.0
    lowest = min(float(np.min(sizes)), 0.0)
    highest = max(float(np.max(sizes)), 0.0)
    axes.set_xlim(
        lowest - (0.18 * reach if lowest < 0 else 0.0),
        highest + (0.18 * reach if highest > 0 else 0.04 * reach),
    )
    for at, size in enumerate(sizes):
        end = size + np.copysign(0.015 * reach, size)
        side = "left" if size >= 0 else "right"
        axes.text(end, at, write(size), va="center", ha=side, fontsize=8)


def _labels(axes: Any, labels: list[str]) -> None:
    axes.set_yticks(np.arange(len(labels)), [shortened(one) for one in labels], fontsize=9)
    axes.set_ylim(max(len(labels), 4) - 0.4, -0.6)  # few bars are not thicker than four
    axes.spines[["top", "right"]].set_visible(False)


def _cut(count: int) -> str:
    return f" (the first {MOST})" if count > MOST else ""


def _say(axes: Any, text: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)
