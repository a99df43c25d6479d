"""Trees as one TreeEnsembleRegressor, which sends a missing value the way training did."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper

from ..families import NEARLY_ZERO, NO_SHARE, ForestFamily, TreeEnsemble, TreeFamily
from ._graph import DOUBLE, ML_DOMAIN, Graph
from ._onnx_encoders import unscaled_entries
from ._onnx_networks import shares_of


def predict_trees(g: Graph, family: TreeFamily, x: str) -> str:
    """Raw columns (n, C) double -> probabilities (n, classes), or scaled numbers (n, 1), double.

    Thresholds and leaves are double, as in Python: a value at a threshold goes the same way. Only
    the sum comes as float, which is what the operation returns.
    """
    x = g("Where", g("LessOrEqual", g("Abs", x), NEARLY_ZERO), 0.0, x)
    entries, seen = unscaled_entries(g, family.encoder, x)
    inputs = g("Where", seen, entries, np.nan)
    attributes = ensemble_attributes(family.trees)
    raw = g("TreeEnsembleRegressor", inputs, domain=ML_DOMAIN, **attributes)
    raw = g("Cast", raw, to=DOUBLE)
    if not (isinstance(family, ForestFamily) and family.n_classes):
        return shares_of(g, raw, family.n_classes)
    raw = g("Clip", raw, 0.0, 1.0)
    shares = g("Concat", g("Sub", 1.0, raw), raw, axis=-1) if family.n_classes == 2 else raw
    shares = g("Add", shares, NO_SHARE)
    return g("Div", shares, g("ReduceSum", shares, np.array([1]), keepdims=1))


def ensemble_attributes(trees: TreeEnsemble) -> dict[str, Any]:
    """Attributes of the operation; a tree's nodes are its splits, then its leaves.

    >>> split = {"feature": [0], "threshold": [1.5], "missing_left": [True], "left": [~0],
    ...          "right": [~1], "value": [-1.0, 1.0], "splits": [1], "leaves": [2]}
    >>> attributes = ensemble_attributes(TreeEnsemble.of_arrays(split, n_inputs=1, n_outputs=1))
    >>> attributes["nodes_modes"], attributes["nodes_falsenodeids"]
    (['BRANCH_LEQ', 'LEAF', 'LEAF'], [2, 0, 0])
    """
    tree = np.arange(len(trees.splits))
    split_tree, leaf_tree = np.repeat(tree, trees.splits), np.repeat(tree, trees.leaves)
    leaf_node = _places(trees.leaves) + trees.splits[leaf_tree]
    # Node by node, in the order of the trees.
    order = np.argsort(np.concatenate([split_tree, leaf_tree]), kind="stable")

    def nodes(of_splits: np.ndarray, of_leaves: Any = 0) -> np.ndarray:
        return np.concatenate([of_splits, np.broadcast_to(of_leaves, len(leaf_tree))])[order]

    def child(side: np.ndarray) -> list[int]:
        return nodes(np.where(side >= 0, side, trees.splits[split_tree] + ~side)).tolist()

    is_split = nodes(np.ones(len(split_tree), dtype=bool))
    return {
        "n_targets": trees.n_outputs,
        "nodes_treeids": nodes(split_tree, leaf_tree).tolist(),
        "nodes_nodeids": nodes(_places(trees.splits), leaf_node).tolist(),
        "nodes_modes": np.where(is_split, "BRANCH_LEQ", "LEAF").tolist(),
        "nodes_featureids": nodes(trees.feature).tolist(),
        "nodes_values_as_tensor": numpy_helper.from_array(nodes(trees.threshold), "thresholds"),
        "nodes_missing_value_tracks_true": nodes(trees.missing_left).astype(int).tolist(),
        "nodes_truenodeids": child(trees.left),
        "nodes_falsenodeids": child(trees.right),
        "target_treeids": leaf_tree.tolist(),
        "target_nodeids": leaf_node.tolist(),
        "target_ids": (leaf_tree % trees.n_outputs).tolist(),
        "target_weights_as_tensor": numpy_helper.from_array(trees.value, "leaves"),
    }


def _places(counts: np.ndarray) -> np.ndarray:
    """0, 1, … for each of these counts, one after the other.

    >>> _places(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
