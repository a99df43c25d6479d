"""Boosted trees on folds: when they stop, and what is left if time is up."""

from __future__ import annotations

from dataclasses import replace

import lightgbm
import numpy as np
import pytest

from imputefree.data import Examples, RowStore, TableEncoder, draw_folds, read_columns
from imputefree.families import FamilyTask, Growth, TreeFamily
from imputefree.families import _binned_rows as binned_rows
from imputefree.families import _family as family_module
from imputefree.families import _tree_family as tree_family
from imputefree.families._tree_family import usual_growths

GROWTH = Growth(learning_rate=0.3, early_stopping_round=5)


def made(n=150, deadline=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)
    X[rng.random(X.shape) < 0.2] = np.nan
    folds = draw_folds(4, np.random.default_rng(0), y)
    return X, y, FamilyTask(Examples.read(read_columns(X), y, None), y, 2, folds, 3, deadline)


def losses(X, y, fold, number, trees=60):
    """Loss on the held-out rows of a fold after each tree, by LightGBM alone."""
    options = {
        "objective": "binary",
        "learning_rate": 0.3,
        "num_leaves": 16,
        "min_data_in_leaf": 10,
        "lambda_l2": 1.0,
        "feature_fraction_bynode": 0.5,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "seed": 3 + number,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "feature_pre_filter": False,
        "verbosity": -1,
    }
    whole, kept = lightgbm.Dataset(X, y, params=options).construct(), {}
    train, held_out = (whole.subset(np.sort(rows).tolist()) for rows in fold)
    keep = lightgbm.record_evaluation(kept)
    lightgbm.train(options, train, trees, [held_out], callbacks=[keep])
    return np.array(kept["valid_0"]["binary_logloss"])


def stop(curve, patience=5):
    """How many trees are kept: the least loss before `patience` trees without a lower one."""
    for count in range(1, len(curve) + 1):
        if count - 1 - curve[:count].argmin() >= patience:
            return int(curve[:count].argmin()) + 1
    raise AssertionError("the loss never stops falling")


def test_folds_of_a_small_table_stop_at_the_least_mean_loss():
    X, y, task = made()
    family = TreeFamily(growths=[GROWTH])
    family.fit(task)
    curves = np.array([losses(X, y, fold, k) for k, fold in enumerate(task.folds)])
    assert len(family.trees.splits) == 4 * stop(curves.mean(0))


def test_folds_of_a_large_table_stop_one_by_one(monkeypatch):
    X, y, task = made()
    monkeypatch.setattr("imputefree.families._tree_family.MANY_ROWS", 100)
    seeds = [number * len(task.folds) for number in range(4)]
    counts = [stop(losses(X, y, fold, s)) for s, fold in zip(seeds, task.folds, strict=True)]
    assert len(set(counts)) > 1
    family = TreeFamily(growths=[GROWTH])
    family.fit(task)
    assert len(family.trees.splits) == sum(counts)


def test_out_of_fold_predictions_do_not_see_their_rows():
    """Classes at random: held-out rows cannot be told, whereas rows of training can."""
    X, y, task = made(400)
    y = np.random.default_rng(1).integers(0, 2, 400)
    task = FamilyTask(Examples.read(read_columns(X), y, None), y, 2, task.folds, 3)
    family = TreeFamily(growths=[Growth(0.3, early_stopping_round=1000)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imputefree.families._tree_family.MAX_TREES", 40)
        held_out = family.fit(task)
    agrees = (held_out.argmax(1) == y).mean()
    assert 0.4 < agrees < 0.62
    assert (family.predict(read_columns(X)).argmax(1) == y).mean() > agrees


def test_time_that_is_up_leaves_one_tree_per_fold_of_the_first_growth():
    X, _, task = made(deadline=0.0)
    family = TreeFamily()
    family.fit(task)
    assert len(family.trees.splits) == len(task.folds)
    assert np.isfinite(family.predict(read_columns(X))).all()


@pytest.mark.parametrize(("rows", "huge"), [(99, False), (100, True)])
def test_bins_of_all_rows_are_kept_unless_the_table_is_huge(monkeypatch, rows, huge):
    monkeypatch.setattr(binned_rows, "HUGE_ROWS", 100)
    X, y, _ = made(rows)
    encoder = TableEncoder("auto", False, "plain").fit(read_columns(X))
    for inputs, again in ((RowStore.of(read_columns(X)), huge), (read_columns(X), False)):
        binned = binned_rows.BinnedRows(binned_rows.TreeInputs(encoder, inputs), y, None, 0)
        assert (binned.every is None) == again


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_do_not_depend_on_how_rows_are_kept(monkeypatch, weighted):
    """Bins of a huge table are made for each set of rows, and read by column."""
    X, y, task = made(600)
    weight = np.linspace(0.5, 2.0, 600) if weighted else None
    store = RowStore.of(read_columns(X))
    task = replace(task, examples=Examples.read(store, y, weight))

    def predictions():
        return TreeFamily(growths=[GROWTH]).fit(task)

    usual = predictions()
    monkeypatch.setattr(binned_rows, "HUGE_ROWS", 100)
    np.testing.assert_allclose(predictions(), usual, rtol=1e-9)


@pytest.mark.parametrize(
    ("rows", "rate", "leaves"),
    [
        *((9_999, 0.1, 16), (10_000, 0.05, 16), (49_999, 0.05, 16)),
        *((50_000, 0.05, 32), (149_999, 0.05, 32), (150_000, 0.05, 64)),
    ],
)
def test_trees_of_larger_tables_are_larger(rows, rate, leaves):
    best, random = usual_growths(rows)
    assert (best.learning_rate, best.num_leaves, best.extra_trees) == (rate, leaves, False)
    assert best.min_data_in_leaf == (10 if leaves == 16 else 20)
    assert random == replace(best, extra_trees=True)


class Clock:
    """A clock that stands still, except while trees grow."""

    def __init__(self, monkeypatch, *modules):
        self.now = 100.0
        for module in modules:
            monkeypatch.setattr(module, "time", self)

    def monotonic(self):
        return self.now


@pytest.mark.parametrize(("seconds", "folds"), [(31.0, 4), (30.0, 4), (29.0, 3), (10.0, 1)])
def test_no_fold_is_begun_that_would_not_be_done_in_time(seconds, folds, monkeypatch):
    """They take 10, 5, 5 and 5 seconds; each is begun if as much is left as the longest took."""
    clock = Clock(monkeypatch, family_module, tree_family)
    monkeypatch.setattr(tree_family, "MANY_ROWS", 100)
    takes = iter([10.0, 5.0, 5.0, 5.0])
    grow = TreeFamily._grow

    def slowly(self, task, *how):
        clock.now += next(takes)
        return grow(self, replace(task, deadline=None), *how)

    monkeypatch.setattr(TreeFamily, "_grow", slowly)
    _, _, task = made(deadline=clock.now + seconds)
    held_out = TreeFamily(growths=[Growth(0.3, max_trees=2)]).fit(task)
    rows = np.concatenate([rows for _, rows in task.folds[:folds]])
    assert np.flatnonzero(~np.isnan(held_out[:, 0])).tolist() == sorted(rows.tolist())


def test_a_task_knows_how_late_it_is(monkeypatch):
    clock = Clock(monkeypatch, family_module)
    _, _, task = made()
    assert (task.seconds_left(), task.is_late()) == (np.inf, False)
    assert task.with_share(0.5) is task
    task = replace(task, deadline=110.0)
    assert task.with_share(0.5).deadline == 105.0
    for now, left, late in ((100.0, 10.0, False), (109.0, 1.0, False), (110.0, 0.0, True)):
        clock.now = now
        assert (task.seconds_left(), task.is_late()) == (left, late)


@pytest.mark.parametrize(("rows", "jobs"), [(149, 1), (150, 4)])
def test_folds_of_many_rows_grow_one_by_one(rows, jobs, monkeypatch):
    monkeypatch.setattr(tree_family, "MANY_ROWS", 150)
    _, _, task = made(rows)
    assert len(TreeFamily(growths=[GROWTH])._jobs(task)) == jobs
    assert len(TreeFamily(growths=[GROWTH, GROWTH], n_folds=3)._jobs(task)) == 2 * min(jobs, 3)


@pytest.mark.parametrize(("constant", "rounds"), [([0], 6), ([0, 1], 0)])
def test_folds_go_on_until_none_of_them_grows(constant, rounds, monkeypatch):
    """A fold whose classes are all the same has no split to find, and is done at once."""
    _, y, task = made()
    pairs = [(np.arange(50 * k, 50 * k + 40), np.arange(50 * k + 40, 50 * k + 50)) for k in (0, 1)]
    y = y.copy()
    for number in constant:
        y[pairs[number][0]] = 0
    looks = []
    monkeypatch.setattr(FamilyTask, "seconds_left", lambda self: looks.append(self) or 1.0)
    growth = Growth(0.3, early_stopping_round=1000, max_trees=6, min_data_in_leaf=3)
    TreeFamily(growths=[growth]).fit(replace(task, target=y, folds=pairs))
    assert len(looks) == rounds  # after each round but one that ends it


def test_copies_of_rows_stay_in_the_fold_of_their_row():
    _, y, task = made()
    copied = task.copied(task.examples.inputs.rows(np.tile(np.arange(150), 3)))
    assert copied.copies == 3
    assert copied.target.tolist() == [*y, *y, *y]
    for (train, held_out), (rows, others) in zip(task.folds, copied.folds, strict=True):
        assert sorted(rows) == sorted(row + 150 * k for row in train for k in range(3))
        assert sorted(others) == sorted(row + 150 * k for row in held_out for k in range(3))
    assert copied.training_inputs().n_rows == 150


def test_trees_grow_in_silence(capfd):
    """LightGBM's own way to speak is its standard output."""
    _, _, task = made()
    TreeFamily(growths=[Growth(0.3, max_trees=2)]).fit(task)
    assert capfd.readouterr() == ("", "")
