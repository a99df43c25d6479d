"""Line charts as SVG. Colours come from the style sheet, so they follow the light and the dark.

A chart is drawn for the width of a phone and grows with the screen; page.js hides lines and fits
the upright axis to those that are left, by the data-y and data-sd that points carry.

>>> line = Line("gil", [50, 70, 90], [96.3, 93.4, 78.5], [0.1, 0.1, 0.4])
>>> drawn = chart([line], x_label="missing, %", y_label="accuracy, %", about="accuracy of gil")
>>> drawn.startswith("<svg"), drawn.count('class="point"')
(True, 3)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._html import Html, join, tag

WIDTH, HEIGHT = 380, 280
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 32, 44
COLOURS, MARKERS = 8, 4
DODGE = 2.2  # between points of two lines at one place, so that whiskers do not cover each other
MOST_POINTS = 200  # of a line: what a screen shows

Scale = Callable[[float], float]  # a value -> its place in the picture


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    name : what the legend calls it
    x, y : (points,)
    sd : (points,) half a whisker, NaN for none; empty for none at all
    style : which colour, marker and dash
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    sd: Sequence[float] = ()
    style: int = 0


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers in [low, high], about so many.

    >>> ticks(71.2, 96.8), ticks(0, 0.9)
    ([75.0, 80.0, 85.0, 90.0, 95.0], [0.0, 0.2, 0.4, 0.6, 0.8])
    """
    raw = (high - low) / about or 1.0
    power = 10 ** math.floor(math.log10(raw))
    step = power * min((one for one in (1, 2, 5, 10) if one * power >= 0.7 * raw), default=10)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(round(at * step, 10)) for at in range(first, last + 1)]


def chart(
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    about: str,
    x_ticks: Sequence[float] | None = None,
    markers: bool = True,
) -> Html:
    """A chart of lines with whiskers of one standard deviation.

    about : what a screen reader says of it
    x_ticks : where the lying axis is marked; None means at round numbers
    markers : False for long lines, whose points would hide them
    """
    xs = [x for line in lines for x in line.x]
    low, high = _range([end for line in lines for end in _ends(line)])
    left, right = min(xs), max(xs)
    span = (right - left) or 1.0
    pad = 0.06 * (WIDTH - LEFT - RIGHT) if markers else 0.0

    def across(x: float) -> float:
        share = (x - left) / span if right > left else 0.5
        return LEFT + pad + share * (WIDTH - LEFT - RIGHT - 2 * pad)

    def up(y: float) -> float:
        return HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    marks = _whole(ticks(left, right), xs) if x_ticks is None else x_ticks
    drawn = [
        _axis_y(low, high, up),
        join(
            tag("text", f"{x:g}", x=across(x), y=HEIGHT - BOTTOM + 18, class_="tick middle")
            for x in marks
        ),
        tag("text", y_label, x=8, y=18, class_="axis"),
        tag("text", x_label, x=WIDTH - RIGHT, y=HEIGHT - 8, class_="axis end"),
    ]
    for at, line in enumerate(lines):
        shift = (at - (len(lines) - 1) / 2) * DODGE if markers and line.sd else 0.0
        places = [across(x) + shift for x in line.x]
        drawn.append(_line(line, places, up, HEIGHT - TOP - BOTTOM, high - low, markers))
    return tag(
        "svg",
        *drawn,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="chart",
        role="img",
        aria_label=about,
        data_top=TOP,
        data_bottom=HEIGHT - BOTTOM,
        data_left=LEFT,
        data_right=WIDTH - RIGHT,
    )


def swatch(style: int) -> Html:
    """What a line looks like, for a legend."""
    path = tag("path", d="M1 7H29", class_="line")
    return tag(
        "svg",
        tag("g", path, tag("g", marker(style), transform="translate(15 7)"), class_=_class(style)),
        viewBox="0 0 30 14",
        class_="swatch",
        aria_hidden="true",
    )


def marker(style: int) -> Html:
    """Circle, square, triangle or diamond around 0, 0: shape tells lines apart, too."""
    shape = (style + style // COLOURS) % MARKERS
    if shape == 0:
        return tag("circle", r=4, class_="marker")
    path = {1: "M-3.5-3.5h7v7h-7z", 2: "M0-4.6 4.4 3.4h-8.8z", 3: "M0-5 5 0 0 5-5 0z"}[shape]
    return tag("path", d=path, class_="marker")


def thinned(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Numbers 1, 2, … and the values, without the gaps; of many, about MOST_POINTS.

    >>> thinned([0.5, float("nan"), 0.25])
    ([1, 3], [0.5, 0.25])
    """
    step = math.ceil(len(values) / MOST_POINTS) or 1
    last = len(values) - 1
    kept = [i for i in range(len(values)) if i % step == 0 or i == last]
    kept = [i for i in kept if math.isfinite(values[i])]
    return [i + 1 for i in kept], [values[i] for i in kept]


def _line(
    line: Line, places: list[float], up: Scale, height: float, span: float, markers: bool
) -> Html:
    path = "M" + " ".join(f"{x:.1f},{up(y):.1f}" for x, y in zip(places, line.y, strict=True))
    parts = [tag("path", d=path, class_="line")]
    for at, (x, y) in enumerate(zip(places, line.y, strict=True)) if markers else ():
        sd = line.sd[at] if line.sd else math.nan
        whisker = (
            tag("path", d=_whisker(sd * height / span), class_="whisker")
            if math.isfinite(sd)
            else Html("")
        )
        spread = f" ± {sd:.2f}" if math.isfinite(sd) else ""
        parts.append(
            tag(
                "g",
                whisker,
                marker(line.style),
                tag("title", f"{line.name}: {y:.2f}{spread}"),
                class_="point",
                transform=f"translate({x:.1f} {up(y):.1f})",
                data_x=round(x, 1),
                data_y=float(y),
                data_sd=float(sd) if math.isfinite(sd) else None,
            )
        )
    return tag("g", *parts, class_=_class(line.style), data_series=line.name)


def _whole(marks: list[float], xs: Sequence[float]) -> list[float]:
    """Without halves, where what is counted has none."""
    counted = all(float(x).is_integer() for x in xs)
    return [mark for mark in marks if mark.is_integer()] if counted else marks


def _whisker(half: float) -> str:
    return f"M-3 {-half:.1f}h6m-3 0V{half:.1f}m-3 0h6"


def _axis_y(low: float, high: float, up: Scale) -> Html:
    marks = []
    for y in ticks(low, high):
        marks.append(tag("path", d=f"M{LEFT} {up(y):.1f}H{WIDTH - RIGHT}", class_="grid"))
        marks.append(tag("text", f"{y:g}", x=LEFT - 6, y=f"{up(y) + 4:.1f}", class_="tick end"))
    return tag("g", *marks, class_="ticks-y", aria_hidden="true")


def _ends(line: Line) -> list[float]:
    sd = line.sd or [0.0] * len(line.y)
    half = [one if math.isfinite(one) else 0.0 for one in sd]
    return [y + sign * h for y, h in zip(line.y, half, strict=True) for sign in (-1, 1)]


def _range(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    pad = 0.05 * (high - low) or abs(high) * 0.05 or 0.5
    return low - pad, high + pad


def _class(style: int) -> str:
    return f"s{style % COLOURS} d{style // COLOURS % 3}"
