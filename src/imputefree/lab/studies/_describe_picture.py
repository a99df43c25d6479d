"""A description as a picture: rates, what goes together, lengths or gaps a row, and the label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ._describe import Description

MOST = 40  # bars
SLOTS = 12  # bars there is room for at least: two columns have no thicker bars than twelve
DIFFERENT = 6  # columns shown for what differs between classes
SAME = 2.0  # points between the rates of pixels that are chance
LONGEST = 34  # letters of a label
# Told apart by colour-blind eyes too.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#999999"


def draw(found: Description, path: Path) -> None:
    """Write the picture; its kind (png, pdf, svg) is the path's ending. Needs matplotlib."""
    from matplotlib.figure import Figure

    bars = min(len(found.lines), MOST + 1)
    study = found.study
    images = study.name == "mnist"
    height = 9.0 if images else max(7.0, 2.5 + 0.27 * bars)
    figure = Figure(figsize=(14, height), layout="constrained", dpi=110)
    simulated = " (SIMULATED)" if study.simulated else ""
    figure.suptitle(
        f"{study.name}{simulated}: {found.missing:.1%} of the entries missing", fontsize=14
    )
    left, right = np.asarray(figure.subfigures(1, 2))
    if images:
        _image(left, found)
    elif bars < SLOTS:
        axes, rest = left.subplots(2, 1, height_ratios=[bars + 1, SLOTS - bars])
        rest.set_axis_off()
        _rates(axes, found)
    else:
        _rates(left.subplots(), found)
    upper, lower = np.asarray(right.subfigures(2, 1, height_ratios=[3.4, 1.2]))
    top, middle = upper.subplots(2, 1, height_ratios=[2.6, 1])
    _together(top, found)
    _sizes(middle, found)
    _label(lower, found)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the picture cannot be written to {path} ({error})",
            "It goes to a file that ends in .png, .pdf or .svg, in a folder that exists",
            "Name another file with -o",
        ) from None


def shortened(name: Any) -> str:
    """A label that fits.

    >>> shortened("a_column_whose_name_is_much_too_long_to_show")
    'a_column_whose_na…ch_too_long_to_show'
    """
    text = str(name)
    if len(text) <= LONGEST + 3:
        return text
    return f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 - 2 :]}"


def _rates(axes: Any, found: Description) -> None:
    """A bar a column, the most missing on top."""
    ordered = found.lines.sort_values("missing", ascending=False, kind="stable")
    shown, left = ordered.head(MOST), ordered.iloc[MOST:]
    names = [shortened(name) for name in shown["column"]]
    rates = list(100 * shown["missing"])
    if len(left):
        names.append(f"mean of {int(left['count'].sum()):,} more columns")
        rates.append(100 * float(np.average(left["missing"], weights=left["count"])))
    colours = [BLUE] * len(shown) + [GREY] * bool(len(left))
    place = np.arange(len(names))
    axes.barh(place, rates, color=colours)
    axes.set_yticks(place, names, fontsize=9)
    axes.invert_yaxis()
    axes.set_ylim(len(names) - 0.4, -0.6)
    top = max(max(rates, default=0), 1e-9)
    axes.set_xlim(0, min(100, 1.15 * top) if top < 87 else 108)
    for at, rate in enumerate(rates):
        axes.text(rate + 0.01 * axes.get_xlim()[1], at, f"{rate:.1f}", va="center", fontsize=8)
    axes.set_title("missing, % of each column")
    axes.spines[["top", "right"]].set_visible(False)


def _image(figure: Any, found: Description) -> None:
    """MNIST: the rate of each pixel in its place; where all have one, some images with gaps."""
    rate = 100 * (1 - found.study.observed.mean(axis=0)).reshape(28, 28)
    if np.ptp(rate) <= SAME:
        low, high = f"{rate.min():.1f}", f"{rate.max():.1f}"
        span = low if low == high else f"{low} to {high}"
        figure.suptitle(f"missing: {span} % of every pixel\nthe first images, gaps in orange")
        for at, axes in enumerate(np.ravel(figure.subplots(4, 4))):
            axes.set_axis_off()
            if at < len(found.study.X):
                pixels = np.ma.masked_invalid(np.asarray(found.study.X[at]).reshape(28, 28))
                axes.imshow(pixels, cmap=_gaps_in_orange(), vmin=0, vmax=1)
        return
    axes = figure.subplots()
    _scale(axes, axes.imshow(rate, cmap="viridis", vmin=0, vmax=100), "missing, %")
    axes.set_title("missing, % of each pixel")
    axes.set_xticks([0, 9, 18, 27])
    axes.set_yticks([0, 9, 18, 27])


def _gaps_in_orange() -> Any:
    from matplotlib import colormaps

    return colormaps["gray"].with_extremes(bad=ORANGE)


def _scale(axes: Any, shown: Any, label: str = "") -> None:
    """A colour bar exactly as tall as its image: it lies in the image's own axes."""
    axes.figure.colorbar(shown, cax=axes.inset_axes([1.03, 0, 0.04, 1]), label=label)


def _together(axes: Any, found: Description) -> None:
    table = found.together
    axes.set_title("gaps that go together: correlation")
    if len(table) < 2:
        _say(axes, "fewer than two columns have gaps that vary")
        return
    shown = axes.imshow(table.to_numpy(), cmap="RdBu_r", vmin=-1, vmax=1)
    _scale(axes, shown)
    size = 8 if len(table) <= 20 else 6
    names = [shortened(name) for name in table.columns]
    axes.set_yticks(np.arange(len(names)), names, fontsize=size)
    axes.set_xticks([])  # names once: upright they would take more room than the squares
    axes.set_xlabel("the same columns in the same order", fontsize=8)


def _sizes(axes: Any, found: Description) -> None:
    """Lengths where they differ, else how much is missing in a row or series."""
    axes.spines[["top", "right"]].set_visible(False)
    if found.lengths is not None and np.ptp(found.lengths) > 0:
        _lengths(axes, found.lengths)
        return
    one = "row" if found.lengths is None else "series"
    # From 0 to 100 where all are nearly the same: a bar as wide as the axes shows nothing.
    span = (0, 100) if np.ptp(found.per_row) < 0.02 else None
    axes.hist(100 * found.per_row, bins=50 if span else 30, range=span, color=BLUE)
    axes.set_title(f"missing, % of each {one}")
    axes.set_ylabel("rows" if one == "row" else one)


def _lengths(axes: Any, lengths: np.ndarray) -> None:
    """A histogram up to the 99th percentile; its last bar, in orange, holds all that is longer."""
    edges, over = length_bins(lengths)
    _, _, bars = axes.hist(np.minimum(lengths, edges[-1] - 0.5), bins=edges, color=BLUE)
    axes.set_title("lengths of series, steps")
    axes.set_ylabel("series")
    if over:
        bars[-1].set_color(ORANGE)
        text = f"{int(np.ceil(edges[-2]))} to {lengths.max()}: {over:,} series"
        axes.text(0.99, 0.93, text, ha="right", va="top", transform=axes.transAxes, color=ORANGE)


def length_bins(lengths: np.ndarray) -> tuple[np.ndarray, int]:
    """Edges between whole lengths, and how many series the last bin holds where it has no end.

    >>> length_bins(np.array([2] * 50 + [3] * 49 + [4, 900]))
    (array([1.5, 2.5, 3.5, 4.5]), 2)
    >>> length_bins(np.array([2, 3]))
    (array([1.5, 2.5, 3.5]), 0)
    """
    low, high = int(lengths.min()), int(lengths.max())
    top = max(int(np.ceil(np.percentile(lengths, 99))), low + 1)
    width = max(1, -(-(top - low + 1) // MOST))
    edges = np.arange(low, top + width, width) - 0.5
    edges = edges if edges[-1] > top else np.append(edges, edges[-1] + width)
    return edges, int((lengths > edges[-2]).sum()) if high > edges[-1] else 0


def _label(figure: Any, found: Description) -> None:
    """What the mask alone tells: the rate of each class, and the columns that differ most."""
    if found.auc is None:
        figure.suptitle("what the mask says about the label")
        _say(figure.subplots(), found.auc_of)
        return
    figure.suptitle(f"mask-only AUC {found.auc:.3f} ({found.auc_of})", fontsize=11)
    left, right = figure.subplots(1, 2)
    _classes(left, found)
    _differences(right, found)


def _classes(axes: Any, found: Description) -> None:
    axes.set_title("missing, % of each class", fontsize=9)
    if not len(found.by_class):
        _say(axes, "too many classes to show")
        return
    rates = 100 * found.by_class["missing"].to_numpy()
    names = [shortened(name) for name in found.by_class["class"]]
    place = np.arange(len(names))
    axes.bar(place, rates, color=ORANGE, width=0.6)
    long = sum(map(len, names)) > 36
    axes.set_xticks(place, names, rotation=90 if long else 0, fontsize=7 if long else 8)
    axes.set_ylim(0, 1.25 * max(rates.max(), 1e-9))
    middle, room = (len(names) - 1) / 2, max(len(names), 4) / 2  # two bars are no walls
    axes.set_xlim(middle - room, middle + room)
    if len(names) <= 10:
        for at, rate in enumerate(rates):
            axes.text(at, rate, f"{rate:.1f}", ha="center", va="bottom", fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _differences(axes: Any, found: Description) -> None:
    axes.set_title("largest difference of two classes, points", fontsize=9)
    ordered = found.lines.sort_values("spread", ascending=False, kind="stable")
    ordered = ordered[ordered["spread"] > 0].head(DIFFERENT)
    if not len(ordered):
        _say(axes, "no column differs")
        return
    points = 100 * ordered["spread"].to_numpy()
    place = np.arange(len(points))
    axes.barh(place, points, color=GREEN)
    axes.set_yticks(place, [shortened(name) for name in ordered["column"]], fontsize=7)
    axes.set_ylim(DIFFERENT - 0.4, -0.6)
    axes.set_xlim(0, 1.2 * points[0])
    for at, value in enumerate(points):
        axes.text(value + 0.02 * points[0], at, f"{value:.1f}", va="center", fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _say(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color="#555555")
    axes.set_xticks([])
    axes.set_yticks([])
