"""A sum of decision trees as plain arrays: checked, kept in model files, predicted by LightGBM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import lightgbm
import numpy as np

MISSING_LEFT, NAN_IS_MISSING = 2, 8  # bits of LightGBM's decision_type
LARGEST = np.finfo(np.float64).max  # means infinity: all values go left, gaps may go right
NEARLY_ZERO = float(np.float32(1e-35))  # LightGBM reads values of at most this size as 0
MOST_PATHS = 2**21  # rows times trees that go down by NumPy: 100 MB
SMALL = 64  # rows up to which one thread is faster than waking up others


@dataclass(frozen=True)
class TreeEnsemble:
    """T trees with N splits and L leaves in all, one tree after the other.

    feature : (N,) int32, the input that a split looks at
    threshold : (N,) float64; a row goes left if its value is not above it (tiny values are 0)
    missing_left : (N,) bool, where a missing value goes
    left, right : (N,) int32, the next split, counted within the tree, or ~leaf
    value : (L,) float64, what a leaf adds
    splits, leaves : (T,) int32, how many of each a tree has
    n_inputs, n_outputs : tree t adds to output t % n_outputs

    >>> split = {"feature": [0], "threshold": [1.5], "missing_left": [True], "left": [~0],
    ...          "right": [~1], "value": [-1.0, 1.0], "splits": [1], "leaves": [2]}
    >>> stump = TreeEnsemble.of_arrays(split, n_inputs=1, n_outputs=1)
    >>> stump.predict(np.array([[1.0], [2.0], [np.nan]])).ravel()
    array([-1.,  1., -1.])
    """

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    splits: np.ndarray
    leaves: np.ndarray
    n_inputs: int
    n_outputs: int

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any], n_inputs: int, n_outputs: int) -> TreeEnsemble:
        """From array-likes by name, checked: a ValueError says what does not fit."""
        typed = {name: np.asarray(arrays[name], dtype) for name, dtype in DTYPES.items()}
        ensemble = cls(**typed, n_inputs=n_inputs, n_outputs=n_outputs)
        ensemble.check()
        return ensemble

    def check(self) -> None:
        """Raise a ValueError unless these are whole trees: every node is reached exactly once."""
        n, trees = len(self.feature), len(self.splits)
        same = all(getattr(self, name).shape == (n,) for name in PER_SPLIT)
        counts = self.splits.shape == self.leaves.shape == (trees,) and self.value.ndim == 1
        if not same or not counts or (self.splits < 0).any():
            raise ValueError("the arrays of the trees do not fit together")
        if self.splits.sum(dtype=np.int64) != n or (self.leaves != self.splits + 1).any():
            raise ValueError("the trees do not add up to their splits")
        if self.leaves.sum(dtype=np.int64) != len(self.value) or not np.isfinite(self.value).all():
            raise ValueError("the trees do not add up to their leaves")
        if self.n_outputs < 1 or trees % self.n_outputs:
            raise ValueError("the trees do not belong to the outputs")
        if n and not (self.feature.min() >= 0 and self.feature.max() < self.n_inputs):
            raise ValueError("the trees ask for inputs that do not exist")
        if not np.isfinite(self.threshold).all():
            raise ValueError("a threshold is not a number")
        # Every split but the root, and every leaf, is the child of one earlier split.
        tree = np.repeat(np.arange(trees), self.splits)
        place = np.arange(n) - np.repeat(np.cumsum(self.splits) - self.splits, self.splits)
        child = np.concatenate([self.left, self.right]).astype(np.int64)
        parent, of = np.concatenate([place, place]), np.concatenate([tree, tree])
        inner = child >= 0
        if (child[inner] <= parent[inner]).any() or (child[inner] >= self.splits[of[inner]]).any():
            raise ValueError("the splits of a tree are not in order")
        if (~child[~inner] >= self.leaves[of[~inner]]).any():
            raise ValueError("a split leads to a leaf that does not exist")
        first_split = np.cumsum(self.splits) - self.splits
        first_leaf = np.cumsum(self.leaves) - self.leaves
        reached = first_split[of[inner]] + child[inner], first_leaf[of[~inner]] + ~child[~inner]
        stumps = trees - np.count_nonzero(self.splits)  # their only leaf is the root
        if any(len(np.unique(at)) != len(at) for at in reached) or (
            len(reached[0]) + np.count_nonzero(self.splits) != n
            or len(reached[1]) + stumps != len(self.value)
        ):
            raise ValueError("the splits of a tree do not form a tree")

    # ---- from and to LightGBM
    @classmethod
    def of_booster(cls, booster: lightgbm.Booster, iterations: int = -1) -> TreeEnsemble:
        """The trees of the first iterations, or of all; those of a forest add up to their mean.

        A column without gaps in training has no side for them: they go where most rows went.
        """
        head, *parts = booster.model_to_string(num_iteration=iterations).split("\nTree=")
        outputs = booster.num_model_per_iteration()
        ensemble = cls.of_arrays(_read_trees(parts), booster.num_feature(), outputs)
        is_forest = "average_output" in head.splitlines()
        return ensemble.scaled(outputs / len(parts)) if is_forest else ensemble

    @classmethod
    def sum_of(cls, parts: Sequence[TreeEnsemble]) -> TreeEnsemble:
        """One ensemble that adds up to these."""
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in DTYPES}
        return cls(**joined, n_inputs=parts[0].n_inputs, n_outputs=parts[0].n_outputs)

    @classmethod
    def side_by_side(cls, parts: Sequence[TreeEnsemble]) -> TreeEnsemble:
        """One ensemble with an output for each of these, which have one output and T trees each."""
        trees, count = len(parts[0].splits), len(parts)
        if count == 1:
            return parts[0]
        joined = cls.sum_of(parts)
        order = np.arange(trees * count).reshape(count, trees).T.ravel()  # by tree, then by output
        moved = {}
        for name in DTYPES:
            array = getattr(joined, name)
            if name in PER_TREE:
                moved[name] = array[order]
            else:
                counts = joined.splits if name in PER_SPLIT else joined.leaves
                blocks = np.split(array, np.cumsum(counts)[:-1])
                moved[name] = np.concatenate([blocks[tree] for tree in order])
        return cls(**moved, n_inputs=joined.n_inputs, n_outputs=count)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, for a model file."""
        return {name: getattr(self, name) for name in DTYPES}

    def scaled(self, weight: float) -> TreeEnsemble:
        """The same trees, with what their leaves add multiplied."""
        return replace(self, value=self.value * weight)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Sums of the trees' leaves; (n, n_inputs) with NaN for gaps -> (n, n_outputs) float64."""
        if not len(self.splits):
            return np.zeros((len(inputs), self.n_outputs))
        threads = 1 if len(inputs) <= SMALL else 0  # 0: all cores
        raw = self._booster.predict(inputs, raw_score=True, num_threads=threads)
        return np.asarray(raw).reshape(len(inputs), self.n_outputs)

    def predict_once(self, inputs: np.ndarray) -> np.ndarray:
        """As `predict`, for trees that predict a single time.

        For a few rows, LightGBM takes longer to read trees than all rows take to go down them, one
        level of all trees after the other.
        """
        n, trees = len(inputs), len(self.splits)
        if not trees or n * trees > MOST_PATHS:
            return self.predict(inputs)
        first = np.cumsum(self.splits) - self.splits
        values = np.where(np.abs(inputs) <= NEARLY_ZERO, 0.0, inputs).ravel()  # NaN stays NaN
        child = np.where(self.splits > 0, 0, ~0).astype(np.int32)[:, None].repeat(n, 1).ravel()
        tree, row = np.repeat(np.arange(trees), n), np.tile(np.arange(n), trees)
        paths = np.flatnonzero(child >= 0)
        while len(paths):
            split = first[tree[paths]] + child[paths]
            value = values[row[paths] * self.n_inputs + self.feature[split]]
            left = np.where(
                np.isnan(value), self.missing_left[split], value <= self.threshold[split]
            )
            child[paths] = np.where(left, self.left[split], self.right[split])
            paths = paths[child[paths] >= 0]
        leaf = (np.cumsum(self.leaves) - self.leaves)[tree] + ~child
        return self.value[leaf].reshape(-1, self.n_outputs, n).sum(0).T

    @cached_property
    def _booster(self) -> lightgbm.Booster:
        """The same trees in LightGBM, from text that holds nothing but these arrays."""
        ends = [np.cumsum(self.splits), np.cumsum(self.leaves)]
        kind = self.missing_left * MISSING_LEFT + NAN_IS_MISSING
        trees = []
        for number, (split_end, leaf_end) in enumerate(zip(*ends, strict=True)):
            at = slice(split_end - self.splits[number], split_end)
            leaf_at = slice(leaf_end - self.leaves[number], leaf_end)
            arrays = {
                "split_feature": self.feature[at],
                "threshold": self.threshold[at],
                "decision_type": kind[at],
                "left_child": self.left[at],
                "right_child": self.right[at],
                "leaf_value": self.value[leaf_at],
            }
            lines = [f"{key}={' '.join(map(repr, a.tolist()))}" for key, a in arrays.items()]
            head = [f"Tree={number}", f"num_leaves={self.leaves[number]}", "num_cat=0"]
            trees.append("\n".join([*head, *lines, "shrinkage=1", "", ""]))
        objective = f"multiclass num_class:{self.n_outputs}" if self.n_outputs > 1 else "regression"
        header = [
            "tree",
            "version=v4",
            f"num_class={self.n_outputs}",
            f"num_tree_per_iteration={self.n_outputs}",
            "label_index=0",
            f"max_feature_idx={self.n_inputs - 1}",
            f"objective={objective}",
            f"feature_names={' '.join(f'x{j}' for j in range(self.n_inputs))}",
            f"feature_infos={' '.join(['[-1:1]'] * self.n_inputs)}",
            f"tree_sizes={' '.join(str(len(tree)) for tree in trees)}",
            "",
            "",
        ]
        return lightgbm.Booster(model_str="\n".join(header) + "".join(trees) + "end of trees\n")

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


DTYPES: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.bool_,
    "left": np.int32,
    "right": np.int32,
    "value": np.float64,
    "splits": np.int32,
    "leaves": np.int32,
}
PER_TREE = ("splits", "leaves")
PER_SPLIT = ("feature", "threshold", "missing_left", "left", "right")


def split_gains(booster: lightgbm.Booster) -> tuple[np.ndarray, np.ndarray]:
    """The input and the gain of every split of all trees; (splits,) each."""
    text = booster.model_to_string()
    inputs, gains = (
        _numbers(re.findall(rf"^{name}=(.*)$", text, re.MULTILINE), dtype)
        for name, dtype in (("split_feature", np.int64), ("split_gain", np.float64))
    )
    return inputs, gains


def _numbers(lines: Sequence[str], dtype: Any) -> np.ndarray:
    """The numbers of these lines, one after the other."""
    return np.fromstring(" ".join(lines), dtype, sep=" ")


def _read_trees(parts: Sequence[str]) -> dict[str, np.ndarray]:
    """Trees in LightGBM's text format, one after the other; only splits by threshold."""
    every = [dict(li.split("=", 1) for li in part.splitlines() if "=" in li) for part in parts]
    grown = [tree for tree in every if tree["num_leaves"] != "1"]

    def numbers(key: str, dtype: Any, trees: Sequence[dict[str, str]] = grown) -> np.ndarray:
        return _numbers([tree[key] for tree in trees], dtype)

    leaves, n_leaves = numbers("num_leaves", np.int64, every), numbers("num_leaves", np.int64)
    kind, rows = numbers("decision_type", np.int64), numbers("internal_count", np.int64)
    in_leaf, tree = (
        numbers("leaf_count", np.int64),
        np.repeat(np.arange(len(n_leaves)), n_leaves - 1),
    )
    first_leaf = np.cumsum(n_leaves) - n_leaves
    first_split = first_leaf - np.arange(len(n_leaves))
    left, right = numbers("left_child", np.int32), numbers("right_child", np.int32)

    def rows_in(child: np.ndarray) -> np.ndarray:
        inner, leaf = first_split[tree] + child, first_leaf[tree] + ~child
        return np.where(child >= 0, rows.take(inner, mode="clip"), in_leaf.take(leaf, mode="clip"))

    known, most = (kind & NAN_IS_MISSING) > 0, left.astype(bool)
    if len(left):
        most = rows_in(left) >= rows_in(right)
    return {
        "feature": numbers("split_feature", np.int32),
        "threshold": numbers("threshold", np.float64).clip(-LARGEST, LARGEST),
        "missing_left": np.where(known, (kind & MISSING_LEFT) > 0, most),
        "left": left,
        "right": right,
        "value": numbers("leaf_value", np.float64, every),
        "splits": leaves - 1,
        "leaves": leaves,
    }
