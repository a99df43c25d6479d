"""Pictures of the results page as plain data for its templates: each function gives a block.

A block is a dict with the `kind` that `templates/blocks.html` shows, or None for nothing to show.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..rivals._methods import OURS
from ..runs import Record
from ._charts import Line, coloured, grey, line_chart, png_uri, thinned
from ._paper_figures import PRINTED_NAMES
from ._result_lines import clean, unpacked_digits
from ._stats import summary

Block = dict[str, Any]
# What a malformed picture may raise; the last two if it claims an absurd size.
BAD_DATA = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, MemoryError)
TOGETHER = ("loss", "validation_loss")  # in one chart, to be compared
CURVE_NAMES = {
    "loss": "training loss",
    "validation_loss": "validation loss",
    "q": "Q, the critic's value",
}
RATE = re.compile(r"([a-z]+)-(\d+(?:\.\d+)?)(.*)")  # "mcar-50", and "rate-25, rows 100"
CONTROL = "mask_only"  # sees gaps only; next to it, all other lines would look like one
MAX_BARS = 30  # columns shown as bars
HIDDEN = (66, 96, 150)  # hidden pixels are blue, not black
PLANE, EDGE = 240, 8  # size of a scatter plot
N_CLASSES = 10  # colours for classes
APART = 16.0  # distance of two labels in a scatter plot
MAX_DOTS = 3000


def note(text: str) -> Block:
    """A sentence in place of something that cannot be shown."""
    return {"kind": "text", "text": text, "note": True}


def drawn(what: str, make: Callable[..., Block], *arguments: Any) -> Block:
    """What `make` draws, or a sentence: one malformed picture must not break the page."""
    try:
        return make(*arguments)
    except BAD_DATA as error:
        return note(f"{what} cannot be drawn from this file ({error!r}).")


def _choice(label: str, panels: Iterable[tuple[str, Block]]) -> Block | None:
    shown = [{"name": name, "block": block} for name, block in panels]
    return {"kind": "choice", "label": label, "panels": shown} if shown else None


def _by_setting(
    lines: Sequence[Record], kind: str, make: Callable[[list[Record]], Block]
) -> Block | None:
    """A panel per setting, drawn from its lines with this kind of picture, one per method.

    Methods are shown side by side, so they must have had the same gaps and rows: these are the
    seeds that most methods have, the first of equals.

    >>> line = {"place": "mar", "split_seed": 0, "pictures": {"digits": {"shape": [28, 28]}}}
    >>> lines = [line | {"method": name, "mask_seed": seed} for name, seed in
    ...          [("mean", 0), ("mean", 1), ("gain", 1)]]
    >>> _by_setting(lines, "digits", lambda lines: [line["method"] for line in lines])["panels"]
    [{'name': 'mar, mask 1, split 0', 'block': ['mean', 'gain']}]
    """
    places: dict[str, list[Record]] = {}
    for line in lines:
        if line["pictures"].get(kind):
            places.setdefault(line["place"], []).append(line)
    panels = []
    for place, group in places.items():
        seeds = Counter((line["mask_seed"], line["split_seed"]) for line in group)
        most = seeds.most_common(1)[0][0]
        same = [line for line in group if (line["mask_seed"], line["split_seed"]) == most]
        chosen = {line["method"]: line for line in same}
        name = f"{place}, mask {most[0]}, split {most[1]}"
        panels.append((name, drawn(f"The {kind}", make, list(chosen.values()))))
    return _choice("Setting", panels)


def training_curves(lines: Sequence[Record]) -> Block | None:
    """A panel per run, one point per epoch."""
    panels = []
    for line in lines:
        if line["pictures"].get("curves"):
            place = f"{line['method']}, {line['place']}"
            name = f"{place}, mask {line['mask_seed']}, split {line['split_seed']}"
            curves = line["pictures"]["curves"]
            panels.append((name, drawn(f"The curves of {name}", _curves, curves, name)))
    return _choice("Run", panels)


def _curves(pictures: Mapping[str, Any], run: str) -> Block:
    curves = {}
    for name, values in pictures.items():
        # An epoch without a validation part has None.
        numbers = [float(v) if isinstance(v, int | float) else math.nan for v in values]
        if any(map(math.isfinite, numbers)):
            curves[str(name)] = numbers
    if not curves:
        return note("This run has no numbers in its curves.")
    together = [name for name in TOGETHER if name in curves]
    groups = [together] if together else []
    groups += [[name] for name in curves if name not in together]
    charts = []
    for group in groups:
        names = [clean(CURVE_NAMES.get(name, name.replace("_", " "))) for name in group]
        lines = [Line(names[at], *thinned(curves[key]), style=at) for at, key in enumerate(group)]
        ends = "; ".join(f"{line.name} from {line.y[0]:.4g} to {line.y[-1]:.4g}" for line in lines)
        chart = line_chart(
            lines,
            labels=("epoch", "loss" if len(lines) > 1 else names[0]),
            about=f"{run}: {ends}, {len(curves[group[0]])} epochs",
            markers=max(len(line.y) for line in lines) == 1,
        )
        charts.append(chart | {"legend": lines if len(lines) > 1 else []})
    return {"kind": "charts", "charts": charts}


def method_styles(methods: Sequence[str]) -> dict[str, int]:
    """Method -> style, ours first: each looks the same in every chart, and no two alike in one."""
    first = [name for name in (*PRINTED_NAMES, *OURS) if name in OURS and name in methods]
    return {name: at for at, name in enumerate(dict.fromkeys([*first, *methods]))}


def rate_charts(runs: pd.DataFrame, study: str) -> Block | None:
    """Accuracy and AUC as more goes missing, one line per method; None without two rates."""
    styles = method_styles(list(runs["method"].unique()))
    kinds: dict[str, dict[str, float]] = {}
    for setting in runs["setting"].unique():
        if match := RATE.fullmatch(setting):
            kinds.setdefault(match[1] + match[3], {})[setting] = float(match[2])
    charts: dict[tuple[str, str], list[Line]] = {
        (kind, metric): lines
        for kind, rates in kinds.items()
        for metric in ("accuracy", "auc")
        if len(rates) > 1 and (lines := _rate_lines(runs, metric, rates, styles))
    }
    if not charts:
        return None
    names = {line.name for lines in charts.values() for line in lines}
    order = [name for name in styles if name in names]
    off = [name for name in order if name.startswith(CONTROL) and _below_all(name, charts.values())]
    caption = (
        "Points are means over runs, whiskers one standard deviation; points of one rate are set "
        "slightly apart. Untick a method to hide it: the y-axis fits what is left."
        + (f" {', '.join(off)}, below all others, is hidden at first." if off else "")
    )
    switches = [{"name": name, "style": styles[name], "off": name in off} for name in order]
    return {
        "kind": "charts",
        "title": "Methods to show",
        "switches": switches,
        "charts": [_rate_chart(lines, *key, study) for key, lines in charts.items()],
        "captions": [caption],
    }


def _below_all(name: str, charts: Iterable[list[Line]]) -> bool:
    """Whether in every chart all of its points are below all points of the other methods."""
    for lines in charts:
        points = [max(line.y) for line in lines if line.name == name]
        others = [min(line.y) for line in lines if not line.name.startswith(CONTROL)]
        if not others or max(points, default=0.0) >= min(others):
            return False
    return True


def _rate_lines(
    runs: pd.DataFrame, metric: str, rates: Mapping[str, float], styles: Mapping[str, int]
) -> list[Line]:
    if metric not in runs:
        return []
    means = summary(runs[runs["setting"].isin(list(rates))], metric)
    means = means[means["runs"] > 0].assign(rate=means["setting"].map(rates)).sort_values("rate")
    lines = []
    for name, part in means.groupby("method", sort=False):
        x, y, sd = part["rate"], 100 * part["mean"], 100 * part["sd"].astype(np.float64)
        style = styles[str(name)]
        lines.append(Line(str(name), x.tolist(), y.tolist(), style, sd.tolist()))
    return lines


def _rate_chart(lines: list[Line], kind: str, metric: str, study: str) -> Block:
    name = "accuracy" if metric == "accuracy" else "AUC"
    kind = kind.upper() if kind in ("mcar", "mar", "mnar") else kind
    points = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{y:.1f} at {x:g} %" for x, y in zip(line.x, line.y, strict=True))
        for line in lines
    )
    return line_chart(
        lines,
        labels=(f"missing entries ({kind}), %".replace(" (rate)", ""), f"{name}, %"),
        about=f"{study}, {name} in per cent by missing rate. {points}",
        x_ticks=sorted({rate for line in lines for rate in line.x}),
    )


def importance_maps(lines: Sequence[Record]) -> Block | None:
    """What the gradients of a method were weighted by: a panel per setting with all methods.

    For images it is an image, for tables bars by column, for series a heat map by channel and time.
    """
    return _by_setting(lines, "importance", lambda lines: _maps(lines, "importance", _importance))


def _maps(lines: Sequence[Record], kind: str, make: Callable[..., Block], **more: Any) -> Block:
    """One picture per method, side by side."""
    maps = []
    for line in lines:
        name, picture = line["method"], line["pictures"][kind]
        maps.append({"title": name, "block": drawn(f"The {kind} of {name}", make, picture, name)})
    return {"kind": "maps", "maps": maps, **more}


def _importance(picture: Mapping[str, Any], method: str) -> Block:
    columns = [str(name) for name in picture["columns"]]
    if "mean" in picture:
        return _heat(np.array([_floats(step) for step in picture["mean"]]).T, columns, picture)
    parts = {part: _floats(picture[part]) for part in ("observed", "missing") if picture.get(part)}
    if not any(np.isfinite(values).any() for values in parts.values()):
        return note("All of its entries are empty.")
    if picture.get("shape"):
        return _images(parts, [int(size) for size in picture["shape"]])
    return _bars(parts, columns, picture)


def _floats(values: Iterable[Any]) -> np.ndarray:
    return np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)


def _images(parts: Mapping[str, np.ndarray], shape: Sequence[int]) -> Block:
    low, high = _range(*parts.values())
    images = [
        {"part": part, "src": png_uri(coloured(v.reshape(shape), low, high)), "mean": np.nanmean(v)}
        for part, v in parts.items()
    ]
    return {"kind": "images", "images": images, "shape": shape, "scale": _scale(low, high)}


def _bars(parts: Mapping[str, np.ndarray], columns: list[str], picture: Mapping[str, Any]) -> Block:
    values = np.vstack(list(parts.values()))  # (observed and missing, columns)
    if values.shape[1] != len(columns):
        raise ValueError(f"{len(columns)} columns, {values.shape[1]} numbers")
    middle = float(picture.get("middle", np.nanmean(values)))
    n_columns = int(picture.get("of", len(columns)))
    farthest = np.nan_to_num(np.abs(values - middle), nan=-1).max(axis=0)
    order = np.argsort(-farthest, kind="stable")[:MAX_BARS]
    shares = (values - middle) / max(farthest.max(), 1e-300)
    rows = []
    for at in order:
        bars = [
            {"number": f"{value:#.3g}", "share": 50 * share} if np.isfinite(value) else "–"
            for value, share in zip(values[:, at], shares[:, at], strict=True)
        ]
        rows.append([columns[at], *bars])
    captions = [f"Bars show the distance from the mean of all columns, {middle:.3g}."]
    if n_columns > len(order):
        captions.append(f"Shown are the {len(order)} farthest from it of {n_columns} columns.")
    return {"kind": "bars", "head": ["column", *parts], "rows": rows, "captions": captions}


def _heat(values: np.ndarray, columns: Sequence[str], picture: Mapping[str, Any]) -> Block:
    """values : (channels, steps)"""
    if len(columns) != len(values):
        raise ValueError(f"{len(columns)} channels, {len(values)} lines of numbers")
    low, high = _range(values)
    steps = values.shape[1]
    largest = pd.DataFrame(values.T, columns=list(columns)).mean().nlargest(3)
    return {
        "kind": "heat",
        "src": png_uri(coloured(values, low, high)),
        "names": columns,
        "steps": steps,
        "from_end": picture.get("from") == "end",
        "top": ", ".join(f"{name} {mean:.3g}" for name, mean in largest.items()),
        "scale": _scale(low, high),
    }


def _scale(low: float, high: float) -> Block:
    """The colour scale, with the digits that it takes to see the difference of its ends."""
    size = max(abs(low), abs(high))
    digits = max(3, 2 + math.ceil(math.log10(size / (high - low))))
    return {
        "src": png_uri(coloured(np.linspace(low, high, 64)[None], low, high)),
        "ends": [f"{end:.{digits}g}" for end in (low, high)],
        "difference": 100 * (high - low) / size,
    }


def _range(*parts: np.ndarray) -> tuple[float, float]:
    finite = np.concatenate([values[np.isfinite(values)] for values in parts])
    if not len(finite):
        raise ValueError("no numbers")
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low, low + 1)


def imputed_digits(lines: Sequence[Record]) -> Block | None:
    """What imputers make of digits (the paper's Figure 1): a panel per setting, a row each."""
    return _by_setting(lines, "digits", _digits)


def _digits(lines: Sequence[Record]) -> Block:
    first = lines[0]["pictures"]["digits"]
    labels = [str(label) for label in first["labels"]]
    masked = grey(unpacked_digits(first, "truth"))
    masked[unpacked_digits(first, "observed") == 0] = (*HIDDEN, 255)
    rows = [
        _strip("truth", grey(unpacked_digits(first, "truth")), "complete"),
        _strip("seen", masked, "as methods see them, gaps in blue"),
    ]
    for line in lines:
        name = line["method"]
        rows.append(drawn(f"The row of {name}", _filled, name, line["pictures"]["digits"]))
    return {"kind": "digits", "labels": labels, "rows": rows}


def _filled(method: str, digits: Mapping[str, Any]) -> Block:
    return _strip(method, grey(unpacked_digits(digits, "filled")), f"with gaps filled by {method}")


def _strip(name: str, pixels: np.ndarray, about: str) -> Block:
    """pixels : (digits, height, width, 4), side by side in one image with a gap after each."""
    strip = np.concatenate(np.pad(pixels, ((0, 0), (0, 0), (0, 1), (0, 0))), axis=1)
    return {"name": name, "src": png_uri(strip), "about": about, "size": strip.shape}


def feature_maps(lines: Sequence[Record]) -> Block | None:
    """Learned features in the plane (the paper's Figure 3): one scatter plot per method."""
    return _by_setting(lines, "features", _plots)


def _plots(lines: Sequence[Record]) -> Block:
    labels = [line["pictures"]["features"].get("label") for line in lines]
    classes = _in_order(name for names in labels if isinstance(names, list) for name in names)
    switches = [{"name": name, "colour": at % N_CLASSES} for at, name in enumerate(classes)]
    return _maps(lines, "features", _scatter, title="Classes to show", switches=switches)


def _in_order(labels: Iterable[Any]) -> list[str]:
    """Classes, each once: numbers by size, then strings."""
    names = {clean(label) for label in labels}
    return sorted(names, key=lambda name: (not name.isdigit(), len(name) * name.isdigit(), name))


def _scatter(features: Mapping[str, Any], method: str) -> Block:
    x, y = (np.array(features[axis], dtype=np.float64) for axis in "xy")
    labels = np.array([clean(label) for label in features["label"]])
    finite = np.isfinite(x) & np.isfinite(y)
    step = int(np.ceil(finite.sum() / MAX_DOTS)) or 1
    x, y, labels = (values[finite][::step] for values in (x, y, labels))
    if not len(x):
        return note("All of its points are empty.")
    places = np.column_stack([_placed(x), PLANE - _placed(y)])
    classes = _in_order(features["label"])
    names = [name for name in classes if (labels == name).any()]
    middles = np.array([np.median(places[labels == name], axis=0) for name in names])
    groups = [
        {
            "name": name,
            "colour": classes.index(name) % N_CLASSES,
            # A line of no length with a round end is a dot: one path for all keeps the page small.
            "dots": "".join(f"M{a:.0f} {b:.0f}h0" for a, b in places[labels == name]),
            "x": f"{label_x:.1f}",
            "y": f"{label_y + 5:.1f}",
        }
        for name, (label_x, label_y) in zip(names, _pushed_apart(middles), strict=True)
    ]
    about = f"Features of {method} in the plane, {len(x)} points of {len(names)} classes"
    return {"kind": "scatter", "groups": groups, "size": PLANE, "about": about}


def _placed(values: np.ndarray) -> np.ndarray:
    low, high = values.min(), values.max()
    return EDGE + (values - low) / ((high - low) or 1) * (PLANE - 2 * EDGE)


def _pushed_apart(places: np.ndarray) -> np.ndarray:
    """Labels moved until none covers another, or as far as that is possible.

    >>> moved = _pushed_apart(np.array([[50.0, 50.0], [50.0, 51.0]]))
    >>> bool(np.linalg.norm(moved[0] - moved[1]) >= APART - 0.1)
    True
    """
    places = places + 0.01 * np.arange(len(places))[:, None] * [1, -1]  # no two at one place
    for _ in range(200):
        gap = places[:, None] - places[None]
        distance = np.linalg.norm(gap, axis=2) + 1e9 * np.eye(len(places))
        push = np.clip(APART - distance, 0, None)
        if push.max() < 0.05:
            break
        places = places + (gap / distance[..., None] * push[..., None]).sum(axis=1) / 2
        places = np.clip(places, EDGE + 4, PLANE - EDGE - 4)
    return places
