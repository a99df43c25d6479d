"""Forests: means of leaves as LightGBM has them, shares that add up, trees without a split."""

from __future__ import annotations

from dataclasses import replace

import lightgbm
import numpy as np
import pytest

from imputefree.data import Examples, draw_folds, read_columns
from imputefree.families import FamilyTask, ForestFamily, TreeEnsemble


def task_of(X, y, n_classes, weight=None, deadline=None):
    examples = Examples.read(read_columns(X), y, weight)
    rng = np.random.default_rng(0)
    folds = draw_folds(4, rng, y if n_classes else np.zeros(len(y), int))
    return FamilyTask(examples, y, n_classes, folds, seed=1, deadline=deadline)


def rows(n=160, n_classes=0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = X[:, 0] + X[:, 1]
    X[rng.random(X.shape) < 0.2] = np.nan
    edges = np.linspace(-1, 1, n_classes - 1) if n_classes > 2 else [0.0]
    return X, np.digitize(signal, edges) if n_classes else signal.astype(np.float32)


def forest_of(X, label, **options):
    how = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7, "num_leaves": 9}
    quiet = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3}
    return lightgbm.train(how | quiet | options, lightgbm.Dataset(X, label), 7)


def test_a_forest_of_lightgbm_adds_up_to_its_mean():
    X, y = rows()
    booster = forest_of(X, y)
    np.testing.assert_allclose(
        TreeEnsemble.of_booster(booster).predict(X)[:, 0], booster.predict(X)
    )
    first = TreeEnsemble.of_booster(booster, 3).predict(X)[:, 0]
    np.testing.assert_allclose(first, booster.predict(X, num_iteration=3))
    assert not np.allclose(first, booster.predict(X))


def test_ensembles_side_by_side_keep_their_outputs():
    X, y = rows()
    parts = [
        TreeEnsemble.of_booster(forest_of(X, y > at, seed=seed))
        for seed, at in enumerate((-1, 0, 1))
    ]
    joined = TreeEnsemble.side_by_side(parts)
    joined.check()
    expected = np.column_stack([part.predict(X)[:, 0] for part in parts])
    np.testing.assert_allclose(joined.predict(X), expected, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_it_learns_and_says_so_of_rows_it_did_not_see(n_classes):
    X, y = rows(n_classes=n_classes)
    family = ForestFamily()
    out_of_fold = family.fit(task_of(X, y, n_classes))
    new, truth = rows(n_classes=n_classes, seed=1)
    predicted = family.predict(read_columns(new))
    for prediction, target in ((out_of_fold, y), (predicted, truth)):
        if n_classes:
            np.testing.assert_allclose(prediction.sum(1), 1)
            assert (prediction > 0).all()
            assert (prediction.argmax(1) == target).mean() > np.bincount(target).max() / len(
                target
            ) + 0.1
        else:
            assert np.corrcoef(prediction[:, 0], target)[0, 1] > 0.7


def test_every_class_is_told_from_the_others_by_trees_of_its_own(monkeypatch):
    monkeypatch.setattr(ForestFamily, "n_trees", ForestFamily.n_trees_per_class)
    X, y = rows(n_classes=4)
    task, family = task_of(X, y, 4), ForestFamily()
    family.fit(task)
    raw = family.trees.predict(X)
    for code in range(4):
        alone = ForestFamily()
        alone.fit(replace(task, target=(y == code).astype(int), n_classes=2))
        np.testing.assert_allclose(raw[:, code], alone.trees.predict(X)[:, 0], rtol=1e-12)


def test_trees_without_a_split_predict_the_weighted_mean():
    y = np.array([0, 0, 0, 1] * 10)
    weight = np.where(y, 3.0, 1.0)
    family = ForestFamily()
    task = task_of(np.ones((40, 1)), y, 2, weight)
    family.fit(task)
    assert not family.trees.splits.any()
    trained = [np.average(y[train], weights=weight[train]) for train, _ in task.folds]
    np.testing.assert_allclose(
        family.predict(read_columns([[1.0]]))[0, 1], np.mean(trained), rtol=1e-6
    )


def test_a_class_that_a_fold_lacks_has_almost_no_probability():
    X, y = rows(60, 3)
    y[y == 2] = 1
    y[0] = 2  # its only row
    task = replace(task_of(X, y, 3), folds=[(np.arange(20, 60), np.arange(20))])
    out_of_fold = ForestFamily().fit(task)[:20]
    assert out_of_fold[0, 2] < 1e-6
    np.testing.assert_allclose(out_of_fold.sum(1), 1)


def test_time_that_is_up_leaves_a_smaller_forest():
    X, y = rows(n_classes=4)
    family = ForestFamily()
    family.fit(task_of(X, y, 4, deadline=0.0))
    assert len(family.trees.splits) == 4  # one tree per class, of one fold
    np.testing.assert_allclose(family.predict(read_columns(X)).sum(1), 1)


def test_files_keep_it_bit_for_bit():
    X, y = rows(n_classes=4)
    family, arrays = ForestFamily(), {}
    family.fit(task_of(X, y, 4))
    parts = family.parts(arrays)
    again = ForestFamily()
    again.restore(parts, arrays)
    np.testing.assert_array_equal(again.predict(read_columns(X)), family.predict(read_columns(X)))
    with pytest.raises(ValueError, match="fit together"):
        ForestFamily().restore(parts | {"n_classes": 3}, arrays)


def test_a_forest_grows_as_long_as_there_is_time(monkeypatch):
    X, y = rows()
    left = iter([5.0, 0.5, 1e-9, 0.0])  # after each tree
    monkeypatch.setattr(FamilyTask, "seconds_left", lambda self: next(left))
    family, task = ForestFamily(), task_of(X, y, 0, deadline=1.0)
    family.fit(replace(task, folds=task.folds[:1]))
    assert len(family.trees.splits) == 4
