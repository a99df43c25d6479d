"""The whole graph of a model for tables: raw columns, every family, the pool, the prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data import PanelEncoder
from ..errors import ModelFileError
from ..metrics import SMALLEST
from ._graph import Graph
from ._onnx_densities import predict_densities
from ._onnx_encoders import refused_rows
from ._onnx_networks import finish, predict_rows, series_graph
from ._onnx_trees import predict_trees

# By name: a fitted family and raw columns (n, C) -> probabilities (n, classes), or scaled numbers
# (n, 1), double.
FAMILIES: dict[str, Callable[[Graph, Any, str], str]] = {
    "density": predict_densities,
    "network": lambda g, family, x: predict_rows(g, family.model, x),
    "trees": predict_trees,
}


def build(model: Any) -> Graph:
    """Build the graph of a fitted estimator; rows (or series) that it would refuse become NaN."""
    families = getattr(model, "families_", None)
    unknown = [name for name in families or () if name not in FAMILIES]
    if unknown or (families and isinstance(model.encoder_, PanelEncoder)):
        what = f"the family {unknown[0]!r}" if unknown else "a blend for series"
        raise ModelFileError(
            f"there is no ONNX graph of {what} yet",
            "A blend for tables can be exported, and networks for tables and for series",
            "Fit a network, such as with --model network, and export that",
        )
    if isinstance(model.encoder_, PanelEncoder):
        return series_graph(model)
    g = Graph()
    x = g.input("X", "double", ["rows", model.encoder_.n_columns])
    predicted = predict_rows(g, model, x) if families is None else _pooled(g, model, x)
    refused = refused_rows(g, model.encoder_.plans, x)
    finish(g, model, g("Where", refused, np.nan, predicted), ["rows"])
    return g


def _pooled(g: Graph, model: Any, x: str) -> str:
    """The weighted mean of the families, sharpened as `Pool` does it; (n, classes) or (n, 1)."""
    parts = [
        g("Mul", FAMILIES[name](g, family, x), float(model.weights_[name]))
        for name, family in model.families_.items()
    ]
    pooled = parts[0] if len(parts) == 1 else g("Sum", *parts)
    if model.sharpness_ == 1.0:
        return pooled
    logs = g("Log", g("Max", pooled, SMALLEST))
    return g("Softmax", g("Mul", logs, float(model.sharpness_)), axis=1)
