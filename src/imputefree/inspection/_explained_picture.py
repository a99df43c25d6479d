"""An explanation as a picture: what each value did, and what measuring the missing ones could do.

Blue raises the prediction, orange lowers it: colours that colour-blind eyes tell apart, and the
side of the zero line says the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._explained_lines import by_column
from ._explained_text import Writer, explained, headline, value_text
from ._explanation import Explanation, SeriesExplanation

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
        figure = Figure(figsize=(13, 1.6 + 0.28 * _slots(found)), layout="constrained", dpi=110)
        _one(figure, found, values)
    else:
        figure = Figure(figsize=(13, 1.6 + 0.28 * _slots(found)), layout="constrained", dpi=110)
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


def _slots(found: Explanation) -> int:
    """Bars there is room for: as many in both halves, so that they are equally thick."""
    seen = (~np.isnan(found.by_column())).any(axis=0).sum()
    missing = (~np.isnan(found.next_value)).any(axis=0).sum()
    return int(np.clip(max(seen, missing), 4, MOST))


def _one(figure: Any, found: Explanation, values: np.ndarray) -> None:
    left, right = figure.subplots(1, 2)
    _effects(left, found, values)
    _next(right, found)


def _effects(axes: Any, found: Explanation, values: np.ndarray) -> None:
    """A bar a column of the only row, the largest on top."""
    effect = found.by_column()[0]
    order = np.argsort(-np.abs(np.nan_to_num(effect)), kind="stable")
    order = order[~np.isnan(effect[order])]
    series = isinstance(found, SeriesExplanation)
    title = "what all values of a column did" if series else "what each observed value did"
    axes.set_title(title + _cut(len(order)))
    if not len(order):
        _say(axes, "nothing is observed")
        return
    order = order[:MOST]
    labels = [found.columns[j] for j in order]
    if not series:
        labels = [f"{found.columns[j]} = {value_text(values[0, j])}" for j in order]
    colours = [UP if effect[j] >= 0 else DOWN for j in order]
    _bars(axes, labels, effect[order], colours, found)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("prediction minus prediction without it")


def _next(axes: Any, found: Explanation) -> None:
    """Where the prediction could go if a missing value were measured, the most useful on top."""
    coming = found.best_next(MOST + 1)[0]
    when = ", at the last step" if isinstance(found, SeriesExplanation) else ""
    axes.set_title(f"measure next{when}" + _cut(len(coming)))
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
    _labels(axes, [one["column"] for one in coming], _slots(found))
    axes.set_xlabel("prediction now (line) and over values of training; ±: mean change")
    texts = [f"±{write(one['change'])}" for one in coming]
    low, high = axes.get_xlim()
    room = _room(texts, high - low)
    axes.set_xlim(low - 0.03 * (high - low), high + room)
    for at, text in enumerate(texts):
        axes.text(high + room, at, text, va="center", ha="right", fontsize=8, color=GREY)


def _sizes(axes: Any, found: Explanation) -> None:
    """Means over many rows: what removing does, and what measuring would do."""
    lines = by_column(found)
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
        _bars(place, list(part["column"]), part[key].to_numpy(), [colour] * len(part), found)
        place.set_xlabel("mean absolute change of the prediction")


def _series(found: SeriesExplanation, values: np.ndarray) -> Any:
    """A map of column × time, and beside it the bars."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    n_steps = len(found.columns) - found.n_static
    effects = found.removal[0][:, :n_steps].T  # (columns, steps)
    rows = np.flatnonzero((~np.isnan(effects)).any(axis=1))
    rows = rows[np.argsort(-np.nansum(np.abs(effects[rows]), axis=1), kind="stable")]
    ratios = [int(np.clip(len(rows), 3, 2 * MOST)) + 3, _slots(found) + 3]
    figure = Figure(figsize=(13, 1.0 + 0.27 * sum(ratios)), layout="constrained", dpi=110)
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
        _labels(axes, [found.columns[j] for j in rows], len(rows))
        axes.set_xlabel("time")
    else:
        _say(axes, "nothing is observed")
    _one(lower, found, values)
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
    axes: Any, labels: list[str], sizes: np.ndarray, colours: list[str], found: Explanation
) -> None:
    """Horizontal bars with their numbers at the end."""
    write = Writer(found)
    axes.barh(np.arange(len(labels)), sizes, color=colours, height=0.7)
    _labels(axes, labels, _slots(found))
    low, high = min(float(np.min(sizes)), 0.0), max(float(np.max(sizes)), 0.0)
    span = (high - low) or 1.0
    texts = [write(size) for size in sizes]
    room = _room(texts, span)
    axes.set_xlim(low - room * (low < 0), high + max(room * (high > 0), 0.02 * span))
    for at, (size, text) in enumerate(zip(sizes, texts, strict=True)):
        side = "left" if size >= 0 else "right"
        axes.annotate(
            text,
            (size, at),
            xytext=(4 if size >= 0 else -4, 0),
            textcoords="offset points",
            va="center",
            ha=side,
            fontsize=8,
        )


def _room(texts: list[str], span: float) -> float:
    """What the longest number takes beside bars that reach over `span`."""
    return (0.03 + 0.02 * max(map(len, texts))) * span


def _labels(axes: Any, labels: list[str], slots: int) -> None:
    axes.set_yticks(np.arange(len(labels)), [shortened(one) for one in labels], fontsize=9)
    axes.set_ylim(slots - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _cut(count: int) -> str:
    return f" (the {MOST} largest)" if count > MOST else ""


def _say(axes: Any, text: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)
