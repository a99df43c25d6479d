"""Networks as ONNX operations, from raw columns or series to predictions.

All K members run side by side, as in PyTorch: a tensor has the members dimension from the first
layer on, or earlier where members see different inputs (learned placeholder, gate).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data import SOFT_LIMIT
from ..families import BENT, LinearFamily
from ..gil import Predictor, SequencePredictor
from ._graph import DOUBLE, FLOAT, INT32, INT64, Graph
from ._onnx_encoders import Encoded, encode_columns, times_since
from ._onnx_series import Series, summarise_series

ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "ReLU": "Relu", "Sigmoid": "Sigmoid"}
# PyTorch's positions of the gates in ONNX's order: input, output, forget, cell; update, reset, new.
GATES = {"lstm": [0, 3, 1, 2], "gru": [1, 0, 2]}


def predict_rows(g: Graph, model: Any, x: str) -> str:
    """Raw columns (n, C) double -> probabilities (n, classes), or scaled numbers (n, 1), double."""
    net = model.predictor_
    table = encode_columns(g, model.encoder_, x, model.placeholder_)
    values, observed = _joined(g, table)
    out = _dense(g, net.encoder, _filled(g, net, values, observed))
    if not net.linear_path:
        return _mean_of_members(g, model, _infer(g, net, _activated(g, net, out)))
    widths = np.array([net.n_features, net.outputs])
    hidden, straight = g.several("Split", 2, out, widths, axis=2)
    raw = g("Add", _infer(g, net, _activated(g, net, hidden)), straight)
    return _mean_of_members(g, model, raw)


def predict_linear(g: Graph, family: LinearFamily, x: str) -> str:
    """Raw columns (n, C) double -> probabilities (n, classes), or scaled numbers (n, 1), double."""
    inputs, _ = _joined(g, encode_columns(g, family.encoder, x, 0.0))
    inputs = g("Cast", inputs, to=DOUBLE)
    bent = g("Clip", inputs, -BENT, BENT)
    straight = g("Sqrt", g("Sub", 1.0, g("Pow", g("Div", bent, SOFT_LIMIT), 2.0)))
    is_value = np.arange(family.slopes.shape[1]) < family.n_values
    inputs = g("Where", is_value, g("Div", bent, straight), inputs)
    product = g("MatMul", inputs, family.slopes.T)
    return shares_of(g, g("Add", product, family.levels), family.n_classes)


def predict_series(g: Graph, model: Any, series: Series) -> str:
    """Series -> probabilities (n, classes), or scaled numbers (n, 1), double; per step (n·T, …)."""
    encoder, net = model.encoder_, model.predictor_
    steps, within, by_step = series.steps, series.within, series.by_step
    table = encode_columns(g, encoder, series.rows, model.placeholder_)
    since = times_since(g, encoder, series.times, g("Reshape", table.seen, by_step), steps)
    values, observed = _joined(g, table, since)
    # The networks: inputs (n·T, D) -> raw output (K, n, O), or per step (K, n·T, O).
    shared = net.placeholder is None and net.gate is None  # all members see the same inputs
    by_member = by_step if shared else g("Concat", np.array([net.members]), by_step, axis=0)
    x = g("Reshape", _filled(g, net, values, observed), by_member)
    x = g("Where", within, x, np.float32(0))  # (n, T, D) or (K, n, T, D)
    extra = straight = None
    if net.summarised:
        rows, seen = (g("Reshape", tensor, by_step) for tensor in (values, observed))
        seen = g("And", seen, within)
        if net.gate is not None:  # gaps are not summarised, so only a gate makes members differ
            rows, seen = x, g("Expand", seen, g("Shape", x))
        rows, seen = (g("Gather", t, np.arange(net.summarised), axis=-1) for t in (rows, seen))
        members = [] if net.gate is None else [net.members]
        extra = _running_summary(g, rows, seen, series)
        extra = g("Reshape", extra, np.array([*members, -1, net.n_extra]))
    if net.summary is not None:
        rows = summarise_series(g, encoder, encoder.summaries, series)
        summaries, _ = _joined(g, encode_columns(g, encoder.summaries, rows, 0.0))
        widths = np.array([net.n_extra, net.outputs])
        out = _dense(g, net.summary, summaries)
        extra, straight = g.several("Split", 2, out, widths, axis=2)
        extra = _activated(g, net, extra)
    time_first = g("Transpose", x, perm=[1, 0, 2] if shared else [0, 2, 1, 3])
    features = _hidden_states(g, net, time_first, g("Cast", series.lengths, to=INT32), shared)
    if net.per_step:
        features = g("Reshape", features, np.array([net.members, -1, net.n_features]))
    raw = _infer(g, net, features, extra)
    raw = raw if straight is None else g("Add", raw, straight)
    return _mean_of_members(g, model, raw)


def _joined(g: Graph, table: Encoded, since: Sequence[str] = ()) -> tuple[str, str]:
    """All inputs in the order of the encoders, and which are observed; (n, D) each.

    Indicators and times are always observed.
    """
    always = [*table.indicators, *since]
    values = g("Concat", *table.entries, *always, axis=1)
    return values, g("Concat", *table.observed, *(g("Equal", t, t) for t in always), axis=1)


def _weight(parameter: Any) -> np.ndarray:
    return parameter.detach().cpu().numpy()


def _activated(g: Graph, net: Predictor, x: str) -> str:
    """The activation of hidden layers."""
    name = str(net.shape["activation"])
    if name == "gelu":
        share = g("Add", g("Erf", g("Mul", x, np.float32(1 / math.sqrt(2)))), np.float32(1))
        return g("Mul", g("Mul", x, share), np.float32(0.5))
    if name == "silu":
        return g("Mul", x, g("Sigmoid", x))
    return g(ACTIVATIONS[name], x)


def _dense(g: Graph, layer: Any, x: str, extra: str | None = None, width: int = 0) -> str:
    """K linear layers; (n, D) or (K, n, D) -> (K, n, E).

    With `extra`, x holds the first `width` inputs and `extra` the others. They get their own
    product, so that what all members share is not repeated for each.
    """
    matrix = _weight(layer.weight).transpose(0, 2, 1)  # (K, D, E)
    if extra is None:
        product = g("MatMul", x, matrix)
    else:
        first, rest = matrix[:, :width], matrix[:, width:]
        product = g("Add", g("MatMul", x, first), g("MatMul", extra, rest))
    return g("Add", product, _weight(layer.bias))


def _filled(g: Graph, net: Predictor, values: str, observed: str) -> str:
    """Apply the learned placeholder and the input gate, where there are any.

    Shapes: values and observed (n, D) -> (n, D), or (K, n, D) where members differ.
    """
    if net.placeholder is not None:
        values = g("Where", observed, values, _weight(net.placeholder))
    if net.gate is not None:
        gate = values
        for layer in net.gate:
            name = type(layer).__name__  # MemberLinear, or an activation
            gate = _dense(g, layer, gate) if name == "MemberLinear" else g(ACTIVATIONS[name], gate)
        values = g("Mul", values, gate)
    return values


def _infer(g: Graph, net: Predictor, features: str, extra: str | None = None) -> str:
    """Raw output (K, n, O) from features (K, n, E) and others (n, S) or (K, n, S)."""
    hidden = features
    for i, layer in enumerate(net.layers):
        if i > 0:
            hidden = _activated(g, net, hidden)
        hidden = _dense(g, layer, hidden, extra if i == 0 else None, net.n_features)
    return hidden


def _hidden_states(g: Graph, net: SequencePredictor, x: str, lengths: str, shared: bool) -> str:
    """Hidden states of all members, after the last step or, per step, after each.

    Shapes: x (T, n, D), or (K, T, n, D) where members see different inputs, lengths (n,) int32
    -> (K, n, H), per step (K, n, T, H). Padding has no influence.
    """
    cell = str(net.shape["cell"])
    options = {"linear_before_reset": 1} if cell == "gru" else {}  # PyTorch's variant of the GRU
    encoder: Any = net.encoder
    states = []
    for k in range(net.members):
        inputs = x if shared else g("Gather", x, np.int64(k), axis=0)
        weights = [
            _in_onnx_order(_weight(matrix)[k], cell)[None]
            for matrix in (encoder.input_weight, encoder.hidden_weight)
        ]
        biases = [
            _in_onnx_order(_weight(bias)[k, 0], cell)
            for bias in (encoder.input_bias, encoder.hidden_bias)
        ]
        every, last = g.several(
            cell.upper(),
            2,
            inputs,
            *weights,
            np.concatenate(biases)[None],
            lengths,
            hidden_size=net.n_features,
            **options,
        )
        states.append(every if net.per_step else last)
    if not net.per_step:
        return g("Concat", *states, axis=0)  # (1, n, H) each
    return g("Transpose", g("Concat", *states, axis=1), perm=[1, 2, 0, 3])  # (T, 1, n, H) each


def _in_onnx_order(rows: np.ndarray, cell: str) -> np.ndarray:
    """Reorder the blocks of the gates."""
    blocks = np.split(rows, len(GATES[cell]))
    return np.concatenate([blocks[i] for i in GATES[cell]])


def _running_summary(g: Graph, values: str, observed: str, series: Series) -> str:
    """Seven statistics per column up to each step, see `gil.running_summary`.

    Shapes: values (…, T, S) float, observed (…, T, S) -> (…, T, 7 S) float.
    Sums are double: the spread is a difference of squares, of which float32 leaves little.
    """
    x = g("Cast", values, to=DOUBLE)
    known = g("Where", observed, x, 0.0)
    above, below = g("Where", observed, x, -np.inf), g("Where", observed, g("Neg", x), -np.inf)
    summed = g("Cast", observed, to=DOUBLE), known, g("Mul", known, known)
    steps, step = series.steps, g("Transpose", series.clock)  # (1,) and (T, 1)
    place = g("Cast", g("Where", observed, step, 0), to=DOUBLE)
    count, total, squares = (g("CumSum", part, np.int64(-2)) for part in summed)
    highest, lowest = g.running_max(above, steps), g("Neg", g.running_max(below, steps))
    place = g("Cast", g.running_max(place, steps), to=INT64)
    last = g("GatherElements", known, place, axis=-2)
    opening = g("And", observed, g("Equal", count, 1.0))
    first = g("CumSum", g("Where", opening, known, 0.0), np.int64(-2))
    some = g("Greater", count, 0.0)
    number = g("Max", count, 1.0)
    mean = g("Div", total, number)
    variance = g("Sub", g("Div", squares, number), g("Mul", mean, mean))
    spread = g("Sqrt", g("Max", variance, 1e-12))
    parts = [mean, *(g("Where", some, part, 0.0) for part in (spread, highest, lowest))]
    parts += [last, g("Sub", last, first), g("Mul", g("Log", g("Add", count, 1.0)), 0.5)]
    return g("Cast", g("Concat", *parts, axis=-1), to=FLOAT)


def _mean_of_members(g: Graph, model: Any, raw: str) -> str:
    """(K, n, O) -> probabilities (n, classes), or scaled numbers (n, 1), double."""
    shares = shares_of(g, g("Cast", raw, to=DOUBLE), len(getattr(model, "classes_", ())))
    return g("ReduceMean", shares, np.array([0]), keepdims=0)


def shares_of(g: Graph, raw: str, n_classes: int) -> str:
    """Probabilities (…, classes) from raw outputs (…, O); the numbers as they are for 0 classes."""
    if n_classes == 2:
        return g("Concat", g("Sigmoid", g("Neg", raw)), g("Sigmoid", raw), axis=-1)
    return g("Softmax", raw, axis=-1) if n_classes else raw
