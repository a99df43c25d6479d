"""A description as a picture: rates, gaps that occur together, lengths, and the label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._files import write_errors
from ...errors import InputError
from ._describe import Description

RULE = "A picture goes to a file that ends in .png, .pdf or .svg, in a folder that exists"
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
    with write_errors(path, InputError, RULE, "Name another file with -o"):
        figure.savefig(path)


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
    _bars(axes, names, rates, colours, len(names), 8)
    axes.set_title("missing, % of each column")


def _bars(
    axes: Any, names: list[str], values: list[float], colours: Any, slots: int, size: int
) -> None:
    """Horizontal bars from the top, each followed by its value; room for `slots` of them."""
    place = np.arange(len(names))
    axes.bar_label(axes.barh(place, values, color=colours), fmt="%.1f", padding=3, fontsize=size)
    axes.set_yticks(place, [shortened(name) for name in names], fontsize=size)
    axes.set_ylim(slots - 0.4, -0.6)
    axes.set_xlim(0, 1.15 * max(*values, 1e-9))
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
    axes.set_ylabel("rows" if lengths is None else "series")
    if lengths is not None and np.ptp(lengths) > 0:
        return _lengths(axes, lengths)
    # From 0 to 100 if all are nearly the same: a bar as wide as the axes shows nothing.
    span = (0, 100) if np.ptp(description.per_row) < 0.02 else None
    axes.hist(100 * description.per_row, bins=50 if span else 30, range=span, color=BLUE)
    axes.set_title(f"missing, % of each {'row' if lengths is None else 'series'}")


def _lengths(axes: Any, lengths: np.ndarray) -> None:
    """A histogram up to the 99th percentile; the last bar also holds all that is longer."""
    low, high = int(lengths.min()), int(lengths.max())
    top = max(int(np.ceil(np.percentile(lengths, 99))), low + 1)
    width = -(-(top - low + 1) // MOST)
    edges = np.arange(low, top + width + 1, width) - 0.5  # between whole lengths
    _, _, bars = axes.hist(np.minimum(lengths, top), bins=edges, color=BLUE)
    axes.set_title("lengths of series, steps")
    if high > edges[-1]:
        bars[-1].set_color(ORANGE)
        text = f"{int(np.ceil(edges[-2]))} to {high}: {int(bars[-1].get_height()):,} series"
        axes.text(0.99, 0.93, text, ha="right", va="top", transform=axes.transAxes, color=ORANGE)


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
    _bars(right, list(ordered["column"]), points, GREEN, DIFFERENT, 7)


def _classes(axes: Any, description: Description) -> None:
    axes.set_title("missing, % of each class", fontsize=9)
    if not len(description.by_class):
        _say(axes, "too many classes to show")
        return
    rates = 100 * description.by_class["missing"].to_numpy()
    names = [shortened(name) for name in description.by_class["class"]]
    place = np.arange(len(names))
    bars = axes.bar(place, rates, color=ORANGE, width=0.6)
    axes.set_xticks(place, names, rotation=90 if sum(map(len, names)) > 36 else 0, fontsize=8)
    axes.set_ylim(0, 1.25 * max(rates.max(), 1e-9))
    # Room for four, so that two bars do not fill the axes.
    middle, room = (len(names) - 1) / 2, max(len(names), 4) / 2
    axes.set_xlim(middle - room, middle + room)
    if len(names) <= 10:
        axes.bar_label(bars, fmt="%.1f", fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _say(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color="#555555")
    axes.set_xticks([])
    axes.set_yticks([])
