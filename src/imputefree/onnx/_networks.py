"""The networks of an estimator as ONNX operations: dense layers, activations and the link.

All K members run side by side, as in PyTorch: a tensor has the members dimension from the first
layer on, or before it where members see different inputs (learned placeholder, gate).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..gil import Predictor
from ._graph import DOUBLE, Graph


def weight(parameter: Any) -> np.ndarray:
    """A parameter as an array of float32."""
    return parameter.detach().cpu().numpy()


def activate(g: Graph, x: str, name: str) -> str:
    """The activation of hidden layers."""
    if name == "gelu":
        share = g("Add", g("Erf", g("Mul", x, np.float32(1 / math.sqrt(2)))), np.float32(1))
        return g("Mul", g("Mul", x, share), np.float32(0.5))
    if name == "silu":
        return g("Mul", x, g("Sigmoid", x))
    return g({"relu": "Relu", "tanh": "Tanh"}[name], x)


def dense(g: Graph, layer: Any, x: str, beside: str | None = None, own: int = 0) -> str:
    """K linear layers; (n, D) or (K, n, D) -> (K, n, E).

    With `beside`, x holds the first `own` inputs and it the others: a product of its own, so that
    what all members share need not be repeated for each.
    """
    matrix = weight(layer.weight).transpose(0, 2, 1)  # (K, D, E)
    if beside is None:
        return g("Add", g("MatMul", x, matrix), weight(layer.bias))
    product = g("Add", g("MatMul", x, matrix[:, :own]), g("MatMul", beside, matrix[:, own:]))
    return g("Add", product, weight(layer.bias))


def filled(g: Graph, net: Predictor, values: str, observed: str) -> str:
    """The learned placeholder and the input gate, where there are.

    Shapes: values and observed (n, D) -> (n, D), or (K, n, D) where members differ.
    """
    if net.placeholder is not None:
        values = g("Where", observed, values, weight(net.placeholder))
    if net.gate is not None:
        gate = values
        for layer in net.gate:
            name = type(layer).__name__  # MemberLinear, or an activation
            gate = dense(g, layer, gate) if name == "MemberLinear" else g(_ONNX[name], gate)
        values = g("Mul", values, gate)
    return values


_ONNX = {"ReLU": "Relu", "Sigmoid": "Sigmoid"}


def raw_of_table(g: Graph, net: Predictor, values: str) -> str:
    """From filled inputs to the raw output; (n, D) or (K, n, D) -> (K, n, O)."""
    out = dense(g, net.encoder, values)
    if not net.linear_path:
        return infer(g, net, activate(g, out, str(net.shape["activation"])))
    widths = np.array([net.n_features, net.outputs])
    hidden, straight = g.several("Split", 2, out, widths, axis=2)
    return g("Add", infer(g, net, activate(g, hidden, str(net.shape["activation"]))), straight)


def infer(g: Graph, net: Predictor, features: str, beside: str | None = None) -> str:
    """Raw output (K, n, O) from features (K, n, E), and (n, b) or (K, n, b) beside them."""
    hidden = features
    for i, layer in enumerate(net.layers):
        if i > 0:
            hidden = activate(g, hidden, str(net.shape["activation"]))
        hidden = dense(g, layer, hidden, beside if i == 0 else None, net.n_features)
    return hidden


def predict(g: Graph, model: Any, raw: str) -> str:
    """What the estimator predicts, the mean over members: (K, n, O) -> (n, classes) or (n,)."""
    raw = g("Cast", raw, to=DOUBLE)
    members = np.array([0])
    if not hasattr(model, "classes_"):
        number = g("Squeeze", g("ReduceMean", raw, members, keepdims=0), np.array([1]))
        scaled = g("Mul", number, float(model.target_scale_))
        return g("Add", scaled, float(model.target_mean_))
    if len(model.classes_) != 2:
        return g("ReduceMean", g("Softmax", raw, axis=-1), members, keepdims=0)
    sides = [g("Sigmoid", g("Neg", raw)), g("Sigmoid", raw)]
    return g("ReduceMean", g("Concat", *sides, axis=2), members, keepdims=0)
