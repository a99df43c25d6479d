"""LSTM and GRU cells as ONNX operations, one a member."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..gil import SequencePredictor
from ._graph import Graph
from ._networks import weight

# Where ONNX's gates stand among PyTorch's: input, forget, cell, output; reset, update, new.
GATES = {"lstm": [0, 3, 1, 2], "gru": [1, 0, 2]}


def hidden_states(g: Graph, net: SequencePredictor, x: str, lengths: str, shared: bool) -> str:
    """Hidden states of all members, after the last step or, per step, after each.

    Shapes: x (T, n, D), or (K, T, n, D) where members see different inputs, lengths (n,) int32
    -> (K, n, H), per step (K, n, T, H). What stands behind a series' last step has no influence.
    """
    cell = str(net.shape["cell"])
    options = {"linear_before_reset": 1} if cell == "gru" else {}  # PyTorch's kind of GRU
    order = GATES[cell]
    encoder: Any = net.encoder
    found = []
    for k in range(net.members):
        own = x if shared else g("Gather", x, np.int64(k), axis=0)
        w, r = (
            _gates(weight(matrix)[k], order)[None]
            for matrix in (encoder.input_weight, encoder.hidden_weight)
        )
        biases = [
            _gates(weight(bias)[k, 0], order) for bias in (encoder.input_bias, encoder.hidden_bias)
        ]
        bias = np.concatenate(biases)[None]
        every, last = g.several(
            cell.upper(), 2, own, w, r, bias, lengths, hidden_size=net.n_features, **options
        )
        found.append(every if net.per_step else last)
    if not net.per_step:
        return g("Concat", *found, axis=0)  # (1, n, H) each
    return g("Transpose", g("Concat", *found, axis=1), perm=[1, 2, 0, 3])  # (T, 1, n, H) each


def _gates(rows: np.ndarray, order: list[int]) -> np.ndarray:
    """The blocks of the gates, in ONNX's order."""
    blocks = np.split(rows, len(order))
    return np.concatenate([blocks[i] for i in order])
