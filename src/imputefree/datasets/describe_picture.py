"""A description as a picture: rates, what goes together, lengths or gaps a row, and the label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .describe import Description

MOST = 40  # bars
LONGEST = 34  # letters of a label
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"  # told apart by colour-blind eyes too


def draw(found: Description, path: Path) -> None:
    """Write the picture; its kind (png, pdf, svg) is the path's ending. Needs matplotlib."""
    from matplotlib.figure import Figure

    bars = min(len(found.lines), MOST + 1)
    figure = Figure(figsize=(13, max(7.0, 2.5 + 0.27 * bars)), layout="constrained", dpi=110)
    study = found.study
    simulated = " (SIMULATED)" if study.simulated else ""
    figure.suptitle(
        f"{study.name}{simulated}: {found.missing:.1%} of the entries missing", fontsize=14
    )
    left, right = np.asarray(figure.subfigures(1, 2))
    if study.name == "mnist":
        _image(left.subplots(), found)
    else:
        _rates(left.subplots(), found)
    top, middle, bottom = right.subplots(3, 1, height_ratios=[2.8, 1, 1])
    _together(right, top, found)
    _sizes(middle, found)
    _label(bottom, found)
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


def _image(axes: Any, found: Description) -> None:
    """MNIST: the rate of each pixel, in its place."""
    rate = 100 * (1 - found.study.observed.mean(axis=0)).reshape(28, 28)
    low, high = (0, 100) if np.ptp(rate) > 2 else (rate.mean() - 5, rate.mean() + 5)
    shown = axes.imshow(rate, cmap="viridis", vmin=max(low, 0), vmax=min(high, 100))
    axes.figure.colorbar(shown, ax=axes, shrink=0.6, label="missing, %")
    axes.set_title("missing, % of each pixel")
    axes.set_xticks([0, 9, 18, 27])
    axes.set_yticks([0, 9, 18, 27])


def _together(figure: Any, axes: Any, found: Description) -> None:
    table = found.together
    axes.set_title("gaps that go together: correlation")
    if len(table) < 2:
        _say(axes, "fewer than two columns have gaps that vary")
        return
    shown = axes.imshow(table.to_numpy(), cmap="RdBu_r", vmin=-1, vmax=1)
    figure.colorbar(shown, ax=axes, shrink=0.9)
    size = 8 if len(table) <= 20 else 6
    names = [shortened(name) for name in table.columns]
    axes.set_yticks(np.arange(len(names)), names, fontsize=size)
    axes.set_xticks([])  # names once: upright they would take more room than the squares
    axes.set_xlabel("the same columns in the same order", fontsize=8)


def _sizes(axes: Any, found: Description) -> None:
    """Lengths where they differ, else how much is missing in a row or series."""
    axes.spines[["top", "right"]].set_visible(False)
    if found.lengths is not None and np.ptp(found.lengths) > 0:
        axes.hist(found.lengths, bins=min(40, int(np.ptp(found.lengths)) + 1), color=BLUE)
        axes.set_title("lengths of series, steps")
        axes.set_ylabel("series")
        return
    one = "row" if found.lengths is None else "series"
    axes.hist(100 * found.per_row, bins=30, color=BLUE)
    axes.set_title(f"missing, % of each {one}")
    axes.set_ylabel("rows" if one == "row" else one)


def _label(axes: Any, found: Description) -> None:
    """Missing rate of each class, and what the mask alone tells."""
    if found.auc is None:
        axes.set_title("what the mask says about the label")
        _say(axes, "no label, or no gap, that differs")
        return
    axes.set_title(f"mask-only AUC {found.auc:.3f} ({found.auc_of})", fontsize=11)
    if not len(found.by_class):
        _say(axes, "too many classes to show")
        return
    rates = 100 * found.by_class["missing"].to_numpy()
    names = [shortened(name) for name in found.by_class["class"]]
    place = np.arange(len(names))
    axes.bar(place, rates, color=ORANGE, width=0.6)
    long = len(names) > 6 and max(map(len, names)) > 4
    axes.set_xticks(place, names, rotation=90 if long else 0, fontsize=7 if long else 9)
    axes.set_ylabel("missing, %")
    axes.set_ylim(0, 1.25 * max(rates.max(), 1e-9))
    if len(names) <= 10:
        for at, rate in enumerate(rates):
            axes.text(at, rate, f"{rate:.1f}", ha="center", va="bottom", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _say(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color="#555555")
    axes.set_xticks([])
    axes.set_yticks([])
