"""Folds: nothing is scored that was learned from, classes keep their shares, groups stay whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow import _split as split
from imputefree.workflow._problem import Problem
from imputefree.workflow._split import make_folds


def problem(y, groups=None):
    y = np.asarray(y)
    return Problem(
        "d.csv",
        pd.DataFrame({"a": np.arange(len(y))}),
        np.arange(len(y)),
        y,
        "y",
        [],
        groups,
        None if groups is None else "ward",
    )


@pytest.mark.parametrize("share", [None, 0.3])
def test_nothing_is_on_both_sides(share):
    of = problem([0] * 60 + [1] * 30)
    folds, _ = make_folds(of, None, share, seed=1)
    for fold in folds:
        assert not np.intersect1d(fold.train, fold.test).size
        assert np.union1d(fold.train, fold.test).tolist() == list(range(90))
        assert abs(of.y[fold.test].mean() - 1 / 3) < 0.05


def test_every_row_is_scored_once():
    folds, how = make_folds(problem(np.arange(53.0)), None, None, seed=0)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(53))
    assert how == "5-fold cross-validation"


def test_the_only_one_of_a_class_is_learned_from():
    folds, _ = make_folds(problem([0] * 10 + [1] * 10 + [2]), 5, None, seed=0)
    assert all(20 in fold.train for fold in folds)


@pytest.mark.parametrize("share", [None, 0.25])
def test_groups_stay_whole(share):
    groups = np.array([f"g{i // 4}" for i in range(80)])
    of = problem(np.arange(80) % 2, groups)
    folds, how = make_folds(of, None, share, seed=0)
    assert "'ward' kept together" in how
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])


def test_many_rows_are_held_out_once(monkeypatch):
    monkeypatch.setattr(split, "MANY", 50)
    folds, how = make_folds(problem([0, 1] * 40), None, None, seed=0)
    assert (len(folds), len(folds[0].test)) == (1, 16)
    assert how == "16 rows held out (20 %)"
    assert len(make_folds(problem([0, 1] * 40), 3, None, seed=0)[0]) == 3


def test_a_seed_decides():
    of = problem([0, 1] * 40)
    one, same, other = (make_folds(of, 4, None, seed=s)[0][0].test for s in (1, 1, 2))
    assert one.tolist() == same.tolist() != other.tolist()


def test_impossible_splits_are_refused():
    with pytest.raises(ValueError, match="30 folds, and 20"):
        make_folds(problem([0, 1] * 10), 30, None, seed=0)
    with pytest.raises(ValueError, match="5 folds, and 2 groups"):
        make_folds(problem([0, 1] * 10, np.array(["a", "b"] * 10)), None, None, seed=0)
    grouped = problem([0] * 10 + [1] * 10, np.repeat(["a", "b"], 10))
    with pytest.raises(ValueError, match="no two different targets"):
        make_folds(grouped, 2, None, seed=0)
