"""The whole way from raw columns to a prediction as one graph, for tables and for series."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import PanelEncoder
from ._graph import FLOAT, INT32, Graph
from ._networks import filled, infer, predict, raw_of_table
from ._onnx_columns import Encoded, encode_columns
from ._onnx_summaries import summary
from ._onnx_times import any_of, not_rising, times_since
from ._recurrent_cells import hidden_states


def build(model: Any) -> Graph:
    """The graph of a fitted estimator; rows (or series) that it would refuse come out as NaN."""
    g = Graph()
    return _series(g, model) if isinstance(model.encoder_, PanelEncoder) else _table(g, model)


def _table(g: Graph, model: Any) -> Graph:
    encoder, net = model.encoder_, model.predictor_
    x = g.input("X", "double", ["rows", encoder.n_columns])
    table = encode_columns(g, encoder, x, model.placeholder_)
    values, observed = _joined(g, [table], [])
    found = predict(g, model, raw_of_table(g, net, filled(g, net, values, observed)))
    refused = table.refused if _classes(model) else g("Squeeze", table.refused, np.array([1]))
    _out(g, model, g("Where", refused, np.nan, found), ["rows"])
    return g


def _series(g: Graph, model: Any) -> Graph:
    encoder, net = model.encoder_, model.predictor_
    x = g.input("X", "double", ["series", "steps", encoder.steps.n_columns])
    lengths = g.input("lengths", "int64", ["series"])
    times = g.input("times", "double", ["series", "steps"])
    steps = g("Shape", x, start=1, end=2)  # (1,)
    within = g("Min", g("Max", lengths, 1), steps)
    wrong = [g("Unsqueeze", g("Not", g("Equal", within, lengths)), np.array([1]))]
    clock = g("Unsqueeze", g("Range", 0, g("Squeeze", steps), 1), np.array([0]))
    valid = g("Less", clock, g("Unsqueeze", within, np.array([1])))  # (n, T)
    each = g("Unsqueeze", valid, np.array([2]))
    # Whatever stands behind the last step must not matter, be it NaN or infinity.
    x, times = g("Where", each, x, np.nan), g("Where", valid, times, 0.0)
    wrong.append(not_rising(g, times, valid))
    width = encoder.steps.n_columns
    table = encode_columns(
        g, encoder.steps, g("Reshape", x, np.array([-1, width])), model.placeholder_
    )
    unflat = g("Concat", g("Shape", x, end=2), np.array([-1]), axis=0)  # n, T, whatever it is
    wrong.append(any_of(g, g("Reshape", table.refused, g("Shape", x, end=2))))
    parts = [table]
    if encoder.statics is not None:
        static = g.input("static", "double", ["series", encoder.statics.n_columns])
        constant = encode_columns(g, encoder.statics, static, model.placeholder_)
        wrong.append(constant.refused)
        parts.append(_repeated(g, constant, x))
    seen = g("Reshape", table.seen, unflat)
    since = times_since(g, encoder, times, seen, steps)
    beside = [] if since is None else [g("Reshape", since, np.array([-1, _times(encoder)]))]
    values, observed = _joined(g, parts, beside)
    raw = _raw_of_series(g, net, values, observed, each, within, steps, unflat)
    found = predict(g, model, raw)
    refused = g("Greater", g("Sum", *(g("Cast", one, to=FLOAT) for one in wrong)), np.float32(0))
    _series_out(g, model, found, refused, valid, x)
    return g


def _raw_of_series(
    g: Graph,
    net: Any,
    values: str,
    observed: str,
    each: str,
    lengths: str,
    steps: str,
    unflat: str,
) -> str:
    """From inputs (n·T, D) to the raw output, (K, n, O) or per step (K, n·T, O)."""
    shared = net.placeholder is None and net.gate is None
    x = g("Reshape", filled(g, net, values, observed), _shape(g, net, unflat, shared))
    x = g("Where", each, x, np.float32(0))  # (n, T, D) or (K, n, T, D)
    beside = None
    if net.summarised:
        seen = g("And", g("Reshape", observed, unflat), each)
        # What stands in gaps is not summarised, so only a gate makes members differ.
        alike = net.gate is None
        rows = g("Reshape", values, unflat) if alike else x
        seen = seen if alike else g("Expand", seen, g("Shape", x))
        first = np.arange(net.summarised)
        rows, seen = (g("Gather", part, first, axis=-1) for part in (rows, seen))
        beside = summary(g, rows, seen, steps, net.per_step)
        if net.per_step:
            members = [] if alike else [net.members]
            beside = g("Reshape", beside, np.array([*members, -1, net.n_beside]))
    turned = g("Transpose", x, perm=[1, 0, 2] if shared else [0, 2, 1, 3])
    features = hidden_states(g, net, turned, g("Cast", lengths, to=INT32), shared)
    if net.per_step:
        features = g("Reshape", features, np.array([net.members, -1, net.n_features]))
    return infer(g, net, features, beside)


def _shape(g: Graph, net: Any, unflat: str, shared: bool) -> str:
    """n, T, D, after the members where these differ."""
    return unflat if shared else g("Concat", np.array([net.members]), unflat, axis=0)


def _joined(g: Graph, parts: list[Encoded], beside: list[str]) -> tuple[str, str]:
    """All inputs in the order of the encoders, and which are observed: (n, D) each.

    Indicators and times are always observed.
    """
    entries = [part.entries for part in parts if part.entries is not None]
    others = [part.indicators for part in parts if part.indicators is not None] + beside
    values = g("Concat", *entries, *others, axis=1)
    seen = [part.observed for part in parts if part.observed is not None]
    always = [g("Equal", one, one) for one in others]
    return values, g("Concat", *seen, *always, axis=1)


def _repeated(g: Graph, constant: Encoded, x: str) -> Encoded:
    """Static inputs at every step; (n, d) -> (n·T, d)."""

    def at_steps(part: str | None) -> str | None:
        if part is None:
            return None
        width = g("Shape", part, start=1)
        shape = g("Concat", g("Shape", x, end=2), width, axis=0)
        every = g("Expand", g("Unsqueeze", part, np.array([1])), shape)
        return g("Reshape", every, g("Concat", np.array([-1]), width, axis=0))

    return Encoded(
        at_steps(constant.entries),
        at_steps(constant.indicators),
        constant.seen,
        at_steps(constant.observed),
        constant.refused,
    )


def _times(encoder: PanelEncoder) -> int:
    """How many inputs are times."""
    return len(encoder._with_time()) + encoder.uneven


def _series_out(g: Graph, model: Any, found: str, refused: str, valid: str, x: str) -> None:
    """NaN for refused series and, per step, behind the last one."""
    classes = _classes(model)
    if not model.predictor_.per_step:
        refused = refused if classes else g("Squeeze", refused, np.array([1]))
        _out(g, model, g("Where", refused, np.nan, found), ["series"])
        return
    shape = g("Shape", x, end=2)
    if classes:
        shape = g("Concat", shape, np.array([classes]), axis=0)
    good = g("And", valid, g("Not", refused))
    if classes:
        good = g("Unsqueeze", good, np.array([2]))
    _out(g, model, g("Where", good, g("Reshape", found, shape), np.nan), ["series", "steps"])


def _classes(model: Any) -> int:
    """How many classes there are; 0 for numbers."""
    return len(getattr(model, "classes_", ()))


def _out(g: Graph, model: Any, found: str, shape: list[Any]) -> None:
    if classes := _classes(model):
        g.output("probabilities", found, "double", [*shape, classes])
    else:
        g.output("prediction", found, "double", shape)
