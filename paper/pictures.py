"""The paper's pictures from our runs, for the documentation: `python -m paper.pictures`.

What they show was kept by the runs themselves, in the lines of paper/results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from imputefree.lab.report import bare, draw_digits, draw_features, runs_frame
from imputefree.lab.runs import Record, read_results

ROOT = Path(__file__).parents[1]
RATES = (0.5, 0.7, 0.9)
IMPUTERS = ("mean+network", "gain+network", "miwae+network")
LEARNERS = ("gil", "network", "miwae+network", "gain+network")
PICTURES = {  # file, alternative text, and what it is
    "digits": (
        "Digits with 50, 70 and 90 per cent of their pixels hidden, and what imputers make of them",
        "**The paper's Figure 1, from our runs**: digits that imputers fill in. Hidden pixels are"
        " blue.",
    ),
    "features": (
        "Features of test digits in the plane, one scatter plot per method, a colour per class",
        "**The paper's Figure 3, from our runs**: t-SNE of the features that networks learn at 90 %"
        " missing. The paper reads a better separation for GIL off this picture; we see none.",
    ),
    "curves": (
        "Validation loss by epoch for ordinary training, random importance and GIL",
        "**Training at 90 % missing**: GIL and a coin are alike. Both learn a little more slowly"
        " than ordinary training and overfit more slowly after it; its lowest loss is lower.",
    ),
}


def captions() -> str:
    """The section of a page that shows the pictures."""
    parts = ["## Pictures", ""]
    for name, (alternative, about) in PICTURES.items():
        parts += [f"![{alternative}](../pictures/paper-{name}.png)", "", about, ""]
    return "\n".join(parts)


def digits(lines: Sequence[Record]) -> Figure:
    """Truth, what a method sees, and what imputers make of it; a block of columns per rate."""
    rows = ("truth", "seen", *IMPUTERS)
    figure = Figure(figsize=(9, 2.3), layout="constrained")
    axes = figure.subplots(len(rows), len(RATES), squeeze=False)
    for column, rate in enumerate(RATES):
        for row, name in enumerate(rows):
            place, method = axes[row, column], name if name in IMPUTERS else IMPUTERS[0]
            part = "filled" if name in IMPUTERS else name
            draw_digits(place, _kept(lines, method, rate, "digits"), part, count=8)
            if not column:
                place.set_ylabel(name.removesuffix("+network"), rotation=0, ha="right", va="center")
        axes[0, column].set_title(f"{100 * rate:.0f} % missing", fontsize=10)
    return figure


def features(lines: Sequence[Record]) -> Figure:
    """Learned features in the plane, one plot per method."""
    figure = Figure(figsize=(10, 2.9), layout="constrained")
    for place, name in zip(figure.subplots(1, len(LEARNERS)), LEARNERS, strict=True):
        draw_features(place, _kept(lines, name, 0.9, "features"))
        place.set_title(name, fontsize=10)
    return figure


def curves(lines: Sequence[Record]) -> Figure:
    """Validation loss by epoch."""
    figure = Figure(figsize=(6, 3), layout="constrained")
    place = figure.subplots()
    for name in ("network", "random", "gil"):
        loss = _kept(lines, name, 0.9, "curves")["validation_loss"]
        place.plot(np.arange(1, len(loss) + 1), loss, marker="o", markersize=3, label=name)
    place.set(xlabel="epoch", ylabel="validation loss")
    place.legend(frameon=False)
    place.spines[["top", "right"]].set_visible(False)
    return figure


def importance_maps(lines: Sequence[Record]) -> Figure:
    """Importance that GIL gave to observed and to missing pixels."""
    figure = Figure(figsize=(2.3 * len(lines), 4.6), layout="constrained")
    axes = figure.subplots(2, len(lines), squeeze=False)
    for column, line in enumerate(lines):
        about = line["pictures"]["importance"]
        for row, part in enumerate(("observed", "missing")):
            values = np.array([np.nan if v is None else v for v in about[part]])
            place = axes[row, column]
            shown = place.imshow(values.reshape(about["shape"]), vmin=0, vmax=1, cmap="viridis")
            bare(place)
            if not row:
                place.set_title(runs_frame([line])["setting"].iloc[0], fontsize=9)
            if not column:
                place.set_ylabel(f"{part} pixels", fontsize=9)
    figure.colorbar(shown, ax=axes, shrink=0.7, label="mean importance")
    return figure


def with_importance(records: Mapping[str, Sequence[Record]]) -> list[Record]:
    """Lines of GIL on tables that carry their importance; the newest of each setting."""
    found = {}
    for part in ("mnist", "mnist-fixed", "mnist-redrawn", "ophthalmic-simulated"):
        for line in records[part]:
            shown = line.get("pictures", {}).get("importance", {})
            if line["method"] == "gil" and "observed" in shown:
                found[line["study"], str(line["options"])] = line
    return list(found.values())


def _kept(lines: Sequence[Record], method: str, rate: float, kind: str) -> Any:
    """The picture of a kind that a method's first run at a rate kept."""
    for line in lines:
        same = line["method"] == method and line["options"].get("rate") == rate
        if same and kind in line.get("pictures", {}):
            return line["pictures"][kind]
    raise LookupError(f"no line of {method} at rate {rate} has {kind}")


def main() -> None:
    files = ("mnist", "mnist-fixed", "mnist-redrawn", "ophthalmic-simulated")
    records = {part: read_results(ROOT / f"paper/results/{part}.jsonl") for part in files}
    every = records["mnist"]
    images = [x for x in with_importance(records) if "shape" in x["pictures"]["importance"]]
    drawn = {
        "paper-digits": digits(every),
        "paper-features": features(every),
        "paper-curves": curves(every),
        "importance-maps": importance_maps(images),
    }
    for name, figure in drawn.items():
        figure.savefig(ROOT / f"docs/pictures/{name}.png", dpi=110)


if __name__ == "__main__":
    main()
