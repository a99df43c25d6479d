"""A description as a picture: rates, gaps that occur together, lengths, and the label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ._describe import Description

MOST = 40  # bars
SLOTS = 12  # room for at least this many bars, so that two columns do not get very thick ones
DIFFERENT = 6  # columns shown that differ between classes
SAME = 2.0  # percentage points: pixel rates closer than this differ by chance
LONGEST = 34  # characters of a label
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#999999"  # safe for colour blindness


def draw(description: Description, path: Path) -> None:
    """Write the picture; the suffix of the path decides the format. Needs matplotlib."""
    from matplotlib.figure import Figure

    bars = min(len(description.lines), MOST + 1)
    study = description.study
    images = study.name == "mnist"
    height = 9.0 if images else max(7.0, 2.5 + 0.27 * bars)
    figure = Figure(figsize=(14, height), layout="constrained", dpi=110)
    name = f"{study.name}{' (SIMULATED)' if study.simulated else ''}"
    figure.suptitle(f"{name}: {description.missing:.1%} of the entries missing", fontsize=14)
    left, right = np.asarray(figure.subfigures(1, 2))
    if images:
        _image(left, description)
    elif bars < SLOTS:
        axes, rest = left.subplots(2, 1, height_ratios=[bars + 1, SLOTS - bars])
        rest.set_axis_off()
        _rates(axes, description)
    else:
        _rates(left.subplots(), description)
    upper, lower = np.asarray(right.subfigures(2, 1, height_ratios=[3.4, 1.2]))
    top, middle = upper.subplots(2, 1, height_ratios=[2.6, 1])
    _together(top, description)
    _sizes(middle, description)
    _label(lower, description)
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


def _rates(axes: Any, description: Description) -> None:
    """One bar per column, the most missing on top."""
    ordered = description.lines.sort_values("missing", ascending=False, kind="stable")
    shown, rest = ordered.head(MOST), ordered.iloc[MOST:]
    names, rates = list(shown["column"]), list(100 * shown["missing"])
    if len(rest):
        names.append(f"mean of {int(rest['count'].sum()):,} more columns")
        rates.append(100 * float(np.average(rest["missing"], weights=rest["count"])))
    colours = [BLUE] * len(shown) + [GREY] * bool(len(rest))
    top = max(max(rates, default=0), 1e-9)
    right = min(100, 1.15 * top) if top < 87 else 108
    _bars(axes, names, rates, colours, right, 0.01 * right, len(names), (9, 8))
    axes.set_title("missing, % of each column")


def _bars(
    axes: Any,
    names: list[str],
    values: list[float],
    colours: Any,
    right: float,
    gap: float,
    slots: int,
    sizes: tuple[int, int],
) -> None:
    """Horizontal bars from the top, each followed by its value."""
    place = np.arange(len(names))
    axes.barh(place, values, color=colours)
    axes.set_yticks(place, [shortened(name) for name in names], fontsize=sizes[0])
    axes.set_ylim(slots - 0.4, -0.6)
    axes.set_xlim(0, right)
    for at, value in enumerate(values):
        axes.text(value + gap, at, f"{value:.1f}", va="center", fontsize=sizes[1])
    axes.spines[["top", "right"]].set_visible(False)


def _image(figure: Any, description: Description) -> None:
    """MNIST: the rate of each pixel in its place; if all are equal, some images with gaps."""
    from matplotlib import colormaps

    rate = 100 * (1 - description.study.observed.mean(axis=0)).reshape(28, 28)
    if np.ptp(rate) <= SAME:
        low, high = f"{rate.min():.1f}", f"{rate.max():.1f}"
        span = low if low == high else f"{low} to {high}"
        figure.suptitle(f"missing: {span} % of every pixel\nthe first images, gaps in orange")
        gaps_in_orange = colormaps["gray"].with_extremes(bad=ORANGE)
        for at, axes in enumerate(np.ravel(figure.subplots(4, 4))):
            axes.set_axis_off()
            if at < len(description.study.X):
                pixels = np.ma.masked_invalid(np.asarray(description.study.X[at]).reshape(28, 28))
                axes.imshow(pixels, cmap=gaps_in_orange, vmin=0, vmax=1)
        return
    axes = figure.subplots()
    _scale(axes, axes.imshow(rate, cmap="viridis", vmin=0, vmax=100), "missing, %")
    axes.set_title("missing, % of each pixel")
    axes.set_xticks([0, 9, 18, 27])
    axes.set_yticks([0, 9, 18, 27])


def _scale(axes: Any, image: Any, label: str = "") -> None:
    """A colour bar exactly as tall as its image, because it lies in the image's axes."""
    axes.figure.colorbar(image, cax=axes.inset_axes([1.03, 0, 0.04, 1]), label=label)


def _together(axes: Any, description: Description) -> None:
    table = description.together
    axes.set_title("gaps that occur together: correlation")
    if len(table) < 2:
        _say(axes, "fewer than two columns have gaps that vary")
        return
    _scale(axes, axes.imshow(table.to_numpy(), cmap="RdBu_r", vmin=-1, vmax=1))
    names = [shortened(name) for name in table.columns]
    axes.set_yticks(np.arange(len(names)), names, fontsize=8 if len(table) <= 20 else 6)
    axes.set_xticks([])  # no names here: upright they would take more room than the squares
    axes.set_xlabel("the same columns in the same order", fontsize=8)


def _sizes(axes: Any, description: Description) -> None:
    """Lengths where they differ, else how much is missing per row or series."""
    axes.spines[["top", "right"]].set_visible(False)
    lengths = description.lengths
    if lengths is not None and np.ptp(lengths) > 0:
        _lengths(axes, lengths)
        return
    # From 0 to 100 if all are nearly the same: a bar as wide as the axes shows nothing.
    span = (0, 100) if np.ptp(description.per_row) < 0.02 else None
    axes.hist(100 * description.per_row, bins=50 if span else 30, range=span, color=BLUE)
    axes.set_title(f"missing, % of each {'row' if lengths is None else 'series'}")
    axes.set_ylabel("rows" if lengths is None else "series")


def _lengths(axes: Any, lengths: np.ndarray) -> None:
    """A histogram up to the 99th percentile; the last bar, in orange, holds all that is longer."""
    edges, over = length_bins(lengths)
    _, _, bars = axes.hist(np.minimum(lengths, edges[-1] - 0.5), bins=edges, color=BLUE)
    axes.set_title("lengths of series, steps")
    axes.set_ylabel("series")
    if over:
        bars[-1].set_color(ORANGE)
        text = f"{int(np.ceil(edges[-2]))} to {lengths.max()}: {over:,} series"
        axes.text(0.99, 0.93, text, ha="right", va="top", transform=axes.transAxes, color=ORANGE)


def length_bins(lengths: np.ndarray) -> tuple[np.ndarray, int]:
    """Bin edges between whole lengths; and the number of series in the last bin if it is open.

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


def _label(figure: Any, description: Description) -> None:
    """What the mask alone says: the rate of each class, and the columns that differ most."""
    if description.auc is None:
        figure.suptitle("what the mask says about the label")
        _say(figure.subplots(), description.auc_of)
        return
    figure.suptitle(f"mask-only AUC {description.auc:.3f} ({description.auc_of})", fontsize=11)
    left, right = figure.subplots(1, 2)
    _classes(left, description)
    right.set_title("largest difference of two classes, points", fontsize=9)
    ordered = description.lines.sort_values("spread", ascending=False, kind="stable")
    ordered = ordered[ordered["spread"] > 0].head(DIFFERENT)
    if not len(ordered):
        _say(right, "no column differs")
        return
    points = list(100 * ordered["spread"])
    names, most = list(ordered["column"]), points[0]
    _bars(right, names, points, GREEN, 1.2 * most, 0.02 * most, DIFFERENT, (7, 7))


def _classes(axes: Any, description: Description) -> None:
    axes.set_title("missing, % of each class", fontsize=9)
    if not len(description.by_class):
        _say(axes, "too many classes to show")
        return
    rates = 100 * description.by_class["missing"].to_numpy()
    names = [shortened(name) for name in description.by_class["class"]]
    place = np.arange(len(names))
    axes.bar(place, rates, color=ORANGE, width=0.6)
    long = sum(map(len, names)) > 36
    axes.set_xticks(place, names, rotation=90 if long else 0, fontsize=7 if long else 8)
    axes.set_ylim(0, 1.25 * max(rates.max(), 1e-9))
    # Room for four, so that two bars do not fill the axes.
    middle, room = (len(names) - 1) / 2, max(len(names), 4) / 2
    axes.set_xlim(middle - room, middle + room)
    if len(names) <= 10:
        for at, rate in enumerate(rates):
            axes.text(at, rate, f"{rate:.1f}", ha="center", va="bottom", fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _say(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color="#555555")
    axes.set_xticks([])
    axes.set_yticks([])
