"""The whole graph of a model: raw columns or series, every family, the pool, the prediction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..data import PanelEncoder
from ..errors import ModelFileError
from ..estimators import predicts_steps
from ..metrics import SMALLEST
from ._graph import INT64, Graph
from ._onnx_densities import factors, predict_densities
from ._onnx_encoders import refused_rows
from ._onnx_networks import predict_linear, predict_rows, predict_series
from ._onnx_series import Series, read_series, summarise_series
from ._onnx_trees import predict_trees

Bounds = tuple[np.ndarray, np.ndarray]  # where groups by number of gaps begin, bounds of scores
# By name: a fitted family and raw columns (n, C) -> probabilities (n, classes), or scaled numbers
# (n, 1), double.
FAMILIES: dict[str, Callable[[Graph, Any, str], str]] = {
    "density": predict_densities,
    "factors": lambda g, family, x: predict_rows(
        g, family.family.model, factors(g, family.factors, x)
    ),
    "forest": predict_trees,
    "linear": predict_linear,
    "network": lambda g, family, x: predict_rows(g, family.model, x),
    "trees": predict_trees,
}


def build(model: Any, bounds: Bounds | None = None) -> Graph:
    """Build the graph of a fitted estimator; rows (or series) that it would refuse become NaN.

    With bounds there is a second output, the set of classes or the interval of each row.
    """
    unknown = [name for name in getattr(model, "families_", ()) if name not in FAMILIES]
    if unknown:
        raise ModelFileError(
            f"there is no ONNX graph of the family {unknown[0]!r} yet",
            f"Families that can be exported are {', '.join(FAMILIES)}",
            "Fit a blend of these, such as with families=['trees', 'network'], and export that",
        )
    if not isinstance(model.encoder_, PanelEncoder):
        return _table(model, bounds)
    if bounds is not None:
        raise ModelFileError(
            "the model reads series and a coverage is given",
            "Exported sets and intervals are for tables",
            "Export without a coverage, and ask for sets and intervals in Python",
        )
    return _series(model)


def _table(model: Any, bounds: Bounds | None) -> Graph:
    g = Graph()
    x = g.input("X", "double", ["rows", model.encoder_.n_columns])
    if hasattr(model, "families_"):
        predicted = _pooled(g, model, lambda name, family: FAMILIES[name](g, family, x))
    else:
        predicted = predict_rows(g, model, x)
    refused = refused_rows(g, model.encoder_.plans, x)
    answer = _finish(g, model, g("Where", refused, np.nan, predicted), ["rows"])
    if bounds is not None:
        _within(g, model, x, answer, *bounds)
    return g


def _within(g: Graph, model: Any, x: str, answer: str, starts: np.ndarray, limit: Any) -> None:
    """Declare the set of classes or the interval: which answers have a score below the bound."""
    axis = np.array([1])
    gaps = g("ReduceSum", g("Cast", g("IsNaN", x), to=INT64), axis)  # (rows, 1)
    reached = g("Cast", g("GreaterOrEqual", gaps, starts[None]), to=INT64)
    bound = g("Gather", limit, g("Sub", g("ReduceSum", reached, axis), 1))  # (rows, 1)
    classes = len(getattr(model, "classes_", ()))
    if not classes:
        number = g("Unsqueeze", answer, axis)
        ends = g("Concat", g("Sub", number, bound), g("Add", number, bound), axis=1)
        g.output("interval", ends, "double", ["rows", 2])
        return
    # The most probable class is always in the set. A refused row, of NaN, has no set.
    best = g("Equal", answer, g("ReduceMax", answer, axis))
    conforms = g("LessOrEqual", g("Sub", 1.0, answer), bound)
    known = g("Not", g("IsNaN", answer))
    g.output("set", g("And", known, g("Or", best, conforms)), "bool", ["rows", classes])


def _series(model: Any) -> Graph:
    g = Graph()
    series = read_series(g, model.encoder_)
    if hasattr(model, "families_"):
        predicted = _pooled(g, model, partial(_family_of_series, g, model, series))
    else:
        predicted = predict_series(g, model, series)
    if not predicts_steps(model):
        _finish(g, model, g("Where", series.refused, np.nan, predicted), ["series"])
        return g
    bad = g("Unsqueeze", series.refused, np.array([2]))
    good = g("And", series.within, g("Not", bad))  # padding has no prediction either
    predicted = g("Where", good, g("Reshape", predicted, series.by_step), np.nan)
    _finish(g, model, predicted, ["series", "steps"])
    return g


def _family_of_series(g: Graph, model: Any, series: Series, name: str, family: Any) -> str:
    """Networks read the series themselves, other families their summaries."""
    if name == "network":
        return predict_series(g, family.model, series)
    rows = summarise_series(g, model.encoder_, family.encoder, series)
    return FAMILIES[name](g, family, rows)


def _pooled(g: Graph, model: Any, predict: Callable[[str, Any], str]) -> str:
    """The weighted mean of the families, sharpened as `Pool` does it; (n, classes) or (n, 1)."""
    parts = [
        g("Mul", predict(name, family), float(model.weights_[name]))
        for name, family in model.families_.items()
    ]
    pooled = parts[0] if len(parts) == 1 else g("Sum", *parts)
    if model.sharpness_ == 1.0:
        return pooled
    logs = g("Log", g("Max", pooled, SMALLEST))
    return g("Softmax", g("Mul", logs, float(model.sharpness_)), axis=1)


def _finish(g: Graph, model: Any, predicted: str, shape: list[str]) -> str:
    """Declare the output: probabilities (…, classes), or of scaled (…, 1) the numbers (…,)."""
    if classes := len(getattr(model, "classes_", ())):
        g.output("probabilities", predicted, "double", [*shape, classes])
        return predicted
    number = g("Squeeze", predicted, np.array([-1]))
    number = g("Add", g("Mul", number, float(model.target_scale_)), float(model.target_mean_))
    g.output("prediction", number, "double", shape)
    return number
