"""What pictures of the page are made of: line charts for `templates/blocks.html`, and small PNGs.

Charts are placed here, in pixels, and drawn by the template; page.js hides lines and fits the
y-axis to those that are left.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator
from PIL import Image

WIDTH, HEIGHT = 380, 280
LEFT, RIGHT, TOP, BOTTOM = 54, 366, 32, 236  # edges of the axes
DODGE = 2.2  # between points of two lines at one place, so that whiskers do not hide each other
MAX_POINTS = 200  # of a line: what a screen shows
# Dark blue over green to yellow in even steps of lightness: readable in grey and colour-blind safe.
SCALE = ("#261454", "#323e84", "#26688e", "#20928c", "#48ba70", "#a6d83a", "#fae83c")


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    x, y : (points,)
    style : number of its colour, marker and dash in the templates
    sd : (points,) half a whisker, NaN for none
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: int
    sd: Sequence[float] | float = math.nan


def line_chart(
    lines: Sequence[Line],
    *,
    labels: tuple[str, str],
    about: str,
    x_ticks: Sequence[float] | None = None,
    markers: bool = True,
) -> dict[str, Any]:
    """Lines with whiskers of one standard deviation, for the macro `chart`.

    labels : of the x-axis and the y-axis
    about : what a screen reader says
    x_ticks : where the x-axis is marked; None means at round numbers
    markers : False for long lines, which markers would hide

    >>> line = Line("gil", [50, 70, 90], [96.3, 93.4, 78.5], 0, [0.1, 0.1, 0.4])
    >>> chart = line_chart([line], labels=("missing, %", "accuracy"), about="gil")
    >>> chart["lines"][0]["points"][2]
    ('347.3', '222.7', 'gil: 78.50 ± 0.40')
    """
    ends = [np.array(line.y) + side * np.nan_to_num(line.sd) for line in lines for side in (-1, 1)]
    low, high = _limits(np.concatenate(ends), margin=0.05)
    places = np.concatenate([line.x for line in lines])
    first, last = _limits(places, margin=0.068 if markers else 0.0)

    def across(x: Any) -> Any:
        return LEFT + (x - first) * (RIGHT - LEFT) / (last - first)

    def down(y: Any) -> Any:
        return BOTTOM - (y - low) * (BOTTOM - TOP) / (high - low)

    drawn = []
    for number, line in enumerate(lines):
        shift = (number - (len(lines) - 1) / 2) * DODGE * markers
        xs, ys = across(np.array(line.x)) + shift, down(np.array(line.y))
        points, whiskers = [], ""
        for x, y, value, sd in zip(xs, ys, line.y, np.broadcast_to(line.sd, len(ys)), strict=True):
            text = f"{line.name}: {value:.2f}"
            if math.isfinite(sd):
                text += f" ± {sd:.2f}"
                bottom, top = f"{down(value - sd):.1f}", f"{down(value + sd):.1f}"
                whiskers += f"M{x:.1f} {bottom}L{x:.1f} {top}M{x - 3:.1f} {bottom}h6"
                whiskers += f"M{x - 3:.1f} {top}h6"
            points.append((f"{x:.1f}", f"{y:.1f}", text))
        drawn.append(
            {
                "name": line.name,
                "style": line.style,
                "path": "M" + "L".join(f"{x} {y}" for x, y, _ in points),
                "points": points if markers else [],
                "whiskers": whiskers,
            }
        )
    if x_ticks is None:
        x_ticks = _round_numbers(first, last, integer=True)
    y_ticks = _round_numbers(low, high, steps=[1, 2, 5, 10])
    return {
        "about": about,
        "labels": labels,
        "size": (WIDTH, HEIGHT),
        "edges": (LEFT, RIGHT, TOP, BOTTOM),
        "limits": (low, high),
        "x_ticks": [(f"{across(x):.1f}", f"{x:g}") for x in x_ticks],
        "y_ticks": [(f"{down(y):.1f}", f"{y:g}") for y in y_ticks],
        "lines": drawn,
    }


def _limits(values: np.ndarray, margin: float) -> tuple[float, float]:
    """The smallest and the largest number, with a margin; different even if these are equal."""
    low, high = float(values.min()), float(values.max())
    pad = margin * (high - low) if high > low else 0.05 * abs(low) or 0.5
    return low - pad, high + pad


def _round_numbers(low: float, high: float, **options: Any) -> list[float]:
    ticks = MaxNLocator(6, **options).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


def thinned(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Numbers 1, 2, … and the finite values; about MAX_POINTS of many.

    >>> thinned([0.5, float("nan"), 0.25])
    ([1, 3], [0.5, 0.25])
    """
    step = math.ceil(len(values) / MAX_POINTS) or 1
    places = sorted({*range(0, len(values), step), len(values) - 1})
    places = [place for place in places if math.isfinite(values[place])]
    return [place + 1 for place in places], [values[place] for place in places]


def png_uri(pixels: np.ndarray) -> str:
    """A data: address of uint8 pixels (height, width, 4): red, green, blue, and 255 for opaque."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, format="png")
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode()


def coloured(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Numbers (height, width) as pixels (height, width, 4): `low` is dark, NaN transparent.

    >>> coloured(np.array([[0.0, 1.0, np.nan]]), 0, 1)[0].tolist()
    [[38, 20, 84, 255], [250, 232, 60, 255], [0, 0, 0, 0]]
    """
    colours = LinearSegmentedColormap.from_list("importance", SCALE)
    shares = np.ma.masked_invalid((values - low) / ((high - low) or 1))
    return colours.with_extremes(bad=(0, 0, 0, 0))(shares, bytes=True)


def grey(values: np.ndarray) -> np.ndarray:
    """uint8 (..., height, width) as grey pixels (..., height, width, 4)."""
    pixels = np.full((*values.shape, 4), 255, dtype=np.uint8)
    pixels[..., :3] = values[..., None]
    return pixels
