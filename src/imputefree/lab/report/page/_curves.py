"""Training curves, an epoch a point, of the run that the reader chooses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...runs._results import Record
from ._html import Html, Ids, join, tag
from ._parts import choice, drawn
from ._svg import Line, chart, swatch, thinned

TOGETHER = ("loss", "validation_loss")  # in one chart, as one reads them against each other
WORDS = {
    "loss": "training loss",
    "validation_loss": "validation loss",
    "q": "Q, the critic's value",
}


def training_curves(lines: Sequence[Record], ids: Ids) -> Html | None:
    """A panel a run; None where no run carries curves."""
    panels = []
    for line in lines:
        if line["pictures"].get("curves"):
            name = run_name(line)
            panels.append((name, drawn(f"The curves of {name}", lambda one=line: _panel(one))))  # type: ignore[misc]
    return choice(ids, "Run", panels) if panels else None


def run_name(line: Record) -> str:
    """What a list of runs calls it."""
    name = (
        f"{line['method']}, {line['place']}, mask {line['mask_seed']}, split {line['split_seed']}"
    )
    return name


def _panel(line: Record) -> Html:
    curves = {str(name): _numbers(values) for name, values in line["pictures"]["curves"].items()}
    curves = {name: values for name, values in curves.items() if _known(values)}
    if not curves:
        return tag("p", "This run has no numbers in its curves.", class_="note")
    first = {name: curves[name] for name in TOGETHER if name in curves}
    rest = [{name: values} for name, values in curves.items() if name not in first]
    charts = [_chart(group, run_name(line)) for group in ([first] if first else []) + rest]
    return tag("div", *charts, class_="charts")


def _chart(curves: Mapping[str, list[float]], run: str) -> Html:
    names = {name: WORDS.get(name, name.replace("_", " ")) for name in curves}
    made = [
        Line(names[name], *thinned(values), style=at)
        for at, (name, values) in enumerate(curves.items())
    ]
    title = "loss" if len(made) > 1 else made[0].name
    said = "; ".join(f"{one.name} from {one.y[0]:.4g} to {one.y[-1]:.4g}" for one in made)
    shape = chart(
        made,
        x_label="epoch",
        y_label=title,
        about=f"{run}: {said}, {len(next(iter(curves.values())))} epochs",
        markers=max(len(one.y) for one in made) == 1,
    )
    keys = join(tag("span", swatch(one.style), f" {one.name}") for one in made)
    key = tag("p", keys, class_="key plain-lines") if len(made) > 1 else Html("")
    return tag("div", shape, key)


def _numbers(values: Any) -> list[float]:
    """NaN for what is no number: an epoch without a validation part has None."""
    return [float(one) if isinstance(one, int | float) else math.nan for one in values]


def _known(values: list[float]) -> bool:
    return any(math.isfinite(one) for one in values)
