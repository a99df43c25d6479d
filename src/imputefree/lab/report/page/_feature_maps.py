"""Learned features in the plane (the paper's Figure 3): a scatter a method, a colour a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...runs._results import Record
from ._html import Html, Ids, join, tag
from ._page_settings import by_place
from ._parts import choice, drawn, legend

SIZE, EDGE = 240, 8
CLASSES = 10  # colours
APART = 16.0  # between two labels, in the units of the picture
MOST = 3000  # points of a picture


def feature_maps(lines: Sequence[Record], ids: Ids) -> Html | None:
    """A panel a setting, in it every method; None where no run carries features."""
    panels = []
    for name, chosen in by_place(lines, "features"):
        maps = [
            tag(
                "div",
                tag("h4", line["method"]),
                drawn(
                    f"The features of {line['method']}",
                    lambda line=line: _scatter(line["pictures"]["features"], line["method"]),  # type: ignore[misc]
                ),
                class_="map",
            )
            for line in chosen
        ]
        box = legend(
            "Classes to show", [(one, _dot(at)) for at, one in enumerate(_classes(chosen))]
        )
        panels.append((name, tag("figure", box, tag("div", *maps, class_="maps"))))
    return choice(ids, "Setting", panels) if panels else None


def _classes(lines: Sequence[Record]) -> list[str]:
    """In one order for all: numbers by size, texts by letter."""
    found = {
        str(label)
        for line in lines
        if isinstance(labels := line["pictures"]["features"].get("label"), list)
        for label in labels
    }
    return sorted(found, key=lambda name: (not name.isdigit(), len(name) * name.isdigit(), name))


def _scatter(features: Mapping[str, Any], method: str) -> Html:
    x, y = (np.array(features[axis], dtype=np.float64) for axis in "xy")
    label = np.array([str(one) for one in features["label"]])
    known = np.isfinite(x) & np.isfinite(y)
    step = int(np.ceil(known.sum() / MOST)) or 1
    x, y, label = (values[known][::step] for values in (x, y, label))
    if not len(x):
        return tag("p", "All of its points are empty.", class_="note")
    across, up = _placed(x), SIZE - _placed(y)
    classes = _classes([{"pictures": {"features": features}}])
    names = [name for name in classes if (label == name).any()]
    middles = np.array(
        [[np.median(part[label == name]) for part in (across, up)] for name in names]
    )
    groups = []
    for name, (cx, cy) in zip(names, _pushed_apart(middles), strict=True):
        own = label == name
        # A line of no length with a round end is a dot: one path for all of them is a small page.
        dots = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in zip(across[own], up[own], strict=True))
        groups.append(
            tag(
                "g",
                tag("path", d=dots, class_="dots"),
                class_=f"k{classes.index(name) % CLASSES}",
                data_series=name,
            )
        )
        words = tag("text", name, x=float(cx), y=float(cy) + 5, class_="class-label middle")
        groups.append(tag("g", words, data_series=name))
    groups = groups[0::2] + groups[1::2]  # all labels above all dots
    return tag(
        "svg",
        join(groups),
        viewBox=f"0 0 {SIZE} {SIZE}",
        class_="scatter",
        role="img",
        aria_label=f"Features of {method} in the plane, {len(x)} points of {len(names)} classes",
    )


def _placed(values: np.ndarray) -> np.ndarray:
    low, high = values.min(), values.max()
    return EDGE + (values - low) / ((high - low) or 1) * (SIZE - 2 * EDGE)


def _pushed_apart(places: np.ndarray) -> np.ndarray:
    """Labels moved until none covers another, or for as long as that makes sense.

    >>> moved = _pushed_apart(np.array([[50.0, 50.0], [50.0, 51.0]]))
    >>> bool(np.linalg.norm(moved[0] - moved[1]) >= APART - 0.1)
    True
    """
    places = places + 0.01 * np.arange(len(places))[:, None] * [1, -1]  # not all at one place
    for _ in range(200):
        gap = places[:, None] - places[None]
        distance = np.linalg.norm(gap, axis=2) + 1e9 * np.eye(len(places))
        push = np.clip(APART - distance, 0, None)
        if push.max() < 0.05:
            break
        places = places + (gap / distance[..., None] * push[..., None]).sum(axis=1) / 2
        places = np.clip(places, EDGE + 4, SIZE - EDGE - 4)
    return places


def _dot(at: int) -> Html:
    dot = tag("circle", cx=7, cy=7, r=5, class_=f"k{at % CLASSES} dot")
    return tag("svg", dot, viewBox="0 0 14 14", class_="swatch dot", aria_hidden="true")
