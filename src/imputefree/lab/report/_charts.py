"""Charts as SVG by matplotlib, and small images as PNG, to be put into a page.

Colours become variables of the style sheet, so that charts follow the light and the dark theme.
page.js hides lines and fits the y-axis to those that are left.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import count
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from ._result_lines import clean

WIDTH, HEIGHT = 380, 280
LEFT, RIGHT, TOP, BOTTOM = 54, 366, 32, 236  # edges of the axes
# The light theme of style.css: colour -> variable.
VARIABLES = {
    **{"#0072b2": "k0", "#c75300": "k1", "#00805e": "k2", "#7b3294": "k3", "#8a6d00": "k4"},
    **{"#2f9fd6": "k5", "#22262b": "k6", "#dd5f93": "k7", "#d9dce0": "rule", "#ffffff": "sheet"},
}
COLOURS = list(VARIABLES)[:8]
MARKERS = {"o": 8.0, "s": 7.0, "^": 8.5, "D": 7.0}  # with sizes that look alike; see blocks.html
DASHES: tuple[Any, ...] = ("solid", (0, (3.3, 1.7)), (0, (1.1, 1.7)))  # in line widths
DODGE = 2.2  # between points of two lines at one place, so that whiskers do not hide each other
MAX_POINTS = 200  # of a line: what a screen shows
# Dark blue over green to yellow in even steps of lightness: readable in grey and colour-blind safe.
SCALE = ("#261454", "#323e84", "#26688e", "#20928c", "#48ba70", "#a6d83a", "#fae83c")

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
ElementTree.register_namespace("", SVG[1:-1])
ElementTree.register_namespace("xlink", XLINK[1:-1])
_numbers = count()  # of charts: marks are defined once per chart, by ids


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    x, y : (points,)
    sd : (points,) half a whisker, NaN for none; empty for no whiskers at all
    style : number of its colour, marker and dash
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    sd: Sequence[float] = ()
    style: int = 0

    @property
    def shape(self) -> int:
        """Number of its marker: shape tells lines apart too."""
        return (self.style + self.style // len(COLOURS)) % len(MARKERS)


def line_chart(
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    about: str,
    x_ticks: Sequence[float] | None = None,
    markers: bool = True,
) -> Markup:
    """Lines with whiskers of one standard deviation, as an SVG element.

    about : what a screen reader says
    x_ticks : where the x-axis is marked; None means at round numbers
    markers : False for long lines, which markers would hide

    >>> line = Line("gil", [50, 70, 90], [96.3, 93.4, 78.5], [0.1, 0.1, 0.4])
    >>> chart = line_chart([line], x_label="missing, %", y_label="accuracy", about="of gil")
    >>> str(chart[:4]), chart.count("<title>")
    ('<svg', 3)
    """
    axes = _empty_axes()
    x = [value for line in lines for value in line.x]
    pixel = (max(x) - min(x)) / (0.88 * (RIGHT - LEFT))  # in units of x
    for number, line in enumerate(lines):
        shift = (number - (len(lines) - 1) / 2) * DODGE * pixel if markers and line.sd else 0.0
        places = np.asarray(line.x, dtype=float) + shift
        colour = COLOURS[line.style % len(COLOURS)]
        marker, size = list(MARKERS.items())[line.shape]
        axes.plot(
            places,
            line.y,
            color=colour,
            linestyle=DASHES[line.style // len(COLOURS) % len(DASHES)],
            linewidth=1.8,
            marker=marker if markers else None,
            markersize=size,
            markeredgecolor="#ffffff",
            markeredgewidth=0.8,
            gid=f"line-{number}",
            clip_on=False,
        )
        if markers and line.sd:
            style: dict[str, Any] = {"ecolor": colour, "elinewidth": 1, "capsize": 3, "fmt": "none"}
            axes.errorbar(places, line.y, line.sd, gid=f"line-{number}", clip_on=False, **style)
    axes.margins(x=0.068 if markers else 0.0, y=0.05)
    if x_ticks is None:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    else:
        axes.set_xticks(list(x_ticks))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    root = _svg(axes.figure)
    _tidy(root, lines, prefix=f"c{next(_numbers)}-")
    low, high = map(float, axes.get_ylim())
    root.attrib = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "class": "chart", "role": "img"}
    root.attrib |= {"aria-label": clean(about), "data-low": repr(low), "data-high": repr(high)}
    edges = {"data-left": LEFT, "data-right": RIGHT, "data-top": TOP, "data-bottom": BOTTOM}
    root.attrib |= {name: str(value) for name, value in edges.items()}
    for label, place in ((y_label, (8, 18, "axis")), (x_label, (RIGHT, HEIGHT - 8, "axis end"))):
        attributes = dict(zip(("x", "y", "class"), map(str, place), strict=True))
        ElementTree.SubElement(root, f"{SVG}text", attributes).text = clean(label)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


@lru_cache(maxsize=1)
def _axes() -> Axes:
    """The axes of all charts: making them anew takes half the time of a chart."""
    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))
    place = (LEFT / WIDTH, 1 - BOTTOM / HEIGHT, (RIGHT - LEFT) / WIDTH, (BOTTOM - TOP) / HEIGHT)
    axes = figure.add_axes(place)
    axes.set_frame_on(False)
    axes.tick_params(length=0, pad=6)
    axes.grid(axis="y", color="#d9dce0", linewidth=1, clip_on=False)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_title("", y=1)  # with fixed places matplotlib need not look for them
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_label_coords(0, 0)
    return axes


def _empty_axes() -> Axes:
    axes = _axes()
    for artist in [*axes.lines, *axes.collections]:
        artist.remove()
    axes.relim()
    axes.autoscale(True)
    return axes


def _svg(figure: Any) -> ElementTree.Element:
    buffer = BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "imputefree"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return ElementTree.fromstring(buffer.getvalue())


def _tidy(root: ElementTree.Element, lines: Sequence[Line], prefix: str) -> None:
    """Leave what a page needs of matplotlib's SVG: names of lines, short numbers, no global ids."""
    for parent in list(root.iter()):
        for child in list(parent):
            head = child.tag.endswith("metadata") or child.find(f"{SVG}style") is not None
            if head or child.get("id", "").startswith("patch_"):  # or background
                parent.remove(child)
    for element in root.iter():
        element.text = (element.text or "").strip()
        element.tail = ""
        attributes = element.attrib
        name = attributes.pop("id", "")
        if name.startswith("line-"):
            line = lines[int(name.removeprefix("line-"))]
            attributes["data-series"] = line.name
            marks = element.iter(f"{SVG}use") if element.find(f"{SVG}path") is not None else ()
            for mark, y, sd in zip(marks, line.y, line.sd, strict=False):
                spread = f" ± {sd:.2f}" if math.isfinite(sd) else ""
                ElementTree.SubElement(mark, f"{SVG}title").text = f"{line.name}: {y:.2f}{spread}"
        elif name == "matplotlib.axis_2":
            attributes["class"] = "ticks-y"
        elif element.tag == f"{SVG}path" and name:
            attributes["id"] = prefix + name
        if element.tag == f"{SVG}use":
            attributes[f"{XLINK}href"] = attributes[f"{XLINK}href"].replace("#", f"#{prefix}")
        if element.tag == f"{SVG}text":
            anchor = "end" if "anchor: end" in attributes.pop("style") else "middle"
            attributes.pop("transform", None)
            attributes["class"] = f"tick {anchor}"
        for key in ("d", "x", "y"):
            if key in attributes:
                short = re.sub(
                    r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}", attributes[key]
                )
                attributes[key] = re.sub(r"\s*([A-Za-z])\s*", r"\1", short).strip()
        for colour, variable in VARIABLES.items():
            if colour in attributes.get("style", ""):
                attributes["style"] = attributes["style"].replace(colour, f"var(--{variable})")


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
    """A data: address of uint8 pixels (height, width, 4): red, green, blue, and 255 for opaque.

    >>> png_uri(np.zeros((28, 28, 4), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    buffer = BytesIO()
    imsave(buffer, pixels, format="png", metadata={"Software": ""})
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
