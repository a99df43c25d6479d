"""Maps of importance: what the gradients of a method were weighted by, entry by entry.

Of images they are images, of tables bars by column, of series a map of channel and time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...runs._results import Record
from ._html import Html, Ids, join, tag
from ._page_settings import by_place
from ._parts import choice, drawn, notes, plain_table
from ._png import coloured, data_uri

MOST = 30  # columns shown as bars
NEARLY = 0.05  # of the size: below it a reader is told that there is hardly a difference
LEFT, RIGHT, ROW, WIDTH = 140, 6, 17, 380  # of the map of a series
LETTERS = 20  # of a channel's name, what fits into LEFT


def importance_maps(lines: Sequence[Record], ids: Ids) -> Html | None:
    """A panel a setting, in it every method; None where no run carries a map."""
    panels = [
        (
            name,
            tag("div", *(_drawn(line) for line in chosen), class_="maps"),
        )
        for name, chosen in by_place(lines, "importance")
    ]
    return choice(ids, "Setting", panels) if panels else None


def _drawn(line: Record) -> Html:
    made = drawn(f"The map of {line['method']}", lambda: _map(line["pictures"]["importance"]))
    return tag("div", tag("h4", line["method"]), made, class_="map")


def _map(found: Mapping[str, Any]) -> Html:
    if "mean" in found:
        return _of_series(found)
    parts = {
        part: np.array([np.nan if v is None else float(v) for v in found[part]], dtype=np.float64)
        for part in ("observed", "missing")
        if found.get(part)
    }
    if not any(np.isfinite(values).any() for values in parts.values()):
        return tag("p", "All of its entries are empty.", class_="note")
    if found.get("shape"):
        return _of_images(parts, found["shape"])
    columns = [str(name) for name in found["columns"]]
    everything = np.vstack(list(parts.values()))
    middle = float(found.get("middle", _mean(everything)))
    return _of_tables(parts, columns, middle, int(found.get("of", len(columns))))


def _of_images(parts: Mapping[str, np.ndarray], shape: Sequence[int]) -> Html:
    low, high = _ends(list(parts.values()))
    height, width = (int(size) for size in shape)
    images = []
    for part, values in parts.items():
        pixels = coloured(values.reshape(height, width), low, high)
        said = f"Importance of {part} pixels, mean {_mean(values):.3g}"
        image = tag("img", src=data_uri(pixels), alt=said, width=width, height=height)
        images.append(tag("figure", image, tag("figcaption", part)))
    return tag("div", tag("div", *images, class_="pair"), _scale(low, high))


def _of_tables(
    parts: Mapping[str, np.ndarray], columns: Sequence[str], middle: float, of: int
) -> Html:
    everything = np.vstack(list(parts.values()))
    if everything.shape[1] != len(columns):
        raise ValueError(f"{len(columns)} columns, {everything.shape[1]} numbers")
    distance = np.abs(everything - middle)
    farthest = np.nan_to_num(distance, nan=-1).max(axis=0)
    order = np.argsort(-farthest, kind="stable")[:MOST]
    largest = max(farthest.max(), 1e-300)
    rows = [
        [columns[at], *(_bar(values[at], middle, largest) for values in parts.values())]
        for at in order
    ]
    told = [f"Bars show the distance from the mean of all columns, {middle:.3g}."]
    if of > len(order):
        told.append(f"Shown are the {len(order)} farthest from it of {of} columns.")
    return tag(
        "div",
        plain_table(["column", *parts], rows, "Importance by column", "words bars"),
        notes(told),
    )


def _bar(value: float, middle: float, largest: float) -> Html:
    if not np.isfinite(value):
        return Html("–")
    share = 50 * abs(value - middle) / largest
    start = 50.0 if value >= middle else 50 - share
    side = "more" if value >= middle else "less"
    line = tag("span", class_=f"{side}", style=f"left:{start:.1f}%;width:{share:.1f}%")
    box = tag("span", line, class_="bar", aria_hidden="true")
    return tag("span", tag("span", f"{value:#.3g}", class_="number"), box, class_="with-bar")


def _of_series(found: Mapping[str, Any]) -> Html:
    rows = [[np.nan if v is None else float(v) for v in step] for step in found["mean"]]
    values = np.array(rows, dtype=np.float64).T  # channel, time
    columns = [str(name) for name in found["columns"]]
    if len(columns) != len(values):
        raise ValueError(f"{len(columns)} channels, {len(values)} lines of numbers")
    low, high = _ends([values])
    height = ROW * len(columns)
    span = WIDTH - LEFT - RIGHT
    names = []
    for at, name in enumerate(columns):
        names.append(tag("text", _shortened(name), x=LEFT - 6, y=ROW * at + 12, class_="tick end"))
    steps = values.shape[1]
    backwards = found.get("from") == "end"
    ends = (f"step −{steps - 1}", "last step") if backwards else ("step 1", f"step {steps}")
    picture = tag(
        "svg",
        tag(
            "image",
            href=data_uri(coloured(values, low, high)),
            x=LEFT,
            y=0,
            width=span,
            height=height,
            preserveAspectRatio="none",
        ),
        *names,
        tag("text", ends[0], x=LEFT, y=height + 16, class_="tick"),
        tag("text", ends[1], x=WIDTH - RIGHT, y=height + 16, class_="tick end"),
        viewBox=f"0 0 {WIDTH} {height + 22}",
        class_="heat",
        role="img",
        aria_label=_said(values, columns),
    )
    cut = [f"{_shortened(name)} is {name}." for name in columns if name != _shortened(name)]
    return tag("div", picture, _scale(low, high), notes([" ".join(cut)] if cut else []))


def _shortened(name: str) -> str:
    return name if len(name) <= LETTERS else name[: LETTERS - 1].rstrip() + "…"


def _said(values: np.ndarray, columns: Sequence[str]) -> str:
    means = [_mean(line) for line in values]
    known = [at for at in np.argsort(means)[::-1] if np.isfinite(means[at])]
    first = ", ".join(f"{columns[at]} {means[at]:.3g}" for at in known[:3])
    return f"Importance by channel and time, {values.shape[1]} steps; highest on average: {first}"


def _scale(low: float, high: float) -> Html:
    pixels = coloured(np.linspace(low, high, 64)[None], low, high)
    bar = tag("img", src=data_uri(pixels), alt="colours from low to high", width=64, height=1)
    ends = _told_apart(low, high)
    scale = tag("p", ends[0], bar, ends[1], class_="colour-scale")
    size = max(abs(low), abs(high))
    if high - low >= NEARLY * size:
        return scale
    share = f"{100 * (high - low) / size:.2g}"
    words = f"Colours exaggerate: lowest and highest differ by {share} % only."
    return join([scale, notes([words])])


def _told_apart(low: float, high: float) -> tuple[str, str]:
    """Two numbers with the digits that it takes to see their difference.

    >>> _told_apart(0.0123, 0.95), _told_apart(0.49951, 0.50012)
    (('0.0123', '0.95'), ('0.49951', '0.50012'))
    """
    lost = math.log10(max(abs(low), abs(high)) / (high - low))
    digits = max(3, 2 + math.ceil(lost))
    return f"{low:.{digits}g}", f"{high:.{digits}g}"


def _ends(parts: Sequence[np.ndarray]) -> tuple[float, float]:
    known = np.concatenate([values[np.isfinite(values)] for values in parts])
    if not len(known):
        raise ValueError("no numbers")
    low, high = float(known.min()), float(known.max())
    return (low, high) if high > low else (low, low + 1)


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan
