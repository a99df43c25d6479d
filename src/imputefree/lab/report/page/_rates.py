"""How methods fare as more goes missing: a line a method, over the rates of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...rivals._methods import OURS
from .._paper_figures import PRINTED_NAMES
from .._result_tables import PERCENT
from .._stats import summary
from ._html import Html, tag
from ._page_tables import NAMES
from ._parts import legend, notes
from ._svg import Line, chart, swatch

RATE = re.compile(r"([a-z]+)-(\d+(?:\.\d+)?)(.*)")  # "mcar-50", and "rate-25, rows 100"

CONTROL = "mask_only"  # sees gaps only; beside it all other lines would be one


def rate_charts(runs: pd.DataFrame, styles: Mapping[str, int], study: str) -> Html | None:
    """Charts of accuracy and AUC; None where no kind of gaps has two rates."""
    kinds: dict[str, dict[str, float]] = {}
    for setting in runs["setting"].unique():
        if found := RATE.fullmatch(setting):
            kind = found[1] + found[3]
            kinds.setdefault(kind, {})[setting] = float(found[2])
    charts: list[Html] = []
    drawn: list[list[Line]] = []
    for kind, rates in kinds.items():
        for metric in ("accuracy", "auc") if len(rates) > 1 else ():
            lines = _lines(runs, metric, rates, styles)
            if lines:
                drawn.append(lines)
                name = kind.upper() if kind in ("mcar", "mar", "mnar") else kind
                charts.append(_chart(lines, metric, name, sorted(rates.values()), study))
    if not charts:
        return None
    shown = {line.name for lines in drawn for line in lines}
    order = [name for name in styles if name in shown]
    off = [name for name in order if name.startswith(CONTROL) and _far_below(name, drawn)]
    box = legend("Methods to show", [(name, swatch(styles[name])) for name in order], off)
    words = (
        "Points are means over runs, whiskers one standard deviation; points of one rate are set "
        "slightly apart. Untick a method to hide it: the upright axis fits what is left."
        + (f" {', '.join(off)}, below all others, begins hidden." if off else "")
    )
    return tag(
        "figure", box, tag("div", *charts, class_="charts"), tag("figcaption", notes([words]))
    )


def _far_below(name: str, charts: list[list[Line]]) -> bool:
    """In every chart all of its points are below all of the other methods'."""
    for lines in charts:
        own = [y for line in lines if line.name == name for y in line.y]
        rest = [y for line in lines if not line.name.startswith(CONTROL) for y in line.y]
        if not rest or max(own, default=0.0) >= min(rest):
            return False
    return True


def ordered(methods: list[str]) -> dict[str, int]:
    """Name -> style, ours first: they look the same in every chart, and no two in one alike."""
    first = [name for name in (*PRINTED_NAMES, *OURS) if name in OURS and name in methods]
    return {name: at for at, name in enumerate(dict.fromkeys([*first, *methods]))}


def _lines(
    runs: pd.DataFrame, metric: str, rates: Mapping[str, float], styles: Mapping[str, int]
) -> list[Line]:
    if metric not in runs:
        return []
    found = summary(runs[runs["setting"].isin(list(rates))], metric)
    found = found[found["runs"] > 0].assign(rate=found["setting"].map(rates))
    scale = 100 if metric in PERCENT else 1
    return [
        Line(
            str(name),
            part["rate"].tolist(),
            (scale * part["mean"]).tolist(),
            (scale * part["sd"].astype(np.float64)).tolist(),
            styles[str(name)],
        )
        for name, part in found.sort_values("rate").groupby("method", sort=False)
    ]


def _chart(lines: list[Line], metric: str, kind: str, rates: list[float], study: str) -> Html:
    name = NAMES[metric] if metric == "accuracy" else "AUC"
    said = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{y:.1f} at {x:g} %" for x, y in zip(line.x, line.y, strict=True))
        for line in lines
    )
    return chart(
        lines,
        x_label=f"missing entries ({kind}), %" if kind != "rate" else "missing entries, %",
        y_label=f"{name}, %",
        about=f"{study}, {name} in per cent by missing rate. {said}",
        x_ticks=rates,
    )
