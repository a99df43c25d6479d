"""From a frame to the tensors that an exported model takes, by what its metadata say."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data import (
    Category,
    Columns,
    Number,
    Panel,
    Plan,
    TableEncoder,
    prediction_panel,
    read_columns,
    shorten,
)
from ..errors import InputError, UnseenCategoryWarning
from ._metadata import levels_of, read_metadata


def encode(source: Any, X: Any) -> dict[str, np.ndarray]:
    """The inputs of an exported model, by name, for a table or for series with gaps.

    Columns are matched by name; those of the wrong kind, or lacking, are refused as the estimator
    does. A category that training never saw is NaN, with a warning. Series come in the order of
    their first appearance.

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
    if about["layout"] is None:
        return {"X": numbers(_encoder(about["columns"], about["named"]), read_columns(X))}
    steps = _encoder(about["columns"], about["named"])
    statics = None if about["static"] is None else _encoder(about["static"], True)
    named = [[] if part is None or not part.named else part.names for part in (steps, statics)]
    panel = prediction_panel(X, about["layout"], None, named[0] or None, named[1])
    return panel_inputs(panel, steps, statics)


def panel_inputs(
    panel: Panel, steps: TableEncoder, statics: TableEncoder | None
) -> dict[str, np.ndarray]:
    """Series padded to the longest, NaN behind their ends."""
    series, width = panel.series, int(panel.lengths.max())
    place = np.arange(len(series)) - np.repeat(
        np.cumsum(panel.lengths) - panel.lengths, panel.lengths
    )
    X = np.full((panel.n_rows, width, steps.n_columns), np.nan)
    X[series, place] = numbers(steps, panel.steps)
    times = np.full((panel.n_rows, width), np.nan)
    times[series, place] = panel.times
    found = {"X": X, "lengths": panel.lengths.astype(np.int64), "times": times}
    if (statics is None) != (panel.statics is None):
        raise InputError(
            f"static columns are {'not ' * (panel.statics is None)}given",
            f"Training had {'none' if statics is None else shorten(statics.names)}",
            "Pass static= as in training, with NaN for what is unknown",
        )
    if statics is not None and panel.statics is not None:
        found["static"] = numbers(statics, panel.statics)
    return found


def numbers(encoder: TableEncoder, columns: Columns) -> np.ndarray:
    """Columns as numbers, categories as those of their levels; -> (n, columns)."""
    out = np.empty((columns.n_rows, encoder.n_columns))
    unseen = {}
    arrays = encoder.arranged(columns).arrays
    for j, (plan, array) in enumerate(zip(encoder.plans, arrays, strict=True)):
        if not isinstance(plan, Category):
            out[:, j] = array
            continue
        known = {level: i for i, level in enumerate(levels_of(plan))}
        out[:, j] = [known.get(text, np.nan) for text in array]
        new = sorted({text for text in array if text is not None and text not in known})
        if new:
            unseen[plan.name] = new
    if unseen:
        parts = [f"{name!r}: {shorten(levels)}" for name, levels in unseen.items()]
        warnings.warn(
            "Categories that training never saw are missing. " + "; ".join(parts),
            UnseenCategoryWarning,
            stacklevel=3,
        )
    return out


def _encoder(columns: list[dict[str, Any]], named: bool) -> TableEncoder:
    """An encoder that knows names, kinds and levels, and no scales."""
    encoder = TableEncoder()
    encoder.named = named
    plans: list[Plan] = []
    for column in columns:
        if column["kind"] == "category":
            plans.append(Category(column["name"], False, column["levels"], []))
        else:
            plans.append(Number(column["name"], False, 0.0, 1.0, [], [], []))
    encoder.plans = plans
    return encoder
