"""What an exported model takes: described in the file's metadata, made from a frame by `encode`.

The metadata are one JSON string in the ONNX file, so that any language can prepare the inputs:
names and order of the columns, which are categories, and their levels in order.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from ..data import (
    Category,
    Columns,
    Panel,
    PanelEncoder,
    TableEncoder,
    check_statics,
    prediction_panel,
    read_columns,
)
from ..errors import ModelFileError, UnseenCategoryWarning, shorten
from ..estimators import predicts_steps
from ..io import model_digest

KEY = "imputefree"
FORMAT = 1
TABLE = """X (rows, columns) double: one column for each of `columns`, in that order."""
SERIES = """X (series, steps, columns) double: one column for each of `columns`, in that order,
padded at the end to the longest series with anything; lengths (series,) int64: number of steps
without the padding; times (series, steps) double: when each step was, increasing, in the unit of
training (0, 1, 2, … if it had no times; hours if it had dates); static (series, statics) double, if
there are `static` columns."""
VALUES = """NaN is missing. A category is the position, from 0, of its level in `levels`; a level
that is not listed is NaN. Integers as categories are written without a decimal point, true and
false as 1 and 0. Rows (or series) that hold infinity, a number that is not a level, or times that
do not increase give NaN."""
CLASSES = "Output: probabilities ({}, classes) double, in the order of `classes`."
NUMBERS = "Output: prediction ({}) double."
SETS = "Also: set (rows, classes) bool, whether a class belongs to the set of a row."
INTERVALS = "Also: interval (rows, 2) double, its low and its high end."


def metadata_of(model: Any, within: bool = False) -> dict[str, Any]:
    """Columns, classes and origin of a fitted estimator, as plain JSON types.

    within : whether the file also gives sets or intervals
    """
    encoder = model.encoder_
    series = isinstance(encoder, PanelEncoder)
    steps = encoder.steps if series else encoder
    statics = encoder.statics if series else None
    classes = getattr(model, "classes_", None)
    per_step = predicts_steps(model)
    rows = ("series, steps" if per_step else "series") if series else "rows"
    output = (NUMBERS if classes is None else CLASSES).format(rows)
    if within:
        output += f" {INTERVALS if classes is None else SETS}"
    words = f"{SERIES if series else TABLE} {VALUES} {output}"
    return {
        "format": FORMAT,
        "imputefree": version("imputefree"),
        "estimator": type(model).__name__,
        "task": "regression" if classes is None else "classification",
        "target": (getattr(model, "about_", None) or {}).get("target"),
        "classes": None if classes is None else classes.tolist(),
        "named": steps.named,
        "columns": _described(steps),
        "static": None if statics is None else _described(statics),
        "layout": getattr(model, "layout_", None) if series else None,
        "per_step": per_step,
        "inputs": " ".join(words.split()),
        "sha256": model_digest(model),
    }


def _described(encoder: TableEncoder) -> list[dict[str, Any]]:
    return [
        {"name": plan.name, "kind": "category", "levels": plan.all_levels}
        if isinstance(plan, Category)
        else {"name": plan.name, "kind": "number"}
        for plan in encoder.plans
    ]


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the metadata of an exported model."""
    import onnx

    try:
        properties = {entry.key: entry.value for entry in onnx.load(os.fspath(path)).metadata_props}
        return json.loads(properties[KEY])
    except OSError as error:
        fact = f"{path} cannot be read ({error.strerror or error})"
        raise ModelFileError(fact, "", "Check path and permissions") from None
    except Exception:  # an error of protobuf, or not our key
        fact = f"{path} is not a model exported by imputefree"
        rule = "Columns and levels are read from what `imputefree export` wrote"
        raise ModelFileError(fact, rule, "Export the model again") from None


def encode(source: Any, X: Any) -> dict[str, np.ndarray]:
    """Make the inputs of an exported model, by name, from a table or series with gaps.

    Columns are matched by name; wrong or missing columns are refused as the estimator does. A
    category that training never saw becomes NaN, with a warning. Series come in the order of their
    first appearance.

    Parameters
    ----------
    source : the metadata (see `read_metadata`), or the path of the ONNX file
    X : as for `predict` of the estimator

    Examples
    --------
    >>> about = {"columns": [{"name": "age", "kind": "number"},
    ...                      {"name": "sex", "kind": "category", "levels": ["f", "m"]}],
    ...          "named": True, "static": None, "layout": None}
    >>> import pandas as pd
    >>> encode(about, pd.DataFrame({"sex": ["m", None], "age": [None, 40]}))
    {'X': array([[nan,  1.],
           [40., nan]])}
    """
    about: Mapping[str, Any] = source if isinstance(source, Mapping) else read_metadata(source)
    steps = _encoder(about["columns"], about["named"])
    if about["layout"] is None:
        return {"X": as_tensor(steps, read_columns(X))}
    statics = None if about["static"] is None else _encoder(about["static"], True)
    named = [[] if part is None or not part.named else part.names for part in (steps, statics)]
    panel = prediction_panel(X, about["layout"], None, named[0] or None, named[1])
    return panel_inputs(panel, steps, statics)


def _encoder(columns: list[dict[str, Any]], named: bool) -> TableEncoder:
    """An encoder that knows names, kinds and levels, but no scales."""
    state = {"owner": "encode", "indicator": False, "named": named, "plans": columns}
    return TableEncoder.from_state(state)


def panel_inputs(
    panel: Panel, steps: TableEncoder, statics: TableEncoder | None
) -> dict[str, np.ndarray]:
    """Series padded with NaN to the longest."""
    check_statics(statics, panel)
    width = int(panel.lengths.max())
    within = np.arange(width) < panel.lengths[:, None]  # (n, T)
    X = np.full((panel.n_rows, width, steps.n_columns), np.nan)
    times = np.full((panel.n_rows, width), np.nan)
    X[within], times[within] = as_tensor(steps, panel.steps), panel.times
    inputs = {"X": X, "lengths": panel.lengths.astype(np.int64), "times": times}
    if statics is not None and panel.statics is not None:
        inputs["static"] = as_tensor(statics, panel.statics)
    return inputs


def as_tensor(encoder: TableEncoder, columns: Columns) -> np.ndarray:
    """Columns as numbers, categories as the numbers of their levels; -> (n, columns)."""
    tensor = np.empty((columns.n_rows, encoder.n_columns))
    unseen = []
    arrays = encoder.arranged(columns).arrays
    for j, (plan, array) in enumerate(zip(encoder.plans, arrays, strict=True)):
        if not isinstance(plan, Category):
            tensor[:, j] = array
            continue
        number = {level: float(i) for i, level in enumerate(plan.all_levels)}
        tensor[:, j] = [number.get(level, np.nan) for level in array]
        if new := sorted({level for level in array if level is not None} - set(number)):
            unseen.append(f"{plan.name!r}: {shorten(new)}")
    if unseen:
        warnings.warn(
            f"Categories that training never saw count as missing. {'; '.join(unseen)}",
            UnseenCategoryWarning,
            stacklevel=3,
        )
    return tensor
