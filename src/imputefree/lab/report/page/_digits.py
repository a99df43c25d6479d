"""What imputers make of digits (the paper's Figure 1): truth, what is seen, what they fill in."""

from __future__ import annotations

import zlib
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...runs._results import Record
from ._html import Html, Ids, tag
from ._page_settings import by_place
from ._parts import choice, drawn
from ._png import data_uri, grey

HIDDEN = (66, 96, 150)  # a colour that no grey is: what was hidden is not black
BETWEEN = 1  # clear pixels between two digits

LARGEST = 10**6  # pixels; what is larger is no digit


def imputed_digits(lines: Sequence[Record], ids: Ids) -> Html | None:
    """A panel a setting: imputers down, digits across; None where no run carries digits."""
    panels = [
        (name, drawn("These digits", lambda chosen=chosen: _panel(chosen)))  # type: ignore[misc]
        for name, chosen in by_place(lines, "digits")
    ]
    return choice(ids, "Setting", panels) if panels else None


def _panel(lines: Sequence[Record]) -> Html:
    first = lines[0]["pictures"]["digits"]
    labels = [str(label) for label in first["labels"]]
    said = ", ".join(labels)
    truth, seen = _images(first, "truth"), _images(first, "observed") > 0
    masked = grey(truth)
    masked[~seen] = (*HIDDEN, 255)
    rows = [
        _row("truth", grey(truth), f"The digits {said}, complete"),
        _row("seen", masked, f"The digits {said} as methods see them, gaps in blue"),
    ]
    for line in lines:
        method = line["method"]
        about = f"The digits {said} with gaps filled by {method}"
        rows.append(
            drawn(
                f"The row of {method}",
                lambda line=line, about=about: _row(  # type: ignore[misc]
                    line["method"], grey(_images(line["pictures"]["digits"], "filled")), about
                ),
            )
        )
    head = tag(
        "div", *(tag("span", label) for label in labels), class_="labels", aria_hidden="true"
    )
    top = tag("div", tag("span", class_="name"), head, class_="digit-row")
    return tag("div", top, *rows, class_="digits")


def _row(name: str, pixels: np.ndarray, about: str) -> Html:
    """pixels : (digits, height, width, 4), laid side by side in one picture."""
    count, height, width, _ = pixels.shape
    strip = np.zeros((height, count * (width + BETWEEN), 4), dtype=np.uint8)
    for at, one in enumerate(pixels):
        start = at * (width + BETWEEN)
        strip[:, start : start + width] = one
    image = tag("img", src=data_uri(strip), alt=about, width=strip.shape[1], height=height)
    return tag("div", tag("span", name, class_="name"), image, class_="digit-row")


def _images(digits: Mapping[str, Any], part: str) -> np.ndarray:
    """(digits, height, width) of bytes one after another."""
    height, width = (int(side) for side in digits["shape"])
    if not 0 < height * width <= LARGEST:
        raise ValueError(f"images of {height} x {width} pixels")
    packed = b64decode(digits[part], validate=True)
    data = zlib.decompressobj().decompress(packed, LARGEST)  # a foreign file may hold a bomb
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, height, width)
