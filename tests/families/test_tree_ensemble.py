"""Trees as arrays: the same predictions as LightGBM and as a walk by hand; damaged arrays."""

from __future__ import annotations

import pickle

import lightgbm
import numpy as np
import pytest

from imputefree.families import TreeEnsemble, _tree_ensemble

SIDES = ("left_child", "right_child")


def table(n, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.25] = np.nan
    X[:, -1] = rng.normal(size=n)  # no gaps
    return X, rng


@pytest.fixture(scope="module", params=[0, 2, 3], ids=["numbers", "two classes", "three classes"])
def grown(request):
    """A booster and the same trees as arrays."""
    X, rng = table(400)
    signal = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1], nan=1.0) + 0.1 * rng.normal(size=400)
    n_classes = request.param
    y = signal if not n_classes else np.digitize(signal, np.linspace(-0.2, 0.2, n_classes - 1))
    options = {"verbosity": -1, "num_threads": 1, "num_leaves": 7, "learning_rate": 0.3}
    options["objective"] = {0: "regression", 2: "binary"}.get(n_classes, "multiclass")
    options["num_class"] = n_classes if n_classes > 2 else 1
    booster = lightgbm.train(options, lightgbm.Dataset(X, y), 12)
    return booster, TreeEnsemble.of_booster(booster)


def walk(trees, row):
    """What the trees add up to for one row, node by node."""
    out = np.zeros(trees.n_outputs)
    split_at = leaf_at = 0
    for number, (splits, leaves) in enumerate(zip(trees.splits, trees.leaves, strict=True)):
        node = 0 if splits else ~0
        while node >= 0:
            at = split_at + node
            value = row[trees.feature[at]]
            left = trees.missing_left[at] if np.isnan(value) else value <= trees.threshold[at]
            node = int(trees.left[at] if left else trees.right[at])
        out[number % trees.n_outputs] += trees.value[leaf_at + ~node]
        split_at, leaf_at = split_at + splits, leaf_at + leaves
    return out


def test_predictions_are_those_of_lightgbm_and_of_a_walk(grown):
    booster, trees = grown
    X, _ = table(200, seed=1)
    expected = booster.predict(X, raw_score=True).reshape(trees.predict(X).shape)
    np.testing.assert_array_equal(trees.predict(X), expected)
    np.testing.assert_allclose(trees.predict(X[:40]), [walk(trees, x) for x in X[:40]], rtol=1e-12)


def test_levels_of_all_trees_at_once_predict_the_same(grown, monkeypatch):
    _, trees = grown
    X, _ = table(60, seed=4)
    X[:5] = np.nan
    X[5:9] = 1e-36  # LightGBM reads it as 0
    for split in range(20):  # a value at the threshold goes left
        X[20 + split, trees.feature[split]] = trees.threshold[split]
    bare = np.zeros(1)
    stump = TreeEnsemble.of_arrays(
        {name: [] for name in trees.arrays()} | {"value": bare, "splits": [0], "leaves": [1]}, 2, 1
    )
    assert stump.predict_once(np.ones((2, 2))).tolist() == [[0.0], [0.0]]
    np.testing.assert_allclose(trees.predict_once(X), trees.predict(X), rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(_tree_ensemble, "MOST_PATHS", 10)
    np.testing.assert_array_equal(trees.predict_once(X), trees.predict(X))


def test_a_gap_that_training_never_saw_goes_with_most_rows(grown):
    _, trees = grown
    X, _ = table(30, seed=2)
    X[:, -1] = np.nan
    np.testing.assert_allclose(trees.predict(X), [walk(trees, x) for x in X], rtol=1e-12)


def test_most_rows_are_those_of_lightgbm_itself(grown):
    """The column without gaps: LightGBM's own counts say on which side most rows are."""
    booster, trees = grown
    table = booster.trees_to_dataframe().set_index("node_index")
    splits = table[table["left_child"].notna()]
    inner = splits["missing_type"].eq("None").to_numpy()
    left, right = (table["count"].loc[splits[side]].to_numpy() for side in SIDES)
    # trees and depths first there, here the order of a tree's splits
    number = splits.index.str.extract(r"S(\d+)")[0].astype(int).to_numpy()
    order = np.lexsort([number, splits["tree_index"]])
    assert inner.any()
    np.testing.assert_array_equal(
        trees.missing_left[inner[order]], (left >= right)[order][inner[order]]
    )


def test_trees_without_splits_stand_among_others(grown):
    _, trees = grown
    bare = {name: [] for name in trees.arrays()} | {"splits": [0], "leaves": [1]}
    bare = TreeEnsemble.of_arrays(bare | {"value": [0.25]}, trees.n_inputs, 1)
    alone = TreeEnsemble.of_arrays(trees.arrays(), trees.n_inputs, 1)
    mixed = TreeEnsemble.sum_of([bare, alone, bare])
    mixed = TreeEnsemble.of_arrays(mixed.arrays(), trees.n_inputs, 1)
    X, _ = table(30, seed=5)
    expected = np.array([walk(alone, x) for x in X]) + 0.5
    np.testing.assert_allclose(mixed.predict(X), expected, rtol=1e-12)
    np.testing.assert_allclose(mixed.predict_once(X), expected, rtol=1e-12)
    empty = TreeEnsemble.of_arrays({name: [] for name in trees.arrays()}, 5, 3)
    assert empty.predict(X).tolist() == empty.predict_once(X).tolist() == [[0.0] * 3] * 30


def test_outputs_side_by_side_are_those_of_their_parts(grown):
    _, trees = grown
    one = TreeEnsemble.of_arrays(trees.arrays(), trees.n_inputs, 1)
    parts = [one, one.scaled(2.0), one.scaled(-0.5)]
    X, _ = table(20, seed=6)
    expected = np.hstack([part.predict(X) for part in parts])
    np.testing.assert_allclose(TreeEnsemble.side_by_side(parts).predict(X), expected, rtol=1e-12)


def test_sums_scales_and_pickles_predict_as_expected(grown):
    _, trees = grown
    X, _ = table(50, seed=3)
    double = TreeEnsemble.sum_of([trees, trees.scaled(0.5)])
    np.testing.assert_allclose(double.predict(X), 1.5 * trees.predict(X), rtol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(trees)).predict(X), trees.predict(X))


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("feature", 0, 99),
        ("feature", 0, -1),
        ("threshold", 0, np.nan),
        ("threshold", 0, np.inf),
        ("value", 0, np.inf),
        ("left", 0, 0),  # a loop
        ("left", 0, 10**6),
        ("right", 0, -(10**6)),
        ("splits", 0, 10**6),
        ("splits", 0, -1),
        ("leaves", 0, 1),
    ],
)
def test_damaged_arrays_are_refused(grown, name, at, value):
    _, trees = grown
    arrays = {key: array.copy() for key, array in trees.arrays().items()}
    arrays[name][at] = value
    with pytest.raises(ValueError, match=r"tree|split|leaf|leaves|threshold|inputs"):
        TreeEnsemble.of_arrays(arrays, trees.n_inputs, trees.n_outputs)


def test_two_parents_of_one_leaf_are_refused(grown):
    _, trees = grown
    arrays = {key: array.copy() for key, array in trees.arrays().items()}
    leaf = np.flatnonzero(arrays["left"] < 0)[0]
    arrays["right"][leaf] = arrays["left"][leaf]
    with pytest.raises(ValueError, match="do not form a tree"):
        TreeEnsemble.of_arrays(arrays, trees.n_inputs, trees.n_outputs)


def test_children_beyond_the_last_of_a_tree_are_refused(grown):
    """One too far is the root, or the first leaf, of the next tree."""
    _, trees = grown
    arrays = {key: array.copy() for key, array in trees.arrays().items()}
    split = np.flatnonzero(arrays["left"][: arrays["splits"][0]] > 0)[0]
    arrays["left"][split] = arrays["splits"][0]
    with pytest.raises(ValueError, match="not in order"):
        TreeEnsemble.of_arrays(arrays, trees.n_inputs, trees.n_outputs)
    arrays = {key: array.copy() for key, array in trees.arrays().items()}
    split = np.flatnonzero(arrays["left"] < 0)[-1]
    arrays["left"][split] = ~arrays["leaves"][-1]
    with pytest.raises(ValueError, match="does not exist"):
        TreeEnsemble.of_arrays(arrays, trees.n_inputs, trees.n_outputs)


def test_missing_or_cut_arrays_are_refused(grown):
    _, trees = grown
    arrays = trees.arrays()
    with pytest.raises(ValueError, match="fit together"):
        cut = arrays | {"left": arrays["left"][:-1]}
        TreeEnsemble.of_arrays(cut, trees.n_inputs, trees.n_outputs)
    with pytest.raises(ValueError, match="outputs"):
        TreeEnsemble.of_arrays(arrays, trees.n_inputs, 7)
    with pytest.raises(ValueError, match="outputs"):
        TreeEnsemble.of_arrays(arrays, trees.n_inputs, 0)
    with pytest.raises(ValueError, match="leaves"):
        TreeEnsemble.of_arrays(arrays | {"value": arrays["value"][:-1]}, trees.n_inputs, 1)
    with pytest.raises(ValueError, match="fit together"):
        TreeEnsemble.of_arrays(arrays | {"value": arrays["value"][:, None]}, trees.n_inputs, 1)


def test_the_input_after_the_last_one_is_refused(grown):
    _, trees = grown
    arrays = trees.arrays()
    last = int(arrays["feature"].max())
    TreeEnsemble.of_arrays(arrays, last + 1, trees.n_outputs)
    with pytest.raises(ValueError, match="inputs that do not exist"):
        TreeEnsemble.of_arrays(arrays, last, trees.n_outputs)


def test_numbers_next_to_zero_go_where_lightgbm_sends_them():
    """Up to a size, a number counts as 0; a threshold between 0 and it shows up to which."""
    tiny = _tree_ensemble.NEARLY_ZERO
    values = [0.0, tiny / 2, tiny, np.nextafter(tiny, 1.0), 2 * tiny, np.nan]
    X = np.array([sign * value for value in values for sign in (1, -1)])[:, None]
    for threshold in (tiny / 4, -tiny / 4, 1.5 * tiny, -1.5 * tiny):
        split = {"feature": [0], "threshold": [threshold], "missing_left": [True], "left": [~0]}
        split |= {"right": [~1], "value": [-1.0, 1.0], "splits": [1], "leaves": [2]}
        stump = TreeEnsemble.of_arrays(split, 1, 1)
        np.testing.assert_array_equal(stump.predict_once(X), stump.predict(X))


@pytest.mark.parametrize(("ones", "left"), [(19, True), (20, True), (21, False)])
def test_of_two_sides_with_as_many_rows_a_gap_takes_the_left_one(ones, left):
    X = np.r_[np.zeros(40 - ones), np.ones(ones)][:, None]
    options = {"verbosity": -1, "num_threads": 1, "num_leaves": 2, "min_data_in_leaf": 1}
    trees = TreeEnsemble.of_booster(lightgbm.train(options, lightgbm.Dataset(X, X[:, 0]), 1))
    assert trees.missing_left.tolist() == [left]
