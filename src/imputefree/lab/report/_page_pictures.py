"""Pictures of results, drawn from what runs keep (see `lab.runs._pictures`), for page and paper.

Functions that draw for the page give a block: a dict with the `kind` that `templates/blocks.html`
shows, or None where there is nothing to show.
"""

from __future__ import annotations

import math
import re
import warnings
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..rivals import OURS
from ..runs import Record
from ._paper_figures import PRINTED_NAMES
from ._result_lines import clean, unpacked_digits
from ._stats import summary

Block = dict[str, Any]
# What a malformed picture may raise; the last three if it claims an absurd size.
BAD_DATA = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError),
    *(OverflowError, MemoryError, RuntimeError),
)
RATE = re.compile(r"([a-z]+)-(\d+(?:\.\d+)?)(.*)")  # "mcar-50", and "rate-25, rows 100"
CONTROL = "mask_only"  # sees gaps only; next to it, all other lines would look like one
DPI, ACROSS = 80, 3  # resolution, and charts side by side
MAX_BARS = 30  # columns shown as bars
MAX_DOTS = 3000
HIDDEN = (0.26, 0.38, 0.59)  # hidden pixels are blue
DASHES, MARKERS = ("-", "--", ":"), "os^D"


def note(text: str) -> Block:
    """A sentence in place of something that cannot be shown."""
    return {"kind": "note", "text": text}


def drawn(subject: str, make: Callable[..., Block], *arguments: Any) -> Block:
    """What `make` draws, or a sentence: one malformed picture must not break the page."""
    try:
        return make(*arguments)
    except BAD_DATA as error:
        return note(f"{subject} cannot be drawn from this file ({error!r}).")


def _picture(figure: Figure, about: str) -> Block:
    """A figure inside the page; about : what a screen reader says."""
    content = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about letters that the font lacks
        figure.savefig(content, format="png", dpi=DPI)
    source = f"data:image/png;base64,{b64encode(content.getvalue()).decode()}"
    width, height = (round(DPI * side) for side in figure.get_size_inches())
    return {"kind": "picture", "src": source, "about": about, "width": width, "height": height}


def _grid(count: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with this many charts, each of this size in inches."""
    columns = min(count, ACROSS)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for place in axes[count:]:
        place.set_axis_off()
    return figure, axes[:count]


def _literal(name: object) -> str:
    """A name in which matplotlib finds no formula."""
    return clean(name).replace("$", r"\$")


def bare(place: Axes) -> None:
    """Remove the ticks."""
    place.set_xticks([])
    place.set_yticks([])


def _by_setting(
    lines: Sequence[Record], kind: str, make: Callable[[list[Record]], list[Block]]
) -> Block | None:
    """A panel per setting, drawn from its lines with this kind of picture, one per method.

    Methods are shown side by side, so they must have had the same gaps and rows: these are the
    seeds that most methods have, the first of equals.

    >>> line = {"place": "mar", "split_seed": 0, "pictures": {"digits": {"shape": [28, 28]}}}
    >>> lines = [line | {"method": name, "mask_seed": seed} for name, seed in
    ...          [("mean", 0), ("mean", 1), ("gain", 1)]]
    >>> _by_setting(lines, "digits", lambda lines: [line["method"] for line in lines])["panels"]
    [{'name': 'mar, mask 1, split 0', 'blocks': ['mean', 'gain']}]
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
        panels.append({"name": name, "blocks": make(list(chosen.values()))})
    return {"kind": "panels", "panels": panels} if panels else None


def method_styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """How lines of methods look, ours first: alike in every chart, and no two alike in one."""
    first = [name for name in (*PRINTED_NAMES, *OURS) if name in OURS and name in methods]
    return {
        name: {
            "color": f"C{at % 10}",
            "linestyle": DASHES[at // 10 % 3],
            "marker": MARKERS[(at + at // 10) % 4],
            "label": _literal(name),
            "linewidth": 1.2,
            "markersize": 4,
        }
        for at, name in enumerate(dict.fromkeys([*first, *methods]))
    }


def training_curves(lines: Sequence[Record]) -> Block | None:
    """A panel per setting, a chart per figure of training, one line per method."""
    styles = method_styles([line["method"] for line in lines])
    return _by_setting(lines, "curves", lambda lines: [drawn("The curves", _curves, lines, styles)])


def _curves(lines: Sequence[Record], styles: Mapping[str, Any]) -> Block:
    charts: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        for name, values in line["pictures"]["curves"].items():
            # An epoch without a validation part has None.
            numbers = [float(v) if isinstance(v, int | float) else math.nan for v in values]
            if any(map(math.isfinite, numbers)):
                charts.setdefault(clean(name).replace("_", " "), {})[line["method"]] = numbers
    if not charts:
        return note("These runs have no numbers in their curves.")
    every = {line["method"]: int(line["pictures"].get("curve_every", 1)) for line in lines}
    figure, axes = _grid(len(charts), 3.8, 2.6)
    about = []
    for place, (name, curves) in zip(axes, sorted(charts.items()), strict=True):
        for method, values in curves.items():
            epochs = 1 + every[method] * np.arange(len(values))
            style = styles[method] | {"marker": None if len(values) > 1 else "o"}
            place.plot(epochs, values, **style)
            finite = [value for value in values if math.isfinite(value)]
            about.append(f"{name} of {method} from {finite[0]:.4g} to {finite[-1]:.4g}")
        _label(place, "epoch", name)
    _legend(figure, axes)
    return _picture(figure, f"Training curves: {'; '.join(about)}")


def _label(place: Axes, x: str, y: str) -> None:
    place.set_xlabel(_literal(x), fontsize=9)
    place.set_ylabel(_literal(y), fontsize=9)
    place.tick_params(labelsize=8)
    place.grid(linewidth=0.3)
    place.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend for all charts."""
    handles: dict[str, Any] = {}
    for place in axes:
        lines, labels = place.get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    style: dict[str, Any] = {"loc": "outside right upper", "fontsize": 8, "frameon": False}
    figure.legend(list(handles.values()), list(handles), **style)


def rate_charts(runs: pd.DataFrame, study: str) -> Block | None:
    """Accuracy and AUC as more goes missing, one line per method; None without two rates."""
    kinds: dict[str, dict[str, float]] = {}
    for setting in runs["setting"].unique():
        if match := RATE.fullmatch(setting):
            kinds.setdefault(match[1] + match[3], {})[setting] = float(match[2])
    charts = {
        (kind, metric): means
        for kind, rates in kinds.items()
        for metric in ("accuracy", "auc")
        if len(rates) > 1 and metric in runs and len(means := _by_rate(runs, metric, rates))
    }
    if not charts:
        return None
    every = pd.concat(charts.values())
    controls = every["method"].str.startswith(CONTROL)
    below = controls.any() and every["mean"][controls].max() < every["mean"][~controls].min()
    left_out = sorted(set(every["method"][controls])) if below else []
    captions = ["Points are means over runs, whiskers one standard deviation."]
    captions += [f"Below all others and left out: {', '.join(left_out)}."] * bool(left_out)
    styles = method_styles(list(runs["method"].unique()))
    return drawn("The charts", _rate_charts, charts, styles, study, left_out) | {
        "captions": captions
    }


def _by_rate(runs: pd.DataFrame, metric: str, rates: Mapping[str, float]) -> pd.DataFrame:
    """Means and standard deviations in per cent, by method and rate."""
    means = summary(runs[runs["setting"].isin(list(rates))], metric)
    means = means[means["runs"] > 0].assign(rate=means["setting"].map(rates))
    means[["mean", "sd"]] = 100 * means[["mean", "sd"]].astype(np.float64)
    return means.sort_values("rate", kind="stable")


def _rate_charts(
    charts: Mapping[tuple[str, str], pd.DataFrame],
    styles: Mapping[str, Any],
    study: str,
    left_out: Sequence[str],
) -> Block:
    figure, axes = _grid(len(charts), 3.8, 3.2)
    about = []
    for place, ((kind, metric), means) in zip(axes, charts.items(), strict=True):
        kind = kind.upper() if kind in ("mcar", "mar", "mnar") else kind
        name = "accuracy" if metric == "accuracy" else "AUC"
        about.append(f"{study}, {name} in per cent by missing rate ({kind}).")
        for method in dict.fromkeys(name for name in styles if name not in left_out):
            part = means[means["method"] == method]
            if len(part):
                place.errorbar(
                    part["rate"], part["mean"], part["sd"].fillna(0), capsize=2, **styles[method]
                )
                points = (f"{y:.1f} at {x:g} %" for x, y in part[["rate", "mean"]].to_numpy())
                about.append(f"{method}: {', '.join(points)};")
        place.set_xticks(sorted(means["rate"].unique()))
        _label(place, f"missing entries ({kind}), %".replace(" (rate)", ""), f"{name}, %")
    _legend(figure, axes)
    return _picture(figure, " ".join(about))


def importance_maps(lines: Sequence[Record]) -> Block | None:
    """What the gradients of a method were weighted by: a panel per setting, a picture per method.

    For images it is an image, for tables bars by column, for series a heat map by channel and time.
    """
    return _by_setting(
        lines,
        "importance",
        lambda lines: [
            drawn(f"The importance of {line['method']}", _importance, line) for line in lines
        ],
    )


def _importance(line: Record) -> Block:
    method, picture = line["method"], line["pictures"]["importance"]
    columns = [clean(name) for name in picture["columns"]]
    if "mean" in picture:
        steps = np.array([_floats(step) for step in picture["mean"]])
        return _heat(method, steps, columns, picture)
    parts = {part: _floats(picture[part]) for part in ("observed", "missing") if picture.get(part)}
    if not any(np.isfinite(values).any() for values in parts.values()):
        return note(f"All entries of {method} are empty.")
    if picture.get("shape"):
        return _images(method, parts, [int(size) for size in picture["shape"]])
    return _bars(method, parts, columns, picture)


def _floats(values: Iterable[Any]) -> np.ndarray:
    return np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)


def _images(method: str, parts: Mapping[str, np.ndarray], shape: Sequence[int]) -> Block:
    figure, axes = _grid(len(parts), 2.4, 2.6)
    every = np.concatenate(list(parts.values()))
    limits = {"vmin": np.nanmin(every), "vmax": np.nanmax(every)}
    for place, (part, values) in zip(axes, parts.items(), strict=True):
        shown = place.imshow(values.reshape(shape), **limits)
        place.set_title(f"{_literal(method)}, {part} pixels", fontsize=9)
        bare(place)
    figure.colorbar(shown, ax=axes, shrink=0.8).ax.tick_params(labelsize=8)
    means = ", ".join(f"{part} pixels {np.nanmean(v):.3g}" for part, v in parts.items())
    return _picture(figure, f"Importance by {method}, means: {means}")


def _bars(
    method: str, parts: Mapping[str, np.ndarray], columns: list[str], picture: Mapping[str, Any]
) -> Block:
    values = np.vstack(list(parts.values()))  # (observed and missing, columns)
    if values.shape[1] != len(columns):
        raise ValueError(f"{len(columns)} columns, {values.shape[1]} numbers")
    middle = float(picture.get("middle", np.nanmean(values)))
    n_columns = int(picture.get("of", len(columns)))
    farthest = np.nan_to_num(np.abs(values - middle), nan=-1).max(axis=0)
    order = np.argsort(-farthest, kind="stable")[:MAX_BARS]
    figure, (place,) = _grid(1, 5.0, 1.0 + 0.22 * len(order))
    for at, (part, numbers) in enumerate(parts.items()):
        heights = np.arange(len(order)) + 0.4 * (at - 0.5)
        place.barh(heights, numbers[order] - middle, 0.4, middle, label=part)
    place.set_yticks(range(len(order)), [_literal(columns[column]) for column in order])
    place.invert_yaxis()
    _label(place, f"importance; the line is the mean of all columns, {middle:.3g}", "")
    place.axvline(middle, color="black", linewidth=0.6)
    _legend(figure, [place])
    place.set_title(_literal(method), fontsize=9)
    about = f"Importance by {method}, farthest from the mean: {columns[order[0]]}"
    shown = f"Shown are the {len(order)} farthest from the mean of {n_columns} columns."
    return _picture(figure, about) | {"captions": [shown] * (n_columns > len(order))}


def _heat(
    method: str, steps: np.ndarray, columns: Sequence[str], picture: Mapping[str, Any]
) -> Block:
    """steps : (steps, channels)"""
    if len(columns) != steps.shape[1]:
        raise ValueError(f"{len(columns)} channels, {steps.shape[1]} numbers per step")
    if not np.isfinite(steps).any():
        raise ValueError("no numbers")
    figure, (place,) = _grid(1, 5.4, 0.8 + 0.2 * len(columns))
    last = 0.5 if picture.get("from") == "end" else len(steps) + 0.5
    edges = (last - len(steps), last, len(columns) - 0.5, -0.5)
    shown = place.imshow(steps.T, aspect="auto", interpolation="nearest", extent=edges)
    place.set_yticks(range(len(columns)), [_literal(name) for name in columns], fontsize=8)
    place.set_xlabel("steps before the last" if last < 1 else "step", fontsize=9)
    place.tick_params(labelsize=8)
    place.set_title(_literal(method), fontsize=9)
    figure.colorbar(shown, ax=place).ax.tick_params(labelsize=8)
    largest = pd.Series(np.nanmean(steps, axis=0), list(columns)).nlargest(3)
    top = ", ".join(f"{name} {mean:.3g}" for name, mean in largest.items())
    return _picture(figure, f"Importance by {method}, by channel and time; highest: {top}")


def imputed_digits(lines: Sequence[Record]) -> Block | None:
    """What imputers make of digits (the paper's Figure 1): a panel per setting, a row each."""
    return _by_setting(lines, "digits", lambda lines: [drawn("The digits", _digits, lines)])


def _digits(lines: Sequence[Record]) -> Block:
    first = lines[0]["pictures"]["digits"]
    labels = [clean(label) for label in first["labels"]]
    rows = {"truth": (first, "truth"), "seen": (first, "seen")}
    rows |= {line["method"]: (line["pictures"]["digits"], "filled") for line in lines}
    figure = Figure(figsize=(7.5, 0.3 + 0.55 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), 1, squeeze=False).ravel()
    for place, (name, (digits, part)) in zip(axes, rows.items(), strict=True):
        draw_digits(place, digits, part)
        place.set_ylabel(_literal(name), rotation=0, ha="right", va="center", fontsize=9)
    about = f"The digits {', '.join(labels)}: complete, as methods see them with gaps in blue, and"
    return _picture(figure, f"{about} with gaps filled by {', '.join(list(rows)[2:])}")


def draw_digits(place: Axes, digits: Mapping[str, Any], part: str, count: int = 10) -> None:
    """Digits of a line's picture side by side, dark on light.

    part : "truth", "filled", or "seen", where hidden pixels are blue
    """
    grey = 1 - unpacked_digits(digits, "truth" if part == "seen" else part) / 255
    pixels = np.repeat(grey[..., None], 3, axis=-1)
    if part == "seen":
        pixels[unpacked_digits(digits, "observed") == 0] = HIDDEN
    place.imshow(np.concatenate(pixels[:count], axis=1), interpolation="nearest")
    bare(place)


def feature_maps(lines: Sequence[Record]) -> Block | None:
    """Learned features in the plane (the paper's Figure 3): one scatter plot per method."""
    return _by_setting(lines, "features", lambda lines: [drawn("The features", _features, lines)])


def _features(lines: Sequence[Record]) -> Block:
    figure, axes = _grid(len(lines), 2.6, 2.7)
    for place, line in zip(axes, lines, strict=True):
        draw_features(place, line["pictures"]["features"])
        place.set_title(_literal(line["method"]), fontsize=9)
    methods = ", ".join(line["method"] for line in lines)
    return _picture(figure, f"Features in the plane, a colour per class, of {methods}")


def draw_features(place: Axes, features: Mapping[str, Any]) -> None:
    """Points of a line's picture, a colour per class, and the name of each class in its middle."""
    points = np.array([features[axis] for axis in "xy"], dtype=np.float64)  # (2, n)
    labels = np.array([clean(label) for label in features["label"]])
    finite = np.isfinite(points).all(axis=0)
    if not finite.any():
        raise ValueError("no points")
    step = math.ceil(finite.sum() / MAX_DOTS)
    points, labels = points[:, finite][:, ::step], labels[finite][::step]
    classes = sorted(set(labels), key=_order)
    codes = np.array([classes.index(label) % 10 for label in labels])
    place.scatter(points[0], points[1], c=codes, cmap="tab10", vmin=-0.5, vmax=9.5, s=3)
    for name in classes:
        x, y = np.median(points[:, labels == name], axis=1)
        place.text(x, y, _literal(name), ha="center", va="center", fontsize=11, weight="bold")
    bare(place)


def _order(name: str) -> tuple[bool, int, str]:
    """Numbers by size, then strings."""
    return not name.isdigit(), len(name) * name.isdigit(), name
