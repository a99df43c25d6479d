"""Colours and parts that pictures share.

Blue raises the prediction, orange lowers it: colour-blind readers can tell these colours apart, and
the side of the zero line says the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LABEL_WIDTH = 33
UP, DOWN, INK, GREY, PALE = "#0072b2", "#d55e00", "#22262b", "#6b7280", "#eceef1"


def title(axes: Any, text: str) -> None:
    """What a panel shows, above its left edge."""
    axes.set_title(text, loc="left", fontsize=10, fontweight="bold", color=INK)


def label_bars(axes: Any, labels: list[str]) -> None:
    """Name the bars of a panel, and take away what is not data."""
    half = LABEL_WIDTH // 2
    short = [x if len(x) <= LABEL_WIDTH else f"{x[:half]}…{x[-half:]}" for x in labels]
    axes.set_yticks(np.arange(len(labels)), short, fontsize=9)
    plain_axes(axes)


def plain_axes(axes: Any) -> None:
    """A panel without a frame, with pale lines at its ticks."""
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=9, colors=INK)
    axes.tick_params(axis="x", colors=GREY)
    axes.grid(axis="x", color=PALE)
    axes.set_axisbelow(True)
    axes.xaxis.label.set(color=GREY, fontsize=9)


def say(axes: Any, text: str) -> None:
    """A sentence in place of a picture."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)
